/** For the tests of leadership: nodes that seek the lead, in this process and in another, and a server that falls silent. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import type { openTestDatabase } from '../../test/database.ts';
import { waitUntil } from '../../test/process.ts';
import { openDatabase } from './database.ts';
import { createLeadership, type Term } from './leadership.ts';
import { locks } from './turn.ts';

export type TestDatabase = Awaited<ReturnType<typeof openTestDatabase>>;

export interface CandidateOptions {
  database: TestDatabase;
  during?: (term: Term) => Promise<void>;
  connectionString?: string;
  patienceMs?: number;
}

/** A node that seeks the lead until the test ends. */
export function candidate(
  t: TestContext,
  { database, during, connectionString = database.url, patienceMs = 300 }: CandidateOptions,
) {
  const stopping = new AbortController();
  const leadership = createLeadership({
    work: 'chain',
    lock: locks.chainLead,
    connection: () => ({ connectionString }),
    db: database.db,
    log: { info() {}, error() {} },
    patienceMs,
  });
  const node = {
    current: null as Term | null,
    looks: 0,
    done: Promise.resolve(),
    term: () => waitUntil(() => node.current),
    async stop() {
      stopping.abort();
      await node.done.catch(() => {});
    },
  };
  const hold = async (term: Term) => {
    node.current = term;
    await new Promise((resolve) => term.signal.addEventListener('abort', resolve));
    node.current = null;
  };
  node.done = leadership.run(during ?? hold, {
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
  const during = async (term: Term) => {
    console.log('leads');
    const ended = new Promise((resolve) => term.signal.addEventListener('abort', resolve));
    if (!given.hangInCommit) await ended;
    // By the fence alone: a process that was stopped may wake in the middle of anything.
    const unaware = { ...term, signal: new AbortController().signal };
    await unaware
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

/** Passes everything on, until it is silent: connections stay open and nothing comes through. */
export async function openProxy(t: TestContext, target: URL) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const upstream = connectSocket(Number(target.port), target.hostname);
    sockets.push(socket, upstream);
    for (const one of [socket, upstream]) one.on('error', () => {});
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    silence() {
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
}
