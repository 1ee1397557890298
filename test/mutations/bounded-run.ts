/** Runs a program to its end, or to the end of its time. */
import { type SpawnOptions, spawn } from 'node:child_process';

/** Ended with the signal too. Resolves with the exit code, and with the end of what it printed. */
export function runBounded(
  [program = '', ...args]: string[],
  { longestMs, signal, ...options }: SpawnOptions & { longestMs: number; signal: AbortSignal },
): Promise<{ code: number | null; output: string }> {
  // Of its own group: a Ctrl-C would reach it a second time.
  const child = spawn(program, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (chunk: Buffer) => {
    output = (output + chunk).slice(-20_000);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const stop = () => child.kill('SIGTERM');
  signal.addEventListener('abort', stop);
  const limit = setTimeout(stop, longestMs);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      signal.removeEventListener('abort', stop);
      clearTimeout(limit);
      resolve({ code, output });
    });
  });
}
