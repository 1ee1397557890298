/** `webhook-isolation`: what 99 healthy endpoints notice when the hundredth never answers. */
import { type EventStreamResult, runEventStream } from '../event-stream.ts';
import type { Figure, Row } from '../row.ts';
import { perOperation } from '../spent.ts';
import { median, playInTurns, type Turn } from '../turns.ts';
import { makeVaults, switchEvents } from '../vaults.ts';
import { removeTargets, saveTargets } from '../webhooks.ts';

const endpointCount = 100;
/** Times the endpoints: 1,000 deliveries a second, well below what it can do. */
const perSecond = 10;
/** Shorter than the timeout of 30 s, so that the bad endpoint hangs all the time. */
const seconds = { 'warm-up': 4, measured: 20 };
const vaultCount = 64;
const ratioToReach = 1.2;

export const webhookIsolation: Row = {
  name: 'webhook-isolation',
  what: `one of ${endpointCount} endpoints never answers; the others, against all being well`,
  async measure(fixture) {
    const receiver = await fixture.receiver();
    const service = await fixture.countedService();
    const postgres = await fixture.countedPostgres();
    const stream = await fixture.stream();
    const paths = Array.from({ length: endpointCount }, (_, number) => `/isolation/${number}`);
    const bad = '/isolation/0';
    const addresses = await makeVaults(service, vaultCount);
    const targets = await saveTargets(service, { origin: receiver.url, paths, eventTypes: switchEvents });
    const events = { service, postgres, stream, receiver, paths, addresses, switched: 0 };

    // The bad one is left out of both sides, so that the same endpoints are compared.
    const play = (hangingPath: string | null) => (turn: Turn) =>
      runEventStream(events, { perSecond, seconds: seconds[turn], hangingPath, leftOut: bad });
    const played = await playInTurns<'well' | 'hanging', EventStreamResult>(
      { well: play(null), hanging: play(bad) },
      {
        rounds: fixture.turns.rounds,
        tell: ({ well, hanging }) =>
          `p99 ${well.p99Ms} ms with all well, ${hanging.p99Ms} ms beside one that hangs`,
      },
    );
    await removeTargets(service, targets);

    const slow = played.some(({ well, hanging }) => !well.kept || !hanging.kept);
    const figure = (results: EventStreamResult[]): Figure => ({
      value: median(results.map(({ p99Ms }) => p99Ms)),
      unit: 'ms',
      p99Ms: null,
      // For an event, which is a hundred deliveries.
      cpuMicros: perOperation(results),
    });
    const ratio = median(played.map(({ well, hanging }) => hanging.p99Ms / well.p99Ms));
    return {
      comparisons: [
        {
          figure: slow ? 'p99 of the latency, offered rate not kept' : 'p99 of the latency',
          peer: figure(played.map(({ well }) => well)),
          holdfast: figure(played.map(({ hanging }) => hanging)),
          ratio,
          toReach: `≤ ${ratioToReach}×`,
          reached: ratio <= ratioToReach && !slow,
        },
      ],
      details: { endpointCount, perSecond, seconds, rounds: played },
    };
  },
};
