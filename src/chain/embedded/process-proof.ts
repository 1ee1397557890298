/** Reads process details from the system, so that a pid from a file is trusted only with proof. */
import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Its arguments with a space before, between and after them; empty if the process is dead or hidden from us. */
export async function commandLineOf(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return text === '' ? '' : ` ${text.replaceAll('\0', ' ')}`;
  }
  const ps = promisify(execFile)('/bin/ps', ['-ww', '-o', 'stat=,command=', '-p', String(pid)]);
  const { stdout } = await ps.catch(() => ({ stdout: '' }));
  return stdout.startsWith('Z') ? '' : ` ${stdout.trim()} `;
}

/** Finds a process of unknown pid by a part of its command line; null if there is none. */
export async function findByCommandLine(text: string): Promise<number | null> {
  for (const pid of await allPids()) if ((await commandLineOf(pid)).includes(text)) return pid;
  return null;
}

async function allPids(): Promise<number[]> {
  if (process.platform === 'linux') return (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const { stdout } = await promisify(execFile)('/bin/ps', ['-ax', '-o', 'pid=']).catch(() => ({
    stdout: '',
  }));
  return stdout
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0);
}

/** The running executable; null if the system does not say. Linux appends " (deleted)" to a file that was replaced. */
export async function executableOf(pid: number): Promise<string | null> {
  return process.platform === 'linux' ? readlink(`/proc/${pid}/exe`).catch(() => null) : null;
}
