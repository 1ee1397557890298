/** The embedded chain: a supervised anvil whose source of truth is the journal in PostgreSQL. Development evidence only. */
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import type { Hex } from 'viem';
import type { Db } from '../../db/database.ts';
import { createWakeup, type Loop, type LoopLog, once, pause, repeating } from '../../runtime/loop.ts';
import { createJsonRpc, RpcFault, rpcFaultOf } from '../rpc/json-rpc.ts';
import { blocksToFinality } from '../rules/finality.ts';
import { endAnvil } from './anvil-process.ts';
import { findAnvil } from './anvil-program.ts';
import { type Booted, type BootNeeds, boot } from './boot.ts';
import { keepDump } from './dumps.ts';
import { type Gateway, openGateway } from './gateway.ts';
import { findGateway } from './gateway-file.ts';
import { type Alloc, newChain } from './genesis.ts';
import { type BlockRef, type Commit, createJournal, type JournalBlock } from './journal.ts';
import { type MinedBlock, mineBlock, submit } from './miner.ts';
import { createPace } from './pace.ts';
import { chainPaths } from './paths.ts';
import { Mismatch } from './replay.ts';

export interface EmbeddedChain {
  chainId: number;
  genesisHash: Hex;
  /**
   * Where the node listens now, for this service only; the port may change on a restart. Null while the node is rebuilt:
   * a transaction sent during the replay would end up in one of the journal's blocks.
   */
  rpcUrl(): string | null;
  /** The address for everyone else. */
  gatewayUrl: string;
  /**
   * The last block in the journal. The node shows a block some milliseconds before it is committed, and a crash in
   * between discards it: confirmations must use this head, not the node's.
   */
  head(): BlockRef;
  /** Mines these and the rest of the pool into one block; resolves once the block is in the journal. */
  mine(rawTransactions: readonly Hex[]): Promise<MinedBlock>;
  /** Wakes the loop because the pool has a transaction. The loop also polls by itself. */
  mineSoon(): void;
  /** Keeps the node running, mines what enters the pool, and dumps the state now and then. */
  loop: Loop;
  /** Stops all work, but leaves the node running for the next start to adopt. Stop the loop first. */
  leave(): Promise<void>;
  /** Does what `leave` does, then ends the node unless another supervisor has adopted it. */
  stop(): Promise<void>;
}

export interface EmbeddedChainOptions {
  dataDir: string;
  db: Db;
  /** The commit of this node's term: refuses writes to the journal once the term has ended. */
  commit: Commit;
  log: LoopLog;
  /** Balances and code at block 0. Read only on the very first start, then stored. */
  alloc: Alloc;
  /** Called when the journal has a new block. */
  onBlock?(): void;
  /** Blocks and transactions after which a dump is due; a start replays at most about this many. */
  dumpAfter?: number;
  /** How far rapid blocks, one second apart, may run ahead of the clock before mining slows down. */
  furthestAheadSeconds?: number;
}

/** Dumps take longer as the chain grows (660 ms at 10,000 blocks), so they become rarer: one per fiftieth of its length. */
const dumpShare = 50;
const restMs = 250;
/** A node that does not answer for this long is ended and rebuilt. A dump of 10,000 blocks takes 660 ms. */
const callTimeoutMs = 30_000;
const maxAnswerBytes = 512 * 1024 * 1024;
const patienceAtStopMs = 5_000;

/** For commands: the gateway to this database's chain, if the leading service runs on this machine. */
export async function findEmbeddedChain(
  db: Db,
  dataDir: string,
): Promise<{ chainId: number; rpcUrl: string } | null> {
  const chainId = await createJournal(db).chainId();
  if (chainId === null) return null;
  const rpcUrl = await findGateway(chainPaths(dataDir, chainId));
  return rpcUrl === null ? null : { chainId, rpcUrl };
}

export async function startEmbeddedChain(options: EmbeddedChainOptions): Promise<EmbeddedChain> {
  const { log, dumpAfter = 200, furthestAheadSeconds = 15 } = options;
  const journal = createJournal(options.db, options.commit);
  const jsonRpc = createJsonRpc({ timeoutMs: callTimeoutMs, maxAnswerBytes });
  const wakeup = createWakeup();
  const stopping = new AbortController();

  let needs: BootNeeds;
  let current: Booted;
  let recent: JournalBlock[];
  let gateway: Gateway;
  let isWhole = true;
  const rpcUrl = () => (isWhole ? current.node.process.url : null);
  try {
    // Comes first, so that nothing is stored if anvil is missing.
    const program = await findAnvil();
    const birth = await journal.birth(() => newChain(options.alloc, new Date()));
    const paths = chainPaths(options.dataDir, birth.chainId);
    await mkdir(paths.home, { recursive: true, mode: 0o700 });
    needs = { ...birth, journal, paths, program, jsonRpc, log, keeper: randomUUID(), onExit: wakeup.wake };
    current = await bootAndTell({ adopt: true });
    recent = await journal.after(current.head.number - blocksToFinality, blocksToFinality);
    gateway = await openGateway({ paths, nodeUrl: rpcUrl, onTransaction: wakeup.wake });
  } catch (error) {
    await jsonRpc.close();
    throw error;
  }
  const genesisHash = current.node.process.record.genesisHash as Hex;
  /** Mined on the node, and perhaps in the journal: nothing else is mined until that is known. */
  let unsettled: MinedBlock | null = null;
  let suspect = false;
  const pace = createPace(recent);
  // Unknown for an adopted node, so a dump is due.
  let sinceDump = current.replayed ?? dumpAfter;

  /** Serializes everything that touches the node or the journal. */
  let tail: Promise<unknown> = Promise.resolve();
  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = tail.then(() => {
      if (stopping.signal.aborted) throw new RpcFault('unreachable', 'the embedded chain is being stopped');
      return work();
    });
    tail = done.catch(() => {});
    return done;
  }

  async function bootAndTell({ adopt }: { adopt: boolean }): Promise<Booted> {
    const began = performance.now();
    const booted = await boot(needs, { adopt });
    const { record } = booted.node.process;
    log.info(
      {
        pid: record.pid,
        port: record.port,
        chainId: needs.chainId,
        head: booted.head.number,
        from: booted.from,
        replayed: booted.replayed,
        durationMs: Math.round(performance.now() - began),
      },
      booted.replayed === null
        ? 'using the embedded chain that is already running'
        : 'embedded chain started',
    );
    return booted;
  }

  /** Ensures that the node runs and has the journal's blocks. */
  async function restore(): Promise<void> {
    const end = await current.node.process.ended();
    if (!suspect && end === null) return settle();
    log.error({ reason: end ?? 'it does not match the journal' }, 'rebuilding the embedded chain');
    isWhole = false;
    await endAnvil(current.node.process, needs.paths);
    // An uncommitted block is lost with the node, unless its commit succeeded after all: then boot reads it.
    current = await bootAndTell({ adopt: false });
    isWhole = true;
    unsettled = null;
    suspect = false;
    sinceDump = current.replayed ?? dumpAfter;
  }

  /**
   * Puts the mined block into the journal. If the database connection breaks meanwhile, the commit may have succeeded or
   * not; repeating the call finds out, and changes nothing if it did.
   */
  async function settle(): Promise<void> {
    if (unsettled === null) return;
    const block = unsettled;
    if (!(await journal.append(block))) {
      throw distrust(new Mismatch(`another process wrote block ${block.number} into the journal`));
    }
    unsettled = null;
    current.head = block;
    sinceDump += 1 + block.transactions.length;
    pace.mined(block);
    options.onBlock?.();
  }

  /** Has the node rebuilt before its next use; callers see a temporary outage. */
  function distrust(error: unknown): unknown {
    suspect = true;
    if (!(error instanceof Mismatch)) return error;
    return new RpcFault('unreachable', `the embedded chain is being rebuilt: ${error.message}`, {
      cause: error,
    });
  }

  /**
   * Mines one block. Where a crash can happen, and what the next start finds:
   * - before mining: the pool is lost; the owners of transactions send them again;
   * - mined, not committed: nobody was told, head() did not move. An orphaned node has one block more than the journal,
   *   so it is not adopted, and the chain is rebuilt without that block; owners send again;
   * - committed, but nobody told yet: the block is in the journal and in the rebuilt chain; owners find it there.
   */
  async function mineOne(rawTransactions: readonly Hex[]): Promise<MinedBlock> {
    await restore();
    const { node, head } = current;
    await submit(node.rpc, rawTransactions).catch((error) => {
      throw rpcFaultOf(error)?.kind === 'unreachable' ? distrust(error) : error;
    });
    const timestampSeconds = await nextTimestamp(head.timestampSeconds);
    // Without an answer the block may exist or not, and a block that does not fit cannot be kept.
    const template = { parent: head, timestampSeconds, submitted: rawTransactions };
    const block = await mineBlock(node.rpc, template).catch((error) => {
      throw distrust(error);
    });
    unsettled = block;
    await settle();
    return block;
  }

  /** The current time, but always later than the parent, even if the clock was set back by an hour. */
  async function nextTimestamp(parentSeconds: number): Promise<number> {
    const ahead = parentSeconds + 1 - Math.floor(Date.now() / 1000);
    if (ahead > furthestAheadSeconds) await pause(1_000, stopping.signal);
    return Math.max(parentSeconds + 1, Math.floor(Date.now() / 1000));
  }

  async function dumpIfDue(): Promise<void> {
    if (sinceDump < Math.max(dumpAfter, current.head.number / dumpShare)) return;
    // Reset even if the dump fails, so that it is not retried with every block.
    sinceDump = 0;
    try {
      // inOrder guarantees that no block is being mined: the dump would be torn.
      await keepDump(await current.node.rpc.dumpState(), current.head, needs.paths);
    } catch (error) {
      log.error({ err: error }, 'could not dump the embedded chain; the next start takes longer');
    }
  }

  async function step(): Promise<boolean> {
    await restore();
    const { node, head } = current;
    const [latest, poolSize] = await Promise.all([node.rpc.block('latest'), node.rpc.poolSize()]).catch(
      (error) => {
        throw distrust(error);
      },
    );
    if (latest?.hash !== head.hash) {
      // Someone else mined on it, reverted it or reset it.
      throw distrust(
        new Mismatch(`its head is block ${latest?.number} ${latest?.hash}, not that of the journal`),
      );
    }
    const block = pace.isDue(head, poolSize) ? await mineOne([]) : null;
    await dumpIfDue();
    // The next block takes what did not fit into this one.
    return block !== null && block.transactions.length > 0;
  }

  const leave = once(async () => {
    stopping.abort();
    await gateway.close();
    // Waits for a commit in progress, but not for a node that hangs.
    const waited = new AbortController();
    await Promise.race([tail, pause(patienceAtStopMs, waited.signal)]);
    waited.abort();
  });

  return {
    chainId: needs.chainId,
    genesisHash,
    rpcUrl,
    gatewayUrl: gateway.url,
    head: () => ({ number: current.head.number, hash: current.head.hash }),
    mine: (rawTransactions) => inOrder(() => mineOne(rawTransactions)),
    mineSoon: wakeup.wake,
    loop: repeating({
      name: 'embedded-chain',
      step: () => inOrder(step),
      restMs,
      wakeup,
      longestStepMs: 120_000,
    }),
    leave,
    stop: once(async () => {
      await leave();
      await endAnvil(current.node.process, needs.paths);
      await tail;
      // It is another process now if the node was just being rebuilt.
      await endAnvil(current.node.process, needs.paths);
      await jsonRpc.close();
    }),
  };
}
