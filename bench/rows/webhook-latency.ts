/** `webhook-latency`: 1,000 events a second made through the API; how long each takes from its commit to the receiver. */
import { runEventStream } from '../event-stream.ts';
import type { Row } from '../row.ts';
import { perOperation } from '../spent.ts';
import { countStatements } from '../statements.ts';
import { makeVaults, switchEvents } from '../vaults.ts';
import { removeTargets, saveTargets } from '../webhooks.ts';

const perSecond = 1_000;
const seconds = 20;
const warmUpSeconds = 4;
/** So many that the next switch of a vault never meets the one before. */
const vaultCount = 2_048;
const p99ToReachMs = 250;

export const webhookLatency: Row = {
  name: 'webhook-latency',
  what: `${perSecond.toLocaleString('en')} events/s made through the API for ${seconds} s, commit to receiver`,
  async measure(fixture) {
    const receiver = await fixture.receiver();
    const service = await fixture.countedService();
    const postgres = await fixture.countedPostgres();
    const stream = await fixture.stream();
    const paths = ['/latency'];
    const addresses = await makeVaults(service, vaultCount);
    const targets = await saveTargets(service, { origin: receiver.url, paths, eventTypes: switchEvents });
    const events = { service, postgres, stream, receiver, paths, addresses, switched: 0 };
    await runEventStream(events, { perSecond, seconds: warmUpSeconds });
    const countSinceNow = await countStatements(postgres);
    const result = await runEventStream(events, { perSecond, seconds });
    const statements = (await countSinceNow()) / result.answers.succeeded;
    await removeTargets(service, targets);

    const { p50Ms, p99Ms, answers, kept } = result;
    const cpuMicros = perOperation([result]);
    const alone = { peer: null, ratio: null };
    return {
      comparisons: [
        {
          ...alone,
          figure: 'p99 of the latency',
          holdfast: { value: p99Ms, unit: 'ms', p99Ms: null },
          toReach: `≤ ${p99ToReachMs} ms`,
          reached: p99Ms <= p99ToReachMs,
        },
        {
          ...alone,
          figure: 'p50 of the latency',
          holdfast: { value: p50Ms, unit: 'ms', p99Ms: null },
          toReach: null,
          reached: null,
        },
        {
          ...alone,
          figure: kept ? 'offered rate, kept' : 'offered rate, not kept',
          holdfast: { value: answers.perSecond, unit: 'events/s', p99Ms: answers.p99Ms, cpuMicros },
          toReach: `${perSecond.toLocaleString('en')} events/s`,
          reached: kept,
        },
        {
          ...alone,
          figure: 'SQL per event, API included',
          holdfast: { value: statements, unit: 'statements', p99Ms: null },
          toReach: null,
          reached: null,
        },
      ],
      details: { ...result, statements },
    };
  },
};
