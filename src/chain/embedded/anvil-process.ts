/** The anvil process of a chain: started in a session of its own, known by its pid file and proof, ended by its pid. */
import { spawn } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { open, readFile, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hex } from 'viem';
import { choosePort } from '../../db/embedded/port.ts';
import { processExists } from '../../db/embedded/postmaster.ts';
import type { ChainPaths } from './paths.ts';
import { commandLineOf, executableOf, findByCommandLine } from './process-proof.ts';

/** What the pid file says. The last two are known once the node answers. */
export interface PidRecord {
  /** 0 until it is known: whoever is killed in that moment has said what to look for. */
  pid: number;
  port: number;
  chainId: number;
  /** The program we started, as findAnvil named it. */
  program: string;
  /** Who minds it: another one for each that started or adopted it. */
  keeper: string;
  /** What the system says that runs there: another file when the program is a script. */
  executable?: string | null;
  genesisHash?: Hex;
}

export interface AnvilProcess {
  record: PidRecord;
  url: string;
  /** Null while it runs; for one we did not start ourselves, looks at the system. */
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
 * The flags were measured: under automine a tenth of the dumps were torn; the default history left 1.1 GB at 3,000
 * blocks; `--prune-history` without a number breaks reorgs; CORS is open by default; `--state` dumps at moments of
 * its own choice. Accounts come from the genesis alone.
 */
const flags = [
  ...['--host', '127.0.0.1', '--no-cors', '--accounts', '0', '--disable-default-create2-deployer'],
  ...['--no-mining', '--order', 'fifo', '--hardfork', 'prague', '--base-fee', '1000000000'],
  ...['--prune-history', '64', '--slots-in-an-epoch', '1', '--quiet'],
];

/** The port of the last start if it is free, so that what others were told stays true; else any free one. */
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
      // Nothing of our own environment, which may hold secrets; its home is here, or it would write to the user's.
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: paths.home },
      // In a session of its own, neither Ctrl-C nor a kill of our process group takes it along.
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    child.unref();
    // Whoever stops in order ends it before; this is for a process that ends because something else took too long.
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

/** Completes the pid file once the node answers, or is adopted; a node without that is never adopted. */
export async function confirmPidFile(
  node: AnvilProcess,
  { genesisHash, keeper }: { genesisHash: Hex; keeper: string },
  paths: ChainPaths,
): Promise<void> {
  node.record = { ...node.record, executable: await executableOf(node.record.pid), genesisHash, keeper };
  writePidFile(node.record, paths);
}

/** Whole or not at all, and at once: the process may be killed at any time. */
function writePidFile(record: PidRecord, { pidFile }: ChainPaths): void {
  const draft = `${pidFile}.new`;
  writeFileSync(draft, JSON.stringify(record), { mode: 0o600 });
  renameSync(draft, pidFile);
}

/** The process that the pid file names, if it provably is a node of this chain. Its port proves nothing. */
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
 * Ends the process and what it started, and returns once it is gone. There is nothing in it that could be lost. One that
 * somebody else adopted since is left alone, and so is the pid file of another.
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
      // It leads a process group of its own; where the program is a script that starts another, both have to go.
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

/** At once, without waiting; one that somebody else adopted since is left alone. */
function endNow({ pid, keeper }: PidRecord, { pidFile }: ChainPaths): void {
  try {
    const named: PidRecord = JSON.parse(readFileSync(pidFile, 'utf8'));
    if (named.pid === pid && named.keeper === keeper) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended, or nobody knows any more whose it is.
  }
}

async function isNodeOf(record: PidRecord): Promise<boolean> {
  if (record.pid === 0 || !processExists(record.pid)) return false;
  return (await commandLineOf(record.pid)).includes(argumentsOf(record));
}

/** Chain id and port are random, and stand in the command line of this one process of all. */
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
