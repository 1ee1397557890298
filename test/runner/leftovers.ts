/** Finds what a test left behind: processes that still use its directory, and files in it. */
import { readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

export interface LeftProcess {
  pid: number;
  command: string;
}

/** A process that was asked to exit may need a moment on a busy machine. */
const longestEndMs = 10_000;

/**
 * Kills and returns the processes that still mention the directory after a grace period. Only works where there is
 * /proc.
 */
export async function endProcessesUsing(directory: string, graceMs = longestEndMs): Promise<LeftProcess[]> {
  let left = processesUsing(directory);
  for (const deadline = performance.now() + graceMs; left.length > 0 && performance.now() < deadline; ) {
    await sleep(50);
    left = processesUsing(directory);
  }
  for (const { pid } of left) kill(pid);
  return left;
}

export async function entriesOf(directory: string): Promise<string[]> {
  return (await readdir(directory).catch(() => [])).sort();
}

export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended in the meantime.
  }
}

/** Checks command line and environment: a server is started with a clean environment, a service by its settings. */
function processesUsing(directory: string): LeftProcess[] {
  // With the slash, because another file's directory may start with the same characters.
  const inside = `${directory}/`;
  const pids = readDirectory('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.flatMap((pid) => {
    const command = readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
    const uses = command.includes(inside) || readText(`/proc/${pid}/environ`).includes(inside);
    return uses && command !== '' ? [{ pid: Number(pid), command }] : [];
  });
}

function readDirectory(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
