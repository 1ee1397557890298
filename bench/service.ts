/** A real Holdfast as a child process: `bin/holdfast serve` with the embedded PostgreSQL, as anybody would run it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

export interface Service {
  pid: number;
  url: string;
  dataDir: string;
  /** The first API key; null when an earlier start on this directory printed it. */
  key: string | null;
  /** From the start of the process to the line that says it is ready. */
  readyMs: number;
  /** The most memory it has had, of what the process itself occupies. */
  peakMemoryMb(): Promise<number>;
  stop(): Promise<void>;
  /** By SIGKILL, as the kernel would when memory is short. Its PostgreSQL goes on. */
  kill(): Promise<void>;
}

/** The checkout that this benchmark belongs to. */
export const ownRoot = resolve(import.meta.dirname, '..');

const longestStartMs = 60_000;
/** The service gives itself 12 s to stop. */
const longestStopMs = 20_000;

export async function startService({
  root = ownRoot,
  dataDir,
  settings = {},
}: {
  /** The checkout that it runs from. */
  root?: string;
  dataDir: string;
  settings?: Record<string, string>;
}): Promise<Service> {
  const began = performance.now();
  const child = spawn(join(root, 'bin/holdfast'), ['serve'], {
    // A .env of the checkout must not reach it.
    cwd: dataDir,
    env: { ...serviceEnvironment(dataDir), ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
    // Not in our process group, where Ctrl-C would end it before it can stop its PostgreSQL: we stop it ourselves.
    detached: true,
  });
  const exited = once(child, 'exit');

  async function stop(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), longestStopMs);
    const [code] = await exited;
    clearTimeout(timer);
    if (code !== 0) console.error(`the service ended with ${code ?? 'a kill'} when it was stopped`);
  }

  async function kill(): Promise<void> {
    child.kill('SIGKILL');
    await exited;
  }

  const { promise: ready, resolve: resolveReady, reject } = Promise.withResolvers<string>();
  const timer = setTimeout(
    () => reject(new Error(`the service was not ready within ${longestStartMs / 1000} s`)),
    longestStartMs,
  );
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    const url = /is ready at (\S+)/.exec(output)?.[1];
    if (url !== undefined) resolveReady(url);
  });
  exited.then(([code, signal]) => reject(new Error(`the service ended with ${code ?? signal}`)), reject);
  try {
    const url = await ready;
    const readyMs = performance.now() - began;
    const file = /in (\S+\/first-key\.txt)/.exec(output)?.[1];
    const key = file === undefined ? null : (await readFile(file, 'utf8')).trim();
    const peakMemoryMb = async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
    };
    return { pid: child.pid ?? 0, url, dataDir, key, readyMs, peakMemoryMb, stop, kill };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** The headers that every call needs. */
export function keyHeaders({ key }: Service): Record<string, string> {
  if (key === null) throw new Error('the service printed no API key');
  return { 'x-api-key': key };
}

/** Ours without any setting of the service, and the settings of the benchmark. */
export function serviceEnvironment(dataDir: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(HOLDFAST_|PG|DATABASE_URL$|HOST$|PORT$)/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    PORT: '0',
    HOLDFAST_DATA_DIR: dataDir,
    HOLDFAST_RATE_LIMIT: 'off',
    HOLDFAST_LOG_LEVEL: 'warn',
    // Receivers are on this machine, over plain HTTP.
    HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8',
  };
}
