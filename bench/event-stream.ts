/** Events at a steady rate, made by real requests, and how long each takes to its receivers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { waitForRest } from './cpu-time.ts';
import { holdfastDatabase, type Postgres } from './postgres.ts';
import type { Receiver } from './receiver.ts';
import type { Service } from './service.ts';
import { processesOf } from './service-processes.ts';
import { type Spent, watchProcesses } from './spent.ts';
import { ours } from './statements.ts';
import type { StreamResult, StreamSource } from './stream.ts';
import { switchVaults } from './vaults.ts';

export interface EventStream {
  service: Service;
  postgres: Postgres;
  stream: StreamSource;
  receiver: Receiver;
  /** Of all endpoints that subscribe. */
  paths: string[];
  /** Vaults to be switched off and on. */
  addresses: string[];
  /** How often that was done. */
  switched: number;
}

export interface EventStreamResult {
  answers: StreamResult;
  /** From the envelope's timestamp, which is taken just before the commit, to the receivers that answer. */
  p50Ms: number;
  p99Ms: number;
  /** False: the service did not take the events as fast as they were offered. */
  kept: boolean;
  /** Events. */
  operations: number;
  /** Until the last has arrived, and afterwards. */
  cpu: Spent | null;
}

const longestArrivalMs = 60_000;
/** Of the offered rate, measured to the last answer. */
const keptShare = 0.98;
/** At most so many of the vaults are being switched: two changes of one that met would make no event. */
const busyShare = 0.125;

/** `hangingPath` gets no answer while the stream lasts, and everything afterwards; `leftOut` is not looked at. */
export async function runEventStream(
  events: EventStream,
  load: { perSecond: number; seconds: number; hangingPath?: string | null; leftOut?: string },
): Promise<EventStreamResult> {
  const { perSecond, seconds, hangingPath = null, leftOut } = load;
  const { service, postgres, stream, receiver, paths, addresses } = events;
  const watched = paths.filter((path) => path !== leftOut);
  await waitForRest();
  await receiver.hang(hangingPath);
  await receiver.expect(watched);
  const requests = switchVaults(service, addresses, events.switched);
  const inFlight = Math.floor(addresses.length * busyShare);
  const spent = await watchProcesses({
    ...(await processesOf(service)),
    client: [stream.pid, receiver.pid],
  });
  const answers = await stream.run({ url: service.url, perSecond, seconds, inFlight, requests });
  if (answers.fault !== null) throw new Error(`a vault was not switched: ${answers.fault}`);
  const made = answers.succeeded;
  events.switched += made;
  const arrived = await receiver.arrivals({ events: made, timeoutMs: longestArrivalMs });
  await spent.answered();
  await receiver.hang(null);
  const { cpu } = await spent.untilRest();
  await waitForEmptyQueue(postgres);
  for (const path of watched) {
    if (arrived.byPath[path] !== made)
      throw new Error(`${arrived.byPath[path] ?? 0} of ${made} events came to ${path}`);
  }
  const latencies = watched.flatMap((path) => arrived.latenciesMs[path] ?? []).sort((a, b) => a - b);
  const percentile = (share: number) => latencies[Math.ceil(latencies.length * share) - 1] ?? Number.NaN;
  return {
    answers,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
    kept: answers.perSecond >= perSecond * keptShare,
    operations: made,
    cpu,
  };
}

/** Longer than a delivery that timed out waits for its second attempt. */
const longestQueueMs = 90_000;

async function waitForEmptyQueue(postgres: Postgres): Promise<void> {
  for (const deadline = Date.now() + longestQueueMs; ; await sleep(200)) {
    const [row] = await postgres.query<{ count: number }>(
      holdfastDatabase,
      `select ${ours} count(*)::int as count from webhook_queue`,
    );
    if (row?.count === 0) return;
    if (Date.now() > deadline) throw new Error(`${row?.count} deliveries are still open`);
  }
}
