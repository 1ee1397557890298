/** Two sides under the same load in turns: a peer and Holdfast, or two commits of Holdfast. The ratio is a median. */
import type { Fixture } from './fixture.ts';
import type { LoadRequest, LoadResult } from './load.ts';
import type { Comparison, Figure, Outcome, Row } from './row.ts';
import { type Processes, perOperation, type Spent, watchProcesses } from './spent.ts';
import { median, playInTurns } from './turns.ts';

export interface Duel {
  name: string;
  what: string;
  peer(fixture: Fixture): Promise<Side>;
  holdfast(fixture: Fixture): Promise<Side>;
  /** The ratio to reach. */
  atLeast: number;
  freshIds?: boolean;
  freshAddresses?: boolean;
  unit?: Figure['unit'];
}

export interface Side {
  url: string;
  requests: LoadRequest[];
  /** Without the client. */
  processes(): Promise<Processes>;
  /** For requests that make a row each: how many there are, to hold against the answers. */
  countRows?(): Promise<number>;
  /** Things that a request makes; what is compared is things per second. */
  each?: number;
  connections?: number;
}

interface Offered {
  /** Requests; null: as many as are answered. */
  perSecond?: number | null;
  seconds: number;
}

interface Match {
  comparison: Comparison;
  details: Outcome['details'];
  /** Requests in a second, in the slowest turn. */
  lowestRate: number;
}

interface Played extends LoadResult {
  requestsPerSecond: number;
  /** Things made, those of requests that were under way at the end included. */
  operations: number;
  cpu: Spent | null;
  /** How long the database was still busy afterwards with what the requests left to background work. */
  settleMs: number;
}

const usualConnections = 64;

/**
 * Of the lowest throughput of both sides, in requests. What a service does once a second, however many requests there were,
 * weighs more on each of them where there are fewer. At the same rate it weighs the same on both sides.
 */
const steadyShare = 0.5;
/** So many that what happens now and then, such as an autovacuum, does not decide; within reason. */
const steadyOperations = 4_000;
const longestSteadySeconds = 20;
/** Of that rate: below it the machine was too busy even for this. */
const keptShare = 0.9;

export function duelRow(duel: Duel): Row {
  const { name, what, atLeast } = duel;
  return {
    name,
    what,
    async measure(fixture) {
      const sides = { peer: await duel.peer(fixture), holdfast: await duel.holdfast(fixture) };
      const { comparison, details } = await play(fixture, sides, { ...duel, seconds: fixture.turns.seconds });
      const reached = (comparison.ratio ?? 0) >= atLeast;
      return { comparisons: [{ ...comparison, toReach: `≥ ${atLeast.toFixed(1)}×`, reached }], details };
    },
    async against({ before, now }) {
      const sides = {
        peer: await withKnownTable(await duel.holdfast(before)),
        holdfast: await withKnownTable(await duel.holdfast(now)),
      };
      const { seconds } = now.turns;
      const fast = await play(now, sides, { ...duel, seconds });
      const perSecond = Math.max(1, Math.floor(fast.lowestRate * steadyShare));
      const enough = steadyOperations / (sides.holdfast.each ?? 1) / perSecond;
      const steadySeconds = Math.ceil(Math.max(seconds, Math.min(enough, longestSteadySeconds)));
      const steady = await play(now, sides, { ...duel, perSecond, seconds: steadySeconds });
      return {
        comparisons: [fast.comparison, steady.comparison],
        details: { fast: fast.details, steady: steady.details },
      };
    },
  };
}

async function play(
  fixture: Fixture,
  sides: Record<'peer' | 'holdfast', Side>,
  { freshIds = false, freshAddresses = false, unit = 'req/s', perSecond = null, seconds }: Duel & Offered,
): Promise<Match> {
  const load = await fixture.load();

  async function turn(side: Side): Promise<Played> {
    const { url, requests, each = 1, connections = usualConnections } = side;
    const before = await side.countRows?.();
    const spent = await watchProcesses({ ...(await side.processes()), client: [load.pid] });
    const how = { connections, seconds, perSecond, freshIds, freshAddresses };
    const result = await load.run({ url, requests, ...how });
    // The other side's turn must not pay for what this one leaves behind.
    const { cpu, restMs: settleMs } = await spent.untilRest();
    refuseFaults(url, result);
    const after = await side.countRows?.();
    const made = before === undefined || after === undefined ? null : after - before;
    if (made !== null) refuseMissingRows(made / each, result.succeeded, connections);
    const operations = made ?? result.sent * each;
    return {
      ...result,
      perSecond: result.perSecond * each,
      requestsPerSecond: result.perSecond,
      operations,
      cpu,
      settleMs,
    };
  }

  const played = await playInTurns(
    {
      peer: () => turn(sides.peer),
      holdfast: () => turn(sides.holdfast),
    },
    {
      rounds: fixture.turns.rounds,
      tell: ({ peer, holdfast }) =>
        `${Math.round(peer.perSecond)}/s, ${Math.round(holdfast.perSecond)}/s, ${(holdfast.perSecond / peer.perSecond).toFixed(2)}×`,
    },
  );

  const figure = (turns: Played[]): Figure => ({
    value: median(turns.map(({ perSecond }) => perSecond)),
    unit,
    p99Ms: median(turns.map(({ p99Ms }) => p99Ms)),
    cpuMicros: perOperation(turns),
  });
  const lowestRate = Math.min(
    ...played.flatMap(({ peer, holdfast }) => [peer.requestsPerSecond, holdfast.requestsPerSecond]),
  );
  const kept = perSecond === null || lowestRate >= perSecond * keptShare;
  return {
    lowestRate,
    comparison: {
      figure: perSecond === null ? 'throughput' : `at ${perSecond} requests/s${kept ? '' : ', not kept'}`,
      peer: figure(played.map(({ peer }) => peer)),
      holdfast: figure(played.map(({ holdfast }) => holdfast)),
      ratio: median(played.map(({ peer, holdfast }) => holdfast.perSecond / peer.perSecond)),
      toReach: null,
      reached: null,
    },
    details: { seconds, rounds: played },
  };
}

/** Another commit may have its rows elsewhere; what it answers has to do then. */
async function withKnownTable({ countRows, ...side }: Side): Promise<Side> {
  try {
    await countRows?.();
    return { ...side, ...(countRows && { countRows }) };
  } catch (error) {
    const undefinedTable = '42P01';
    if ((error as { code?: string }).code !== undefinedTable) throw error;
    return side;
  }
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
