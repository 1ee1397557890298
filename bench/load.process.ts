/** The process that makes the load; see load.ts. */
import { randomBytes } from 'node:crypto';
import { createHistogram } from 'node:perf_hooks';
import autocannon from 'autocannon';
import { answerQuestions } from './child.ts';
import type { Load, LoadRequest, LoadResult } from './load.ts';

answerQuestions<Load, LoadResult>(runLoad);

async function runLoad({
  url,
  connections,
  seconds,
  requests,
  freshIds = false,
  freshAddresses = false,
  perSecond = null,
}: Load): Promise<LoadResult> {
  let nextConnection = 0;
  let began = performance.now();
  // Our own, in microseconds, because autocannon's counts whole milliseconds.
  const latencies = createHistogram();
  const { promise: done, resolve, reject } = Promise.withResolvers<autocannon.Result>();
  const options: autocannon.Options = {
    url,
    connections,
    duration: seconds,
    pipelining: 1,
    ...(perSecond !== null && { overallRate: perSecond, ignoreCoordinatedOmission: true }),
    timeout: 10,
    idReplacement: freshIds,
    // How often autocannon looks whether the time is over.
    sampleInt: 50,
    // The first error spoils the measurement, so nothing is gained by going on.
    bailout: 1,
    // A share for each connection: with one list for all they would ask for the same thing at the same time.
    setupClient(client) {
      const own = share(requests, nextConnection, connections);
      client.setRequests(freshAddresses ? own.map(withFreshAddress) : own);
      nextConnection += 1;
    },
  };
  autocannon(options, (error, result) => (error ? reject(error) : resolve(result)))
    .on('start', () => {
      began = performance.now();
    })
    .on('response', (_client, _status, _bytes, ms) => latencies.record(Math.max(1, Math.round(ms * 1000))));

  const result = await done;
  const took = (performance.now() - began) / 1000;
  const succeeded = result['2xx'];
  // At a given rate autocannon also counts those that wait for their time.
  const sent = perSecond === null ? result.requests.sent : succeeded + result.non2xx;
  // autocannon silently connects again when the server hangs up; only the requests under way at the end are owed.
  const lost = Math.max(0, sent - succeeded - result.non2xx - connections);
  return {
    seconds: took,
    sent,
    succeeded,
    perSecond: succeeded / took,
    p50Ms: latencies.percentile(50) / 1000,
    p99Ms: latencies.percentile(99) / 1000,
    otherAnswers: Object.fromEntries(
      Object.entries(result.statusCodeStats ?? {})
        .filter(([status]) => !status.startsWith('2'))
        .map(([status, { count = 0 }]) => [status, count]),
    ),
    errors: result.errors + lost,
  };
}

function withFreshAddress(request: LoadRequest): autocannon.Request {
  const setupRequest = (sent: autocannon.Request): autocannon.Request => ({
    ...sent,
    body: String(request.body).replace('[<address>]', `0x${randomBytes(20).toString('hex')}`),
  });
  return { ...request, setupRequest };
}

/** Every connection gets at least one; copies, because autocannon writes into them. */
function share<T extends object>(all: T[], connection: number, connections: number): T[] {
  const own = all.filter((_, position) => position % connections === connection);
  const fallback = all[connection % all.length];
  return (own.length === 0 && fallback ? [fallback] : own).map((one) => ({ ...one }));
}
