/** A real Redis that writes everything down, for the peers that live on it: started where redis-server is installed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface Redis {
  pid: number;
  /** Path of its Unix socket. */
  socket: string;
  stop(): Promise<void>;
}

const longestStartMs = 10_000;
const longestStopMs = 10_000;

/** Null when redis-server is not installed. */
export async function startRedis(directory: string): Promise<Redis | null> {
  const socket = join(directory, 'redis.sock');
  const settings = [
    ['--port', '0'],
    ['--unixsocket', socket],
    ['--dir', directory],
    ['--appendonly', 'yes'],
    ['--appendfsync', 'everysec'],
    ['--save', ''],
  ];
  // Not in our process group, where Ctrl-C would end it before its clients.
  const child = spawn('redis-server', settings.flat(), {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const exited = once(child, 'exit').catch((error) => error as Error);
  const { promise: ready, resolve, reject } = Promise.withResolvers<boolean>();
  child.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') resolve(false);
    else reject(error);
  });
  child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.includes('eady to accept connections')) resolve(true);
  });
  const timer = setTimeout(() => reject(new Error(`redis-server is not ready:\n${output}`)), longestStartMs);
  try {
    if (!(await ready)) return null;
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return {
    pid: child.pid ?? 0,
    socket,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), longestStopMs);
      await exited;
      clearTimeout(timer);
    },
  };
}
