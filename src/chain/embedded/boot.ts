/** Brings up a node with exactly the blocks of the journal: adopts a running one, or builds one from dump and journal. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError } from '../../runtime/errors.ts';
import type { LoopLog } from '../../runtime/loop.ts';
import { isRetryable, type JsonRpc, rpcFaultOf } from '../rpc/json-rpc.ts';
import {
  type AnvilProcess,
  confirmPidFile,
  endAnvil,
  findAnvilProcess,
  startAnvil,
} from './anvil-process.ts';
import { type AnvilRpc, createAnvilRpc } from './anvil-rpc.ts';
import { type Dump, dropDump, listDumps, unpackDump } from './dumps.ts';
import type { Journal, JournalBlock } from './journal.ts';
import type { ChainPaths } from './paths.ts';
import { executableOf } from './process-proof.ts';
import { Mismatch, replay } from './replay.ts';

export interface AnvilNode {
  process: AnvilProcess;
  rpc: AnvilRpc;
}

export interface BootNeeds {
  journal: Journal;
  paths: ChainPaths;
  chainId: number;
  genesis: string;
  /** The anvil version that made the chain, for the message when it cannot be rebuilt. */
  madeBy: string | null;
  program: string;
  jsonRpc: JsonRpc;
  log: LoopLog;
  /** Identifies this start; see the pid file. */
  keeper: string;
  onExit(): void;
}

export interface Booted {
  node: AnvilNode;
  /** The last block of the journal, which is the node's head. */
  head: JournalBlock;
  /** Number of blocks that were replayed on top of the dump; null for an adopted node. */
  replayed: number | null;
  /** The block of that dump; 0 for the genesis. */
  from: number;
}

/** A state of 10,000 blocks loads in about a second; an emulated node takes ten times as long. */
const longestStartMs = 120_000;
const mostPortTries = 5;

/**
 * The sequence of a start and of every restart. A kill at any point leaves a state from which the next start can begin:
 * a journal that was only read (except for block 0), dumps that were only read, and perhaps a process that the pid file
 * names, which the next start ends because it does not match the journal yet.
 */
export async function boot(needs: BootNeeds, { adopt }: { adopt: boolean }): Promise<Booted> {
  const { journal, paths, chainId, log } = needs;
  const head = await journal.head();
  const running = await findAnvilProcess(paths, chainId);
  if (running) {
    const node = nodeOf(running, needs);
    if (adopt && head && (await isWhatWeLeft(node, head, needs))) {
      const { genesisHash = head.hash } = running.record;
      await confirmPidFile(running, { genesisHash, keeper: needs.keeper }, paths);
      return { node, head, replayed: null, from: head.number };
    }
    log.info({ pid: running.record.pid }, 'stopping a leftover node of the embedded chain');
    await endAnvil(running, paths);
  }
  return rebuild(head, needs);
}

/** Pid file and command line are already verified; checks that the rest matches too. */
async function isWhatWeLeft(
  { process, rpc }: AnvilNode,
  head: JournalBlock,
  needs: BootNeeds,
): Promise<boolean> {
  const { record } = process;
  if (record.program !== needs.program || record.executable === undefined) return false;
  if (record.executable !== (await executableOf(record.pid))) return false;
  try {
    const first = await needs.journal.block(0);
    const [chainId, genesis, latest] = await Promise.all([rpc.chainId(), rpc.block(0), rpc.block('latest')]);
    return (
      chainId === needs.chainId &&
      genesis?.hash === first?.hash &&
      genesis?.hash === record.genesisHash &&
      // An extra block was mined but not committed: nobody has been told of it, so it is discarded.
      latest?.hash === head.hash
    );
  } catch (error) {
    if (rpcFaultOf(error)) return false;
    throw error;
  }
}

async function rebuild(head: JournalBlock | null, needs: BootNeeds): Promise<Booted> {
  const { paths, journal, log } = needs;
  await writeGenesis(needs);
  const useless: Dump[] = [];
  for (const dump of head ? await listDumps(paths) : []) {
    try {
      // A dump that is not in the journal is newer than the database, which was perhaps restored from a backup.
      if ((await journal.block(dump.number))?.hash !== dump.hash) throw new Mismatch('not in the journal');
      await unpackDump(dump, paths).catch((cause) => {
        throw new Mismatch(`not readable: ${cause.message}`);
      });
      const booted = await makeFrom(dump, needs);
      await Promise.all(useless.map(dropDump));
      return booted;
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
      log.error({ dump: dump.file, reason: error.message }, 'cannot use a dump of the embedded chain');
      useless.push(dump);
    } finally {
      await rm(paths.loadFile, { force: true });
    }
  }
  try {
    const booted = await makeFrom(null, needs);
    await Promise.all(useless.map(dropDump));
    return booted;
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    throw new OperatorError(
      `The embedded chain cannot be rebuilt from its journal: ${error.message}. ` +
        `It was created by ${needs.madeBy ?? 'an unknown anvil'}. Either the tables embedded_chain and ` +
        'embedded_chain_blocks were changed, or another version of anvil is installed. Nothing was changed: restore what was there before.',
      { cause: error },
    );
  }
}

async function makeFrom(dump: Dump | null, needs: BootNeeds): Promise<Booted> {
  const node = await startNode(dump, needs);
  try {
    const first = await requireGenesis(node, needs);
    const start = dump ? await needs.journal.block(dump.number) : first;
    if (!start) throw new Mismatch('the journal has no block to begin with');
    const latest = await node.rpc.block('latest');
    if (latest?.hash !== start.hash) {
      throw new Mismatch(
        `the node begins with block ${latest?.number} ${latest?.hash}, not with ${start.hash}`,
      );
    }
    const head = await replay(node.rpc, start, needs.journal);
    await node.rpc.setTime(Math.max(head.timestampSeconds, Math.floor(Date.now() / 1000)));
    await confirmPidFile(node.process, { genesisHash: first.hash, keeper: needs.keeper }, needs.paths);
    return { node, head, replayed: head.number - start.number, from: start.number };
  } catch (error) {
    await endAnvil(node.process, needs.paths);
    throw error;
  }
}

/** Requires that the node's block 0 is the journal's; on the very first start, stores it in the journal. */
async function requireGenesis({ rpc }: AnvilNode, { journal, chainId }: BootNeeds): Promise<JournalBlock> {
  const genesis = await rpc.block(0);
  if (!genesis || (await rpc.chainId()) !== chainId) throw new Mismatch('the node has another chain id');
  const stored = await journal.block(0);
  if (stored && stored.hash !== genesis.hash) {
    throw new Mismatch(`block 0 should have the hash ${stored.hash}, but has ${genesis.hash}`);
  }
  if (stored) return stored;
  const { number, hash, parentHash, timestampSeconds } = genesis;
  const first = { number, hash, parentHash, timestampSeconds, transactions: [] };
  await journal.begin(first, await rpc.version());
  return first;
}

async function startNode(dump: Dump | null, needs: BootNeeds): Promise<AnvilNode> {
  const { paths, program, chainId, keeper, onExit } = needs;
  const from = dump ? (['--load-state', paths.loadFile] as const) : (['--init', paths.genesisFile] as const);
  for (let tries = 1; ; tries += 1) {
    const process = await startAnvil({ program, chainId, from, paths, keeper, onExit });
    const node = nodeOf(process, needs);
    const trouble = await untilItAnswers(node);
    if (trouble === null) return node;
    await endAnvil(process, paths);
    const output = (await readFile(paths.logFile, 'utf8').catch(() => '')).trim().slice(-2_000);
    // Another process took the port between our choice and anvil's start.
    if (/address (already )?in use/i.test(output) && tries < mostPortTries) continue;
    const story = `anvil did not start: ${trouble}${output && `\n${output}`}`;
    throw dump ? new Mismatch(story) : new OperatorError(story);
  }
}

/** Null once our process answers. Another process on the port would answer too, so an ended process outweighs an answer. */
async function untilItAnswers({ process, rpc }: AnvilNode): Promise<string | null> {
  const deadline = performance.now() + longestStartMs;
  while (performance.now() < deadline) {
    const answered = await rpc.chainId().then(
      () => true,
      (error) => {
        if (isRetryable(error)) return false;
        throw error;
      },
    );
    const end = await process.ended();
    if (end !== null) return end;
    if (answered) return null;
    await sleep(10);
  }
  return `no answer within ${longestStartMs / 1000} s`;
}

function nodeOf(process: AnvilProcess, { jsonRpc }: BootNeeds): AnvilNode {
  return { process, rpc: createAnvilRpc(jsonRpc, process.url) };
}

async function writeGenesis({ paths, genesis }: BootNeeds): Promise<void> {
  await writeFile(paths.genesisFile, genesis, { mode: 0o600 });
}
