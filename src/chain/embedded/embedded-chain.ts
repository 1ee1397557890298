/**
 * The embedded chain: an EVM chain inside the service, whose blocks, receipts and state are in PostgreSQL. A block exists
 * once it is committed there, with everything that follows from it. Development evidence only.
 */
import { mkdir } from 'node:fs/promises';
import type { Hex } from 'viem';
import type { Db } from '../../db/database.ts';
import { createWakeup, type Loop, type LoopLog, once, pause, repeating } from '../../runtime/loop.ts';
import { RpcFault } from '../rpc/json-rpc.ts';
import { blocksToFinality } from '../rules/finality.ts';
import type { RpcCall } from '../rules/rpc-call.ts';
import { createAnswers } from './answers/answers.ts';
import { faultOf, notReady } from './answers/faults.ts';
import { type CatchUpNeeds, catchUp, discardResults, engineName } from './catch-up.ts';
import { createEngine, type Engine, EngineFailure, isMissingNode } from './engine/engine.ts';
import { type BlockResult, type ParentBlock, parentOf } from './engine/protocol.ts';
import { openGateway } from './gateway.ts';
import { findGateway } from './gateway-file.ts';
import { type Alloc, newChain } from './genesis.ts';
import { type BlockRef, type Commit, createJournal, type JournalBlock } from './journal.ts';
import { createPace } from './pace.ts';
import { chainPaths } from './paths.ts';
import { createPool } from './pool.ts';
import { createResults } from './results/results.store.ts';

export interface EmbeddedChain {
  chainId: number;
  genesisHash: Hex;
  /** For this service only: goes before the calls of everyone else. */
  call: RpcCall;
  /** The address for everyone else. */
  gatewayUrl: string;
  /** The last block in the journal. */
  head(): BlockRef;
  /** Mines this transaction, with whatever else waits, into one block; resolves once the block is in the journal. */
  mine(rawTransaction: Hex): Promise<BlockRef>;
  /** Mines what waits, repairs what is damaged. */
  loop: Loop;
  enginePid(): number | null;
  /** Stop the loop first. */
  close(): Promise<void>;
}

export interface EmbeddedChainOptions {
  dataDir: string;
  db: Db;
  /** The commit of this node's term: refuses writes to the journal once the term has ended. */
  commit: Commit;
  /** Ends a start that executes many blocks, between two of them. */
  signal?: AbortSignal;
  log: LoopLog;
  /** Balances and code at block 0. Read only on the very first start, then stored. */
  alloc: Alloc;
  /** Called when the journal has a new block. */
  onBlock?(): void;
  /** How far rapid blocks, one second apart, may run ahead of the clock before mining slows down. */
  furthestAheadSeconds?: number;
}

const restMs = 250;
/** A block ends after two seconds; a single transaction may take that long again, or more on a busy machine. */
const buildTimeoutMs = 30_000;
const patienceAtStopMs = 5_000;
const mostTries = 10;

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
  const { db, commit, log, furthestAheadSeconds = 15 } = options;
  const began = performance.now();
  const journal = createJournal(db, commit);
  const results = createResults(db);
  const wakeup = createWakeup();
  const stopping = new AbortController();
  const birth = await journal.birth(() => newChain(options.alloc, new Date()));
  const { chainId } = birth;
  const paths = chainPaths(options.dataDir, chainId);
  await mkdir(paths.home, { recursive: true, mode: 0o700 });

  const ahead = new Map<string, Uint8Array>();
  const engine = createEngine({
    chainId,
    readNode: async (key) => ahead.get(Buffer.from(key).toString('hex')) ?? results.node(key),
    readBlockHash: results.blockHash,
    onLoss: (reason) => log.error({ reason }, 'the engine of the embedded chain was lost; starting another'),
  });
  const { signal = stopping.signal } = options;
  const needs: CatchUpNeeds = { ...birth, journal, results, engine, ahead, commit, signal, log };
  let head: ParentBlock;
  let genesisHash: Hex;
  let pace: ReturnType<typeof createPace>;
  try {
    head = await catchUp(needs);
    genesisHash = (await results.blockHash(0)) as Hex;
    pace = createPace(await journal.after(head.number - blocksToFinality, blocksToFinality));
  } catch (error) {
    await engine.close();
    throw error;
  }

  /** To be put right before anything else: the state lacks a node, or the journal has another head. */
  let amiss: 'state' | 'head' | null = null;
  /** For requests on the head's state, of which nothing may be missing; older states are pruned while they are read. */
  const watched: Engine = {
    ...engine,
    ask: (method, given, asked) =>
      engine.ask(method, given, asked).catch((error) => {
        const root = 'at' in given ? given.at.stateRoot : 'stateRoot' in given ? given.stateRoot : null;
        if (isMissingNode(error) && root === head.stateRoot) {
          amiss ??= 'state';
          wakeup.wake();
        }
        throw error;
      }),
  };
  const pool = createPool({
    head: () => head,
    check: (raw, { own }) =>
      watched.ask('check', { raw, stateRoot: head.stateRoot }, { first: own }).catch((error) => {
        throw faultOf(error, { sends: true });
      }),
    onAdded: wakeup.wake,
  });
  const answers = createAnswers({ chainId, clientVersion: engineName, results, engine: watched, pool });
  /** Built, and perhaps in the journal: nothing else is built until that is known. */
  let unsettled: BlockResult | null = null;
  const unavailable = () =>
    stopping.signal.aborted ? 'is being stopped' : amiss ? 'is being repaired' : null;

  async function answer(method: string, params: readonly unknown[], own: boolean): Promise<unknown> {
    const why = unavailable();
    if (why !== null) throw notReady(`the embedded chain ${why}`);
    return answers.answer(method, params, { own });
  }
  const gateway = await openGateway({
    paths,
    answer: (method, params) => answer(method, params, false),
  }).catch(async (error) => {
    await engine.close();
    throw error;
  });
  log.info(
    { pid: engine.pid(), chainId, head: head.number, durationMs: Math.round(performance.now() - began) },
    'embedded chain started',
  );

  /** Serializes everything that changes the chain. */
  let tail: Promise<unknown> = Promise.resolve();
  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = tail.then(() => {
      if (stopping.signal.aborted) throw new RpcFault('unreachable', 'the embedded chain is being stopped');
      return work();
    });
    tail = done.catch(() => {});
    return done;
  }

  async function restore(): Promise<void> {
    if (amiss === 'state') {
      // What a start looks at may all be there. Only once: catching up goes on where it was interrupted.
      await discardResults('the state lacks a node', needs);
      amiss = 'head';
    }
    if (amiss) {
      head = await catchUp(needs);
      amiss = null;
      options.onBlock?.();
    }
    await settle();
  }

  /**
   * Puts the built block into the journal. If the database connection breaks meanwhile, the commit may have succeeded or
   * not; repeating the call finds out, and changes nothing if it did.
   */
  async function settle(): Promise<void> {
    if (unsettled === null) return;
    const result = unsettled;
    const block: JournalBlock = { ...result, transactions: result.transactions.map(({ raw }) => raw) };
    if (!(await journal.append(block, result))) {
      // Another node leads, or somebody changed the table: what it has counts.
      unsettled = null;
      amiss = 'head';
      throw new RpcFault('unreachable', `another process wrote block ${block.number} into the journal`);
    }
    unsettled = null;
    head = parentOf(result);
    pool.settle(
      result.transactions.map(({ hash }) => hash),
      [],
    );
    pace.mined(block);
    options.onBlock?.();
  }

  /**
   * Builds and commits one block. Where a crash can happen, and what the next start finds:
   * - before the commit: the pool and the built block are lost, of which nobody was told; owners send again;
   * - after it: the block, its receipts and its state are in the database; owners find it there.
   */
  async function mineOne(): Promise<BlockResult> {
    await restore();
    const transactions = pool.candidates();
    const template = {
      parent: parentOf(head),
      timestampSeconds: await nextTimestamp(head.timestampSeconds),
      transactions,
      exact: false,
    };
    const { block, dropped } = await engine
      .ask('build', template, { first: true, timeoutMs: buildTimeoutMs })
      .catch((error) => {
        throw failed(error, transactions);
      });
    pool.acquit(transactions);
    for (const { hash, reason } of dropped) log.info({ hash, reason }, 'dropped a transaction');
    pool.settle(
      [],
      dropped.map(({ hash }) => hash),
    );
    unsettled = block;
    await settle();
    return block;
  }

  function failed(error: unknown, transactions: readonly Hex[]): unknown {
    if (isMissingNode(error)) amiss ??= 'state';
    if (error instanceof EngineFailure && error.kind === 'lost' && !stopping.signal.aborted) {
      for (const hash of pool.suspect(transactions)) {
        log.error({ hash }, 'dropped a transaction with which the engine was lost twice');
      }
    }
    return error instanceof EngineFailure ? faultOf(error, { sends: true }) : error;
  }

  /** The current time, but always later than the parent, even if the clock was set back by an hour. */
  async function nextTimestamp(parentSeconds: number): Promise<number> {
    const aheadSeconds = parentSeconds + 1 - Math.floor(Date.now() / 1000);
    if (aheadSeconds > furthestAheadSeconds) await pause(1_000, stopping.signal);
    return Math.max(parentSeconds + 1, Math.floor(Date.now() / 1000));
  }

  async function step(): Promise<boolean> {
    await restore();
    if (!pace.isDue(head, pool.size())) return false;
    // The next block takes what did not fit into this one.
    return (await mineOne()).transactions.length > 0;
  }

  return {
    chainId,
    genesisHash,
    call: (method, params) => answer(method, params, true),
    gatewayUrl: gateway.url,
    head: () => ({ number: head.number, hash: head.hash }),
    async mine(rawTransaction) {
      const hash = await pool.add(rawTransaction, { own: true });
      return inOrder(async () => {
        // The loop may have mined it meanwhile, and a block may be full without it.
        for (let tries = 0; pool.find(hash); tries += 1) {
          if (tries === mostTries) throw new RpcFault('refused', `no block takes the transaction ${hash}`);
          await mineOne();
        }
        return { number: head.number, hash: head.hash };
      });
    },
    loop: repeating({
      name: 'embedded-chain',
      step: () => inOrder(step),
      restMs,
      wakeup,
      longestStepMs: 120_000,
    }),
    enginePid: engine.pid,
    close: once(async () => {
      stopping.abort();
      await gateway.close();
      // Waits for a commit in progress, but not for an engine that hangs.
      const waited = new AbortController();
      await Promise.race([tail, pause(patienceAtStopMs, waited.signal)]);
      waited.abort();
      await engine.close();
      await tail;
    }),
  };
}
