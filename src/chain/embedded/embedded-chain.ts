/** The embedded chain: anvil under supervision, with the journal in PostgreSQL as the truth. Development evidence only. */
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
   * Where the node listens now, for this service alone; the port may change when it is restarted. Null while it is made
   * again: a transaction that came between the blocks of the journal would end in one of them.
   */
  rpcUrl(): string | null;
  /** Where others may ask it. */
  gatewayUrl: string;
  /**
   * The last block that the journal has. The node shows a block some milliseconds before it is committed, and a crash
   * in between takes it back: whoever confirms anything goes by this head and not by the node's.
   */
  head(): BlockRef;
  /** Mines these and what else is in the pool into one block; resolves once the journal has it. */
  mine(rawTransactions: readonly Hex[]): Promise<MinedBlock>;
  /** Wakes the loop: there is something in the pool. It looks by itself too. */
  mineSoon(): void;
  /** Keeps the node up, mines what comes into the pool, and dumps now and then. */
  loop: Loop;
  /** Does nothing any more, but lets the node run, for the next start to adopt. Stop the loop before. */
  leave(): Promise<void>;
  /** Leaves it, and ends the node unless somebody adopted it since. */
  stop(): Promise<void>;
}

export interface EmbeddedChainOptions {
  dataDir: string;
  db: Db;
  /** Of the term in which this node leads: writes to the journal are refused after it. */
  commit: Commit;
  log: LoopLog;
  /** Who has money at block 0, and which code is there. Read at the very first start only, and stored. */
  alloc: Alloc;
  /** Called when the journal has another block. */
  onBlock?(): void;
  /** Blocks and transactions after which a dump is due; a start mines at most about so many again. */
  dumpAfter?: number;
  /** How far blocks that come fast may run ahead of the clock, at one second each, before mining slows down. */
  furthestAheadSeconds?: number;
}

/** Dumps take longer the longer the chain is (660 ms at 10,000 blocks): they get rarer, to a fiftieth of its length. */
const dumpShare = 50;
const restMs = 250;
/** A node that does not answer for so long is ended and made again. A dump of 10,000 blocks takes 660 ms. */
const callTimeoutMs = 30_000;
const maxAnswerBytes = 512 * 1024 * 1024;
const patienceAtStopMs = 5_000;

/** For a command beside the service: the gateway to the chain of this database, if the service that leads runs here. */
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
    // First, so that nothing is stored where there is none.
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
  /** Mined on the node, and perhaps in the journal: nothing is mined before that is known. */
  let unsettled: MinedBlock | null = null;
  let suspect = false;
  const pace = createPace(recent);
  // Of an adopted node it is not known.
  let sinceDump = current.replayed ?? dumpAfter;

  /** Everything that touches node or journal, one after the other. */
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

  /** A node that runs and has what the journal has. */
  async function restore(): Promise<void> {
    const end = await current.node.process.ended();
    if (!suspect && end === null) return settle();
    log.error({ reason: end ?? 'it does not match the journal' }, 'rebuilding the embedded chain');
    isWhole = false;
    await endAnvil(current.node.process, needs.paths);
    // What was mined and not committed goes with the node, unless the commit came through after all: boot reads it.
    current = await bootAndTell({ adopt: false });
    isWhole = true;
    unsettled = null;
    suspect = false;
    sinceDump = current.replayed ?? dumpAfter;
  }

  /**
   * Puts the mined block into the journal. When the database goes away in the middle, the commit may have come through
   * or not; the same call later finds out and changes nothing if it did.
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

  /** The node is made again before it is used next; for callers that is an outage which passes. */
  function distrust(error: unknown): unknown {
    suspect = true;
    if (!(error instanceof Mismatch)) return error;
    return new RpcFault('unreachable', `the embedded chain is being rebuilt: ${error.message}`, {
      cause: error,
    });
  }

  /**
   * One block. Where a crash can happen, and what the next start finds:
   * - before the node mined: the pool is gone; owners of transactions send them again;
   * - mined, not committed: nobody was told, head() did not move. An orphaned node has one block more than the journal,
   *   is therefore not adopted, and the chain is made again without it; owners send again;
   * - committed, nobody told yet: the journal has it, the chain is made with it; owners find it when they look.
   */
  async function mineOne(rawTransactions: readonly Hex[]): Promise<MinedBlock> {
    await restore();
    const { node, head } = current;
    await submit(node.rpc, rawTransactions).catch((error) => {
      throw rpcFaultOf(error)?.kind === 'unreachable' ? distrust(error) : error;
    });
    const timestampSeconds = await nextTimestamp(head.timestampSeconds);
    // Without an answer the block may be there or not, and one that does not fit is none that we can keep.
    const template = { parent: head, timestampSeconds, submitted: rawTransactions };
    const block = await mineBlock(node.rpc, template).catch((error) => {
      throw distrust(error);
    });
    unsettled = block;
    await settle();
    return block;
  }

  /** The clock, but always later than the parent; the clock may also have been set back by an hour. */
  async function nextTimestamp(parentSeconds: number): Promise<number> {
    const ahead = parentSeconds + 1 - Math.floor(Date.now() / 1000);
    if (ahead > furthestAheadSeconds) await pause(1_000, stopping.signal);
    return Math.max(parentSeconds + 1, Math.floor(Date.now() / 1000));
  }

  async function dumpIfDue(): Promise<void> {
    if (sinceDump < Math.max(dumpAfter, current.head.number / dumpShare)) return;
    // Also when it fails, so that it is not tried with every block.
    sinceDump = 0;
    try {
      // Between mines, which inOrder guarantees: during one the dump would be torn.
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
      // Somebody else mined on it, reverted or reset it.
      throw distrust(
        new Mismatch(`its head is block ${latest?.number} ${latest?.hash}, not that of the journal`),
      );
    }
    const block = pace.isDue(head, poolSize) ? await mineOne([]) : null;
    await dumpIfDue();
    // What did not fit into the block is next.
    return block !== null && block.transactions.length > 0;
  }

  const leave = once(async () => {
    stopping.abort();
    await gateway.close();
    // A commit that is under way is waited for; a node that hangs is not.
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
      // Another one, if it was just being made again.
      await endAnvil(current.node.process, needs.paths);
      await jsonRpc.close();
    }),
  };
}
