/** Peer and Holdfast under the same load in turns; the ratio is a median. */
import { waitForRest } from './cpu-time.ts';
import type { Fixture } from './fixture.ts';
import type { LoadRequest, LoadResult } from './load.ts';
import type { Comparison, Figure, Outcome } from './row.ts';
import { median, playInTurns } from './turns.ts';

export interface Duel {
  peer: Side;
  holdfast: Side;
  /** The ratio to reach. */
  atLeast: number;
  freshIds?: boolean;
  freshAddresses?: boolean;
  unit?: Figure['unit'];
}

export interface Side {
  url: string;
  requests: LoadRequest[];
  /** For requests that make a row each: how many there are, to hold against the answers. */
  countRows?(): Promise<number>;
  /** Things that a request makes; what is compared is things per second. */
  each?: number;
  connections?: number;
}

interface Played extends LoadResult {
  /** How long the database was still busy afterwards with what the requests left to background work. */
  settleMs: number;
}

const usualConnections = 64;
const warmUpSeconds = 2;
const roundSeconds = 4;
const rounds = 3;

export async function duel(
  fixture: Fixture,
  { peer, holdfast, atLeast, freshIds = false, freshAddresses = false, unit = 'req/s' }: Duel,
): Promise<Outcome> {
  const load = await fixture.load();

  async function turn(side: Side, seconds: number): Promise<Played> {
    const { url, requests, each = 1, connections = usualConnections } = side;
    const before = await side.countRows?.();
    const result = await load.run({ url, requests, connections, seconds, freshIds, freshAddresses });
    // The other side's turn must not pay for what this one leaves behind.
    const settleMs = await waitForRest();
    refuseFaults(url, result);
    const after = await side.countRows?.();
    if (before !== undefined && after !== undefined) {
      refuseMissingRows((after - before) / each, result.succeeded, connections);
    }
    return { ...result, perSecond: result.perSecond * each, settleMs };
  }

  const seconds = { 'warm-up': warmUpSeconds, measured: roundSeconds };
  const played = await playInTurns(
    {
      peer: (kind) => turn(peer, seconds[kind]),
      holdfast: (kind) => turn(holdfast, seconds[kind]),
    },
    {
      rounds,
      tell: ({ peer, holdfast }) =>
        `peer ${Math.round(peer.perSecond)}/s, Holdfast ${Math.round(holdfast.perSecond)}/s, ${(holdfast.perSecond / peer.perSecond).toFixed(2)}×`,
    },
  );

  const figure = (turns: Played[]) => ({
    value: median(turns.map(({ perSecond }) => perSecond)),
    unit,
    p99Ms: median(turns.map(({ p99Ms }) => p99Ms)),
  });
  const ratio = median(played.map(({ peer, holdfast }) => holdfast.perSecond / peer.perSecond));
  const comparison: Comparison = {
    figure: 'throughput',
    peer: figure(played.map(({ peer }) => peer)),
    holdfast: figure(played.map(({ holdfast }) => holdfast)),
    ratio,
    toReach: `≥ ${atLeast.toFixed(1)}×`,
    reached: ratio >= atLeast,
  };
  return { comparisons: [comparison], details: { roundSeconds, rounds: played } };
}

function refuseFaults(url: string, { otherAnswers, errors }: LoadResult): void {
  if (errors === 0 && Object.keys(otherAnswers).length === 0) return;
  throw new Error(
    `${url} did not do all of the work: ${errors} errors, other answers by status ${JSON.stringify(otherAnswers)}`,
  );
}

/** Requests that were under way when the load ended have made rows too. */
function refuseMissingRows(made: number, succeeded: number, connections: number): void {
  if (made >= succeeded && made <= succeeded + connections) return;
  throw new Error(`${succeeded} requests succeeded, but there are ${made} more rows`);
}
