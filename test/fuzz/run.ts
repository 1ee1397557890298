/** Sends the requests, many at a time, and holds each answer and the whole run against what must not happen. */
import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { type Dispatcher, Pool } from 'undici';
import { type SentRequest, toCurl } from '../support/openapi/curl.ts';
import { asPerson, credentialsFor, type Operation } from '../support/openapi/openapi-operations.ts';
import { createRequests, pathAndQuery, type Request } from '../support/openapi/openapi-requests.ts';
import { assertDocumented } from '../support/openapi/openapi-shapes.ts';
import { fc } from '../support/service/properties.ts';
import { type Answer, readAnswer } from '../support/service/service.ts';
import { type Fixture, type FuzzedService, startFuzzed } from './fixture.ts';

export interface FuzzOptions {
  requests: number;
  seed: string;
  /** Ends the run early; what was sent until then is judged. */
  signal: AbortSignal;
  tell(line: string): void;
}

export interface Fault {
  what: string;
  count: number;
  /** The first request that showed it. */
  curl: string | null;
}

export interface Figures {
  requests: number;
  routes: number;
  seconds: number;
  statuses: Map<number, number>;
  p50Ms: number;
  p99Ms: number;
  /** Processor time of the service's main thread, and of this process, for a request. */
  cpuMsPerRequest: number;
  ownCpuMsPerRequest: number;
  /** Of the requests that took longest, repeated alone; null when there was none. */
  dearest: { ms: number; name: string } | null;
  heapBefore: number;
  heapAfter: number;
}

/** Under way at a time. */
const width = 64;
/** Made at a time for each route. */
const perRound = 8;
/** Of all requests, before memory is looked at first. */
const warmUp = 0.2;
/** Caches that fill up, and what a collection leaves; a leak of 1 KB a request shows from 40,000 on. */
const mostGrowth = 40_000_000;
/** Processor time of one request alone. */
const mostMs = 100;
const slowestKept = 10;
/** For a look at what the service does by itself. */
const idleMs = 2_000;

interface Timed {
  name: string;
  sent: SentRequest;
  ms: number;
}

export async function runFuzz({ requests, seed, signal, tell }: FuzzOptions): Promise<{
  figures: Figures;
  faults: Fault[];
}> {
  const service = await startFuzzed();
  const { fixture } = service;
  const pool = new Pool(fixture.url, { connections: width, pipelining: 1 });
  const faults = new Map<string, Fault>();
  const statuses = new Map<number, number>();
  const times: number[] = [];
  let slowest: Timed[] = [];

  function report(key: string, what: string, sent: SentRequest | null): void {
    const known = faults.get(key);
    if (known) {
      known.count += 1;
      return;
    }
    faults.set(key, { what, count: 1, curl: sent && toCurl(sent) });
    tell(`FAILED  ${what.split('\n', 1)[0]}`);
  }

  async function sendOne({ operation, sent }: Planned): Promise<void> {
    const startedAt = performance.now();
    try {
      const answer = await send(pool, sent);
      const ms = performance.now() - startedAt;
      times.push(ms);
      if (slowest.length < slowestKept || ms > (slowest.at(-1)?.ms ?? 0))
        slowest = [...slowest, { name: operation.name, sent, ms }]
          .sort((one, other) => other.ms - one.ms)
          .slice(0, slowestKept);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      // Not now, and it says when.
      if (answer.status === 503 && answer.headers.has('retry-after')) return;
      assertDocumented(operation, answer);
    } catch (error) {
      const { message } = error as Error;
      const kind = message.split(/[:\n]/, 1)[0];
      report(`${operation.name} ${kind}`, `${operation.name}: ${message.slice(0, 600)}`, sent);
    }
  }

  async function sendAll(planned: Planned[]): Promise<void> {
    let next = 0;
    const worker = async () => {
      for (let one = planned[next++]; one && service.gone() === null; one = planned[next++])
        await sendOne(one);
    };
    await Promise.all(Array.from({ length: width }, worker));
  }

  try {
    const plan = createPlan(fixture, seed);
    const startedAt = performance.now();
    const cpuBefore = await service.ask('cpu');
    const ownBefore = process.cpuUsage();
    let heapBefore: number | null = null;
    let done = 0;
    for (let round = 0; done < requests && service.gone() === null && !signal.aborted; round += 1) {
      const planned = plan(round).slice(0, requests - done);
      await sendAll(planned);
      done += planned.length;
      if (heapBefore === null && done >= requests * warmUp) heapBefore = await service.ask('heap');
      if (round % 10 === 9) tell(`${done} sent`);
    }
    const seconds = (performance.now() - startedAt) / 1000;
    const gone = service.gone();
    if (gone !== null) report('gone', gone, null);
    const heapAfter = gone === null ? await service.ask('heap') : 0;
    if (heapAfter - (heapBefore ?? heapAfter) > mostGrowth)
      report('heap', `The heap grew from ${heapBefore} to ${heapAfter} bytes.`, null);
    const cpuMs = gone === null ? (await service.ask('cpu')) - cpuBefore : 0;
    const own = process.cpuUsage(ownBefore);
    const dearest = gone === null ? await findDearest(pool, service, slowest) : null;
    if (dearest && dearest.ms > mostMs)
      report('dear', `${dearest.name} alone took ${dearest.ms} ms of CPU time.`, dearest.sent);
    times.sort((one, other) => one - other);
    const figures: Figures = {
      requests: done,
      routes: fixture.operations.length,
      seconds,
      statuses,
      p50Ms: times[Math.floor(times.length * 0.5)] ?? 0,
      p99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
      cpuMsPerRequest: cpuMs / Math.max(done, 1),
      ownCpuMsPerRequest: (own.user + own.system) / 1000 / Math.max(done, 1),
      dearest,
      heapBefore: heapBefore ?? heapAfter,
      heapAfter,
    };
    return { figures, faults: [...faults.values()] };
  } finally {
    await pool.destroy();
    await service.close();
  }
}

interface Planned {
  operation: Operation;
  sent: SentRequest;
}

/** Gives the requests of a round, which depend on the seed and the round alone. */
function createPlan(fixture: Fixture, seed: string): (round: number) => Planned[] {
  const { operations, existing, disposable } = fixture;
  const thingsOf = ({ method }: Operation) => (method === 'DELETE' ? disposable : existing);
  const made = createRequests({ existing, thingsOf });
  const arbitraries = operations.map((operation) => ({
    operation,
    requests: fc.tuple(
      fc.oneof(made.any(operation), made.allowed(operation)),
      fc.oneof(
        { weight: 6, arbitrary: fc.constant(credentialsFor(operation, thingsOf(operation))) },
        {
          weight: 2,
          arbitrary: fc.constantFrom(...fixture.keys, null).map((key) => ({ key, headers: undefined })),
        },
        { weight: 1, arbitrary: fc.constantFrom(...fixture.cookies).map(asPerson) },
      ),
    ),
  }));
  return (round) => {
    const numberOf = (text: string) =>
      createHash('sha256').update(`${seed} ${round} ${text}`).digest().readInt32BE();
    const planned = arbitraries.flatMap(({ operation, requests }) =>
      fc
        .sample(requests, { numRuns: perRound, seed: numberOf(operation.name) })
        .map(([request, { key = fixture.keys[0], headers }], place): [number, Planned] => [
          numberOf(`${operation.name} ${place}`),
          {
            operation,
            sent: toSent(fixture.url, operation, request, {
              ...(typeof key === 'string' && { 'x-api-key': key }),
              ...headers,
            }),
          },
        ]),
    );
    return planned.sort(([one], [other]) => one - other).map(([, each]) => each);
  };
}

function toSent(
  url: string,
  { method }: Operation,
  request: Request,
  credentials: Record<string, string>,
): SentRequest {
  return {
    method,
    url: url + pathAndQuery(request),
    headers: { 'content-type': 'application/json', ...credentials, ...request.headers },
    body: request.body === undefined ? undefined : JSON.stringify(request.body),
  };
}

async function send(pool: Pool, { method, url, headers, body }: SentRequest): Promise<Answer> {
  const response = await pool.request({
    method: method as Dispatcher.HttpMethod,
    path: url.slice(new URL(url).origin.length),
    headers,
    ...(body !== undefined && { body }),
  });
  return readAnswer(response);
}

/**
 * Beside others nobody knows what one of them costs: the slowest are sent again alone, and the least of three counts. What
 * the service does by itself in that time is taken off.
 */
async function findDearest(pool: Pool, service: FuzzedService, slowest: Timed[]): Promise<Timed | null> {
  const measure = async (work: () => Promise<unknown>) => {
    const [before, startedAt] = [await service.ask('cpu'), performance.now()];
    await work();
    return { cpuMs: (await service.ask('cpu')) - before, wallMs: performance.now() - startedAt };
  };
  const idle = await measure(() => setTimeout(idleMs));
  let dearest: Timed | null = null;
  for (const { name, sent } of slowest) {
    let least = Number.POSITIVE_INFINITY;
    for (let turn = 0; turn < 3; turn += 1) {
      const { cpuMs, wallMs } = await measure(() => send(pool, sent).catch(() => null));
      least = Math.min(least, Math.max(0, cpuMs - (idle.cpuMs / idle.wallMs) * wallMs));
    }
    if (least > (dearest?.ms ?? 0)) dearest = { name, sent, ms: least };
  }
  return dearest;
}
