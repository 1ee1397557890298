/** The processes of a service: itself, its PostgreSQL and the engine of its embedded chain. Linux only. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathsIn } from '../src/db/embedded/paths.ts';
import { findPostmaster } from '../src/db/embedded/postmaster.ts';
import { readProcesses } from './process-times.ts';
import type { Service } from './service.ts';
import type { Processes } from './spent.ts';

export interface Memory {
  nowMb: number;
  /** The most it has had. */
  peakMb: number;
}

/** For the watch over what they spend. A service that does not lead on a chain has no engine. */
export async function processesOf(service: Pick<Service, 'pid' | 'dataDir'>): Promise<Processes> {
  if (process.platform !== 'linux') return {};
  const postmaster = await findPostmaster(pathsIn(join(service.dataDir, 'postgres')).clusterDir);
  if (!postmaster) throw new Error('the PostgreSQL of the service does not run');
  return { service: [service.pid], postgres: [postmaster.pid], chain: await findEngines(service) };
}

/** Throws unless exactly one runs. */
export async function findEngine(service: Pick<Service, 'pid'>): Promise<number> {
  const engines = await findEngines(service);
  const [engine] = engines;
  if (engine === undefined || engines.length > 1) {
    throw new Error(`the service has ${engines.length} engines of the embedded chain`);
  }
  return engine;
}

export async function readMemory(pid: number): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const megabytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
  return { nowMb: megabytes('VmRSS'), peakMb: megabytes('VmHWM') };
}

/** Earlier commits had anvil instead of an engine of their own. */
const engineCommand = /\/embedded\/engine\/engine\.process\.ts|\banvil\b/;

async function findEngines({ pid }: Pick<Service, 'pid'>): Promise<number[]> {
  const engines: number[] = [];
  for (const child of (await readProcesses()).filter(({ parent }) => parent === pid)) {
    const command = await readFile(`/proc/${child.pid}/cmdline`, 'utf8').catch(() => '');
    if (engineCommand.test(command)) engines.push(child.pid);
  }
  return engines;
}
