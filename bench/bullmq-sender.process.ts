/** BullMQ as the peer of webhook deliveries: one job each, worked off by one process. */
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { type Backlog, type Parcel, parcelsOf } from './backlog.ts';
import { answerQuestions } from './child.ts';
import { connections, createSender } from './sender.ts';

export type BullQuestion =
  | { ask: 'fill'; socket: string; backlog: Backlog }
  | { ask: 'send'; socket: string; origin: string };

const queueName = 'deliveries';
const bulk = 1000;
/** Twice what the receiver gets at once, so that a job is always ready when a connection is. */
const concurrency = connections * 2;

/** As often as the service would try, and kept for as long as it keeps its log: BullMQ's default. */
const jobOptions = { attempts: 6, backoff: { type: 'exponential', delay: 30_000 } };

answerQuestions<BullQuestion, number>((question) =>
  question.ask === 'fill' ? fill(question.socket, question.backlog) : send(question.socket, question.origin),
);

async function fill(socket: string, backlog: Backlog): Promise<number> {
  const connection = new Redis({ path: socket, maxRetriesPerRequest: null });
  const queue = new Queue<Parcel>(queueName, { connection });
  await queue.obliterate({ force: true });
  const jobs = Array.from(parcelsOf(backlog), (data) => ({ name: 'send', data, opts: jobOptions }));
  for (let start = 0; start < jobs.length; start += bulk)
    await queue.addBulk(jobs.slice(start, start + bulk));
  await queue.close();
  connection.disconnect();
  return jobs.length;
}

/** Returns how many jobs were completed. */
async function send(socket: string, origin: string): Promise<number> {
  const connection = new Redis({ path: socket, maxRetriesPerRequest: null });
  const post = createSender(origin);
  const worker = new Worker<Parcel>(queueName, ({ data }) => post(data), { connection, concurrency });
  const { promise: drained, resolve, reject } = Promise.withResolvers<void>();
  let completed = 0;
  worker.on('completed', () => (completed += 1));
  worker.on('drained', resolve);
  worker.on('failed', (_job, error) => reject(error));
  worker.on('error', reject);
  await drained;
  await worker.close();
  connection.disconnect();
  return completed;
}
