/** The processes of a service with an embedded chain: itself, its PostgreSQL and the engine. Linux only. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathsIn } from '../src/db/embedded/paths.ts';
import { findPostmaster } from '../src/db/embedded/postmaster.ts';
import { type ProcessTimes, readProcesses } from './cpu-time.ts';
import type { Service } from './service.ts';

export interface CpuUse {
  serviceMs: number;
  databaseMs: number;
  engineMs: number;
}

export interface Memory {
  nowMb: number;
  /** The most it has had. */
  peakMb: number;
}

/** Throws unless exactly one runs. */
export async function findEngine({ pid }: Pick<Service, 'pid'>): Promise<number> {
  const children = (await readProcesses()).filter(({ parent }) => parent === pid);
  const engines: number[] = [];
  for (const child of children) {
    const command = await readFile(`/proc/${child.pid}/cmdline`, 'utf8').catch(() => '');
    if (command.includes('/embedded/engine/engine.process.ts')) engines.push(child.pid);
  }
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

/**
 * Starts looking; the function it returns tells what was used since. `others`: processes of that PostgreSQL that work for
 * the benchmark itself.
 */
export async function watchCpu(
  service: Pick<Service, 'pid' | 'dataDir'>,
  others: number[],
): Promise<() => Promise<CpuUse | null>> {
  if (process.platform !== 'linux') return async () => null;
  const engine = await findEngine(service);
  const postmaster = await findPostmaster(pathsIn(join(service.dataDir, 'postgres')).clusterDir);
  if (!postmaster) throw new Error('the PostgreSQL of the service does not run');

  async function look(): Promise<CpuUse> {
    const all = await readProcesses();
    const one = (pid: number): ProcessTimes => {
      const found = all.find((candidate) => candidate.pid === pid);
      if (!found) throw new Error(`process ${pid} has ended`);
      return found;
    };
    const backends = all.filter(({ pid, parent }) => parent === postmaster?.pid && !others.includes(pid));
    const ofBackends = backends.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
    return {
      serviceMs: one(service.pid).ownMs,
      // With the backends that have ended.
      databaseMs: one(postmaster?.pid ?? 0).cpuMs + ofBackends,
      engineMs: one(engine).ownMs,
    };
  }

  const before = await look();
  return async () => {
    const after = await look();
    return {
      serviceMs: after.serviceMs - before.serviceMs,
      databaseMs: after.databaseMs - before.databaseMs,
      engineMs: after.engineMs - before.engineMs,
    };
  };
}
