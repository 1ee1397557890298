/**
 * Assembles what works on the chain: its lead, and the loops that anchor, send, index and announce while this node leads.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Metric } from 'prom-client';
import { type Address, parseGwei } from 'viem';
import { announcerLoop } from '../anchoring/announcer.loop.ts';
import { type AnnouncerDeps, type Confirmations, createAnnouncer } from '../anchoring/announcer.ts';
import type { Archive } from '../anchoring/archive/archive.ts';
import { createBatchThread } from '../anchoring/batching/batch-thread.ts';
import { batcherLoop } from '../anchoring/batching/batcher.loop.ts';
import { createBatcher } from '../anchoring/batching/batcher.ts';
import { applyOutcomes, vaultsOfAnchors } from '../anchoring/batching/batches.ts';
import { createInclusions } from '../anchoring/evidence/inclusions.ts';
import type { PlannedStamp } from '../anchoring/evidence/renewal-rule.ts';
import { createHistoryProofs, type HistoryProofs } from '../anchoring/history-proofs.ts';
import { anchoredHoursLoop } from '../anchoring/leaves/anchored-hours.ts';
import { createManyProofs, type ManyProofs } from '../anchoring/many-proofs.ts';
import { createChainMetrics } from '../anchoring/metrics.ts';
import { createProofs, type Proofs } from '../anchoring/proofs.ts';
import type { Chain, Lead } from '../chain/chain.ts';
import { indexerLoop } from '../chain/indexer/indexer.loop.ts';
import { createIndexer } from '../chain/indexer/indexer.ts';
import { createChainLead } from '../chain/lead/lead.ts';
import { createReadingChain } from '../chain/reading-chain.ts';
import { registryAddress } from '../chain/registry/registry.ts';
import { isRetryable, rpcFaultOf } from '../chain/rpc/json-rpc.ts';
import type { RpcCall } from '../chain/rules/rpc-call.ts';
import { hasOpen } from '../chain/sender/outgoing.store.ts';
import { senderLoop } from '../chain/sender/sender.loop.ts';
import { createSender, type SenderStatus } from '../chain/sender/sender.ts';
import type { Config } from '../config/config.ts';
import type { Db } from '../db/database.ts';
import type { Keyring } from '../keys/keyring.ts';
import { openServiceAccount } from '../keys/service-account.ts';
import { type Changes, createWakeup, type Loop, type Wakeup } from '../runtime/loop.ts';
import { moveAhead } from './lost-commits.ts';

export interface OnChain {
  /** Null while another node leads, or the chain cannot be reached. */
  lead(): Lead | null;
  /** Built from the database alone, on any node. */
  proofs: Proofs;
  /** The same, page by page. */
  historyProofs: HistoryProofs;
  /** The same, for exports. */
  manyProofs: ManyProofs;
  loops: Loop[];
  metrics: Metric[];
  /** The chain for reading; null if this node neither has it open nor is opening it. */
  openChain(): Promise<Chain | null>;
  /** Reads from the chain, also on a node that does not lead; null while no chain is available. */
  call(): Promise<RpcCall | null>;
  registry: Address;
  /** The account that pays for anchors. */
  submitter(): Promise<{ address: Address }>;
  /** What the sender of this node waits for. */
  senderStatus(): SenderStatus;
  close(): Promise<void>;
}

export interface OnChainDeps {
  /** For requests. */
  db: Db;
  /** For anchoring, with connections that no request takes. */
  ownDb: Db;
  connection(): pg.ClientConfig;
  keyring: Keyring;
  archive: Archive;
  confirmations: Confirmations;
  placeEvents: AnnouncerDeps['placeEvents'];
  countSubscribers: AnnouncerDeps['countSubscribers'];
  eventWakeup: Pick<Wakeup, 'wake'>;
  /** Not null if a timestamp authority will be asked for a token of a batch that is made now. */
  plannedStamp(): PlannedStamp | null;
  changes: Changes & { ignore(transactionId: number): void };
  log: Logger;
}

/** No more often than blocks come; the embedded chain tells of each block. */
const lookForBlocksMs = 1_000;

export function createOnChain(config: Config, deps: OnChainDeps): OnChain {
  const { db, ownDb, connection, keyring, archive, confirmations, placeEvents } = deps;
  const { countSubscribers, eventWakeup, plannedStamp, changes, log } = deps;
  const senderWakeup = createWakeup();
  const blockWakeup = createWakeup();
  const confirmedWakeup = createWakeup();

  const { lead, openChain, ...chainLead } = createChainLead({
    config: config.chain,
    dataDir: config.dataDir,
    db: ownDb,
    connection,
    keyring,
    log,
    onLead() {
      senderWakeup.wake();
      blockWakeup.wake();
    },
    onBlock: blockWakeup.wake,
    onSign: changes.ignore,
  });
  const reading = createReadingChain({ db, rpcUrls: config.chain.rpcUrls, dataDir: config.dataDir });
  // Separate threads, so that a rush of proofs from large batches does not delay the next batch. Each starts when needed.
  const batchThread = createBatchThread();
  const proofThread = createBatchThread();
  const manyProofs = createManyProofs({ db, thread: proofThread, log });
  const submitter = remembered(() => openServiceAccount(ownDb, keyring, 'submitter'));
  const sender = createSender({
    submitter,
    applyOutcomes,
    onLostNonces: moveAhead,
    log,
    maxFeePerGasWei: parseGwei(String(config.chain.feeCapGwei)),
  });
  const batcher = createBatcher({
    ...{ db: ownDb, keyring, thread: batchThread, sender, senderWakeup, plannedStamp, log },
  });
  const inclusions = createInclusions({ db: ownDb, log });
  const indexer = createIndexer({ db: ownDb, sender, vaultsOfAnchors, log, onIndexed: confirmedWakeup.wake });
  const announcer = createAnnouncer({
    ...{
      db: ownDb,
      confirmations,
      placeEvents,
      countSubscribers,
      eventWakeup,
      readInclusion: inclusions.read,
    },
  });

  /** Retries on the new chain if this one was closed because the lead was lost, and has been reopened. */
  async function readFrom(chain: Chain, asked: { method: string; params: readonly unknown[] }) {
    try {
      return await chain.client.request(asked as never);
    } catch (error) {
      const next = isRetryable(error) ? await openChain() : null;
      if (next === null || next === chain) throw error;
      return next.client.request(asked as never);
    }
  }

  return {
    lead,
    openChain,
    async call() {
      if (config.chain.rpcUrls.length > 0) return reading.call();
      const chain = await openChain();
      return chain ? (method, params) => readFrom(chain, { method, params }) : reading.call();
    },
    registry: config.chain.registryAddress ?? registryAddress,
    proofs: createProofs({ db, thread: proofThread, log, archive }),
    historyProofs: createHistoryProofs({ db, manyProofs }),
    manyProofs,
    submitter,
    senderStatus: sender.status,
    metrics: createChainMetrics({ db, lead, senderStatus: sender.status, submitter }),
    // Requests need none of these: what is accepted while the chain is unavailable stays pending.
    loops: [
      chainLead.loop,
      batcherLoop(batcher, { lead, intervalMs: config.chain.anchorIntervalMs, changes }),
      senderLoop(sender, { lead, wakeup: senderWakeup, changes, hasOpen: () => hasOpen(ownDb) }),
      indexerLoop({
        indexer,
        lead,
        wakeup: blockWakeup,
        restMs: lookForBlocksMs,
      }),
      announcerLoop(announcer, { lead, inclusions, wakeup: confirmedWakeup, changes }),
      anchoredHoursLoop(ownDb),
    ].map(dispensable),
    async close() {
      await chainLead.close();
      await reading.close();
      await batchThread.close();
      await proofThread.close();
    },
  };
}

/** Reports chain failures with the message of the RPC fault, without the client library's wrapping. */
function dispensable(loop: Loop): Loop {
  return {
    ...loop,
    dispensable: true,
    run: (signal, beat) =>
      loop.run(signal, beat).catch((error) => {
        throw rpcFaultOf(error) ?? error;
      }),
  };
}

/** Retries until the call succeeds, then caches the result. */
function remembered<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | null = null;
  return () => {
    answer ??= ask().catch((error) => {
      answer = null;
      throw error;
    });
    return answer;
  };
}
