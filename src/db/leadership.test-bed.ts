/** For the tests of leadership: nodes that seek the lead, in this process and in another, and a server that falls silent. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import type { openTestDatabase } from '../../test/database.ts';
import { waitUntil } from '../../test/process.ts';
import { openDatabase } from './database.ts';
import { createLeadership, type LeadershipOptions, type Tenure } from './leadership.ts';
import { locks } from './turn.ts';

export type TestDatabase = Awaited<ReturnType<typeof openTestDatabase>>;

/** How long nodes wait for each other. */
export type Times = Pick<LeadershipOptions, 'beatMs' | 'hungAfterMs' | 'patienceMs' | 'deafAfterMs'>;

/** Longer than any test waits: no node counts as hanging, however slow the machine. */
export const neverHung: Times = { hungAfterMs: 600_000 };

export interface CandidateOptions extends Times {
  database: TestDatabase;
  during?: (tenure: Tenure) => Promise<void>;
  connectionString?: string;
}

/** A node that seeks the lead until the test ends. */
export function candidate(
  t: TestContext,
  { database, during, connectionString = database.url, ...times }: CandidateOptions,
) {
  const stopping = new AbortController();
  const leadership = createLeadership({
    work: 'chain',
    lock: locks.chainLead,
    connection: () => ({ connectionString }),
    db: database.db,
    log: { info() {}, error() {} },
    ...times,
  });
  const node = {
    current: null as Tenure | null,
    looks: 0,
    done: Promise.resolve(),
    leads: () => waitUntil(() => node.current),
    async stop() {
      stopping.abort();
      await node.done.catch(() => {});
    },
  };
  const hold = async (tenure: Tenure) => {
    await during?.(tenure);
    node.current = tenure;
    await aborted(tenure.signal);
    node.current = null;
  };
  node.done = leadership.run(hold, {
    signal: stopping.signal,
    onStandBy: () => {
      node.looks += 1;
    },
  });
  node.done.catch(() => {});
  t.after(() => node.stop());
  return node;
}

/** A leader in another process, which tries to commit when its term ends. */
export async function leadElsewhere(
  t: TestContext,
  { url, hangInCommit = false }: { url: string; hangInCommit?: boolean },
) {
  const code = `
    const { leadAndWriteLate } = await import(${JSON.stringify(import.meta.url)});
    await leadAndWriteLate(${JSON.stringify({ url, hangInCommit })});`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => killed(child));
  const seen: string[] = [];
  createInterface(child.stdout).on('line', (line) => seen.push(line));
  const lines = {
    next: (start: string) => waitUntil(() => seen.find((line) => line.startsWith(start)) ?? null),
  };
  await lines.next('leads');
  return { child, lines };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** What the other process does. */
export async function leadAndWriteLate(given: { url: string; hangInCommit: boolean }): Promise<void> {
  const connection = () => ({ connectionString: given.url });
  const { db, close } = openDatabase({ connection, onError() {} });
  const log = { info() {}, error() {} };
  const leadership = createLeadership({ work: 'chain', lock: locks.chainLead, connection, db, log });
  const during = async (tenure: Tenure) => {
    console.log('leads');
    const ended = aborted(tenure.signal);
    if (!given.hangInCommit) await ended;
    await tenure
      .commit(async (db) => {
        await db.insertInto('chain_reorgs').values({ fork_number: 1, old_head: 2 }).execute();
        console.log('inside');
        if (given.hangInCommit) await ended;
      })
      .then(
        () => console.log('refused NOT'),
        (error: Error) => console.log(`refused ${error.name}`),
      );
  };
  const { signal } = new AbortController();
  await leadership.run(during, { signal, onStandBy() {} }).catch(() => {});
  await close();
}

/** Stands between a node and its server. */
export async function openProxy(t: TestContext, target: URL) {
  const pairs: { client: Socket; upstream: Socket }[] = [];
  let heldAfter: string | null = null;
  const held = { answers: 0 };
  const server = createServer((client) => {
    const upstream = connectSocket(Number(target.port), target.hostname);
    pairs.push({ client, upstream });
    for (const one of [client, upstream]) one.on('error', () => {});
    client.on('data', (sent) => {
      if (heldAfter === null || !sent.includes(heldAfter)) return;
      heldAfter = null;
      held.answers += 1;
      upstream.unpipe(client).pause();
    });
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const { client, upstream } of pairs) for (const one of [client, upstream]) one.destroy();
    server.close();
  });
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    held,
    /** Connections stay open and nothing comes through. */
    silence() {
      for (const { client, upstream } of pairs) for (const one of [client, upstream]) one.unpipe().pause();
    },
    /** The next statement with this text goes through, and its answer does not. */
    holdAnswerTo(text: string) {
      heldAfter = text;
    },
    resume() {
      for (const { client, upstream } of pairs) {
        client.unpipe().pipe(upstream);
        upstream.unpipe().pipe(client);
      }
    },
  };
}

/** A leader that is nothing but a connection: it has the lock, and gives a sign of life when the test wants it to. */
export async function leadByHand(t: TestContext, { pool }: TestDatabase) {
  const client = await pool.connect();
  t.after(() => client.release(true));
  // A connection that was ended is told by its next query.
  client.on('error', () => {});
  await waitUntil(async () => {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as taken', [locks.chainLead]);
    return rows[0]?.taken === true;
  });
  // As a leader does: a busy disk does not make its signs late.
  await client.query('set synchronous_commit = off');
  await client.query("insert into leaders (work) values ('chain') on conflict (work) do nothing");
  return {
    sign: () => client.query("update leaders set beat_at = clock_timestamp() where work = 'chain'"),
  };
}

/** Nothing else happens in this process for so long, as under a heavy calculation. */
export function holdUp(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
