/** The anvil process of a chain: starts it in its own session, identifies it by pid file and command line, ends it. */
import { spawn } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { open, readFile, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hex } from 'viem';
import { choosePort } from '../../db/embedded/port.ts';
import { processExists } from '../../db/embedded/postmaster.ts';
import type { ChainPaths } from './paths.ts';
import { commandLineOf, executableOf, findByCommandLine } from './process-proof.ts';

/** The content of the pid file. The last two fields are known once the node answers. */
export interface PidRecord {
  /** 0 until it is known: after a kill at that moment, the record still says which process to look for. */
  pid: number;
  port: number;
  chainId: number;
  /** The program we started, as findAnvil named it. */
  program: string;
  /** Identifies the supervisor: a new value for each one that starts or adopts the process. */
  keeper: string;
  /** The executable that the system reports: a different file when the program is a script. */
  executable?: string | null;
  genesisHash?: Hex;
}

export interface AnvilProcess {
  record: PidRecord;
  url: string;
  /** Null while it runs; checks the system for a process that we did not start ourselves. */
  ended(): Promise<string | null>;
}

export interface AnvilStart {
  program: string;
  chainId: number;
  /** `--init` with the genesis file, or `--load-state` with an unpacked dump. */
  from: readonly ['--init' | '--load-state', string];
  paths: ChainPaths;
  keeper: string;
  onExit(): void;
}

/**
 * The flags follow from measurements: with automine a tenth of the dumps were torn; the default history took 1.1 GB at
 * 3,000 blocks; `--prune-history` without a number breaks reorgs; CORS is open by default; `--state` dumps at times of
 * its own choice. Accounts come from the genesis only.
 */
const flags = [
  ...['--host', '127.0.0.1', '--no-cors', '--accounts', '0', '--disable-default-create2-deployer'],
  ...['--no-mining', '--order', 'fifo', '--hardfork', 'prague', '--base-fee', '1000000000'],
  ...['--prune-history', '64', '--slots-in-an-epoch', '1', '--quiet'],
];

/** Uses the port of the last start if it is free, so that the published address stays valid; else any free port. */
export async function startAnvil({
  program,
  chainId,
  from,
  paths,
  keeper,
  onExit,
}: AnvilStart): Promise<AnvilProcess> {
  const port = await choosePort((await readPidFile(paths))?.port ?? null);
  const record: PidRecord = { pid: 0, port, chainId, program, keeper };
  writePidFile(record, paths);
  const log = await open(paths.logFile, 'w', 0o600);
  try {
    const child = spawn(program, ['--chain-id', String(chainId), '--port', String(port), ...flags, ...from], {
      cwd: '/',
      // Passes nothing of our environment, which may contain secrets; sets HOME, or anvil would write to the user's.
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: paths.home },
      // In its own session it survives Ctrl-C and a kill of our process group.
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    child.unref();
    // An orderly stop ends the node earlier; this is for a process that exits because something else took too long.
    const endHard = () => endNow(record, paths);
    process.once('exit', endHard);
    let end: string | null = null;
    child.once('error', (error) => {
      end = error.message;
      onExit();
    });
    child.once('exit', (code, signal) => {
      process.removeListener('exit', endHard);
      end ??= `exit ${code ?? signal}`;
      onExit();
    });
    if (child.pid !== undefined) {
      record.pid = child.pid;
      writePidFile(record, paths);
    }
    return { record, url: urlOf(port), ended: async () => end };
  } finally {
    await log.close();
  }
}

/** Completes the pid file once the node answers or is adopted; a node whose pid file is incomplete is never adopted. */
export async function confirmPidFile(
  node: AnvilProcess,
  { genesisHash, keeper }: { genesisHash: Hex; keeper: string },
  paths: ChainPaths,
): Promise<void> {
  node.record = { ...node.record, executable: await executableOf(node.record.pid), genesisHash, keeper };
  writePidFile(node.record, paths);
}

/** Writes atomically and synchronously, because the process may be killed at any time. */
function writePidFile(record: PidRecord, { pidFile }: ChainPaths): void {
  const draft = `${pidFile}.new`;
  writeFileSync(draft, JSON.stringify(record), { mode: 0o600 });
  renameSync(draft, pidFile);
}

/** The process that the pid file names, if it is provably a node of this chain. Its port proves nothing. */
export async function findAnvilProcess(paths: ChainPaths, chainId: number): Promise<AnvilProcess | null> {
  const record = await readPidFile(paths);
  if (!record || record.chainId !== chainId) return null;
  if (record.pid === 0) record.pid = (await findByCommandLine(argumentsOf(record))) ?? 0;
  if (!(await isNodeOf(record))) return null;
  return {
    record,
    url: urlOf(record.port),
    ended: async () => ((await isNodeOf(record)) ? null : 'it is gone'),
  };
}

/**
 * Ends the process and its children, and returns once it is gone. It holds nothing that could be lost. Leaves the process
 * alone if another supervisor has adopted it, and leaves the pid file of another process.
 */
export async function endAnvil(node: AnvilProcess, paths: ChainPaths): Promise<void> {
  const { record } = node;
  const named = await readPidFile(paths);
  if (named?.pid === record.pid && named.keeper !== record.keeper) return;
  for (const [signal, patienceMs] of [
    ['SIGTERM', 2_000],
    ['SIGKILL', 5_000],
  ] as const) {
    if (!(await isNodeOf(record))) break;
    try {
      // It leads its own process group; if the program is a script that starts another, both must end.
      process.kill(-record.pid, signal);
    } catch {
      break;
    }
    const deadline = performance.now() + patienceMs;
    while (performance.now() < deadline && (await isNodeOf(record))) await sleep(10);
  }
  const last = await readPidFile(paths);
  if (!last || last.pid === record.pid) await rm(paths.pidFile, { force: true });
}

/** Kills at once, without waiting; leaves the process alone if another supervisor has adopted it. */
function endNow({ pid, keeper }: PidRecord, { pidFile }: ChainPaths): void {
  try {
    const named: PidRecord = JSON.parse(readFileSync(pidFile, 'utf8'));
    if (named.pid === pid && named.keeper === keeper) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended, or its owner is no longer known.
  }
}

async function isNodeOf(record: PidRecord): Promise<boolean> {
  if (record.pid === 0 || !processExists(record.pid)) return false;
  return (await commandLineOf(record.pid)).includes(argumentsOf(record));
}

/** Chain id and port are random, so only this process has both in its command line. */
function argumentsOf({ chainId, port }: PidRecord): string {
  return ` --chain-id ${chainId} --port ${port} `;
}

async function readPidFile({ pidFile }: ChainPaths): Promise<PidRecord | null> {
  try {
    const record: PidRecord = JSON.parse(await readFile(pidFile, 'utf8'));
    const { pid, port, chainId } = record;
    const numbers = [port, chainId, pid === 0 ? 1 : pid];
    return numbers.every((value) => Number.isSafeInteger(value) && value > 0) ? record : null;
  } catch {
    return null;
  }
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}
