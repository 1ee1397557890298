/** A database and a service for one run, each a process of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer } from '../runner/test-server.ts';
import type { Operation, PathValues } from '../support/openapi/openapi-operations.ts';

/** What is there to be asked for, and by whom. */
export interface Fixture {
  url: string;
  operations: Operation[];
  existing: PathValues;
  /** For requests that take things away. */
  disposable: PathValues;
  /** The first may do everything. */
  keys: string[];
  /** Of people with little to say. */
  cookies: string[];
}

/** Bytes of the heap after a collection; milliseconds of processor time of its main thread so far; an end. */
export type Question = 'heap' | 'cpu' | 'end';

export interface FuzzedService {
  fixture: Fixture;
  ask(question: 'heap' | 'cpu'): Promise<number>;
  /** Why it is gone; null while it is there. */
  gone(): string | null;
  close(): Promise<void>;
}

export async function startFuzzed(): Promise<FuzzedService> {
  const directory = mkdtempSync(join(tmpdir(), 'hf-fuzz-'));
  // PostgreSQL runs as another account where the run is root's, and has to get through.
  chmodSync(directory, 0o711);
  const removed = () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  const server = await startTestServer({ directory: join(directory, 'pg'), slowCommits: false });
  const child = fork(join(import.meta.dirname, 'service.child.ts'), {
    execArgv: ['--expose-gc'],
    env: { ...process.env, HOLDFAST_TEST_SERVER: server.url },
  });
  let gone: string | null = null;
  let closing = false;
  const exited = new Promise<void>((resolve) =>
    child.once('exit', (code, signal) => {
      if (!closing) gone = `the service ended with ${signal ?? `code ${code}`}`;
      resolve();
    }),
  );
  async function close(): Promise<void> {
    closing = true;
    if (child.connected) child.send('end' satisfies Question);
    await exited;
    await server.stop();
    removed();
  }
  try {
    const fixture = (await answerOf(child, exited)) as Fixture;
    return {
      fixture,
      async ask(question) {
        child.send(question satisfies Question);
        return (await answerOf(child, exited)) as number;
      },
      gone: () => gone,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function answerOf(child: ChildProcess, exited: Promise<void>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    void exited.then(() => reject(new Error('the service has ended')));
  });
}
