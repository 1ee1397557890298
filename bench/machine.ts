/** What the figures were measured on. */
import { execFile } from 'node:child_process';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { promisify } from 'node:util';
import { findBinaries } from '../src/db/embedded/binaries.ts';
import { version } from '../src/runtime/version.ts';

export interface MachineFacts {
  date: string;
  holdfast: string;
  cores: number;
  cpu: string;
  memoryGb: number;
  system: string;
  node: string;
  postgres: string;
}

export async function machineFacts(): Promise<MachineFacts> {
  const { postgres } = await findBinaries();
  const { stdout } = await promisify(execFile)(postgres, ['--version']);
  return {
    date: new Date().toISOString(),
    holdfast: version,
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    postgres: stdout.trim(),
  };
}
