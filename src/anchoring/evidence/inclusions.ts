/**
 * Reads the block header and the receipt path of confirmed batches while the node still has the block, so that their
 * proofs need no node later. A node that fails delays nothing: what could not be read in time is read later.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Lead } from '../../chain/chain.ts';
import { type BuiltInclusion, buildInclusion } from '../../chain/registry/inclusion.ts';
import { rpcFaultOf } from '../../chain/rpc/json-rpc.ts';
import { fromBytea, type HexText, toBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import type { LoopLog } from '../../runtime/loop.ts';

export interface Inclusions {
  /** For a batch that is about to be announced. Never fails because of the node, and waits at most a second for it. */
  read(lead: Lead, batchId: number): Promise<void>;
  /** Reads one of those that are missing, unless the last try was just now; true when there may be more. */
  catchUp(lead: Lead): Promise<boolean>;
}

export interface InclusionsDeps {
  db: Db;
  log: Pick<LoopLog, 'info'>;
  /** Milliseconds; only differences count. */
  now?(): number;
  patienceMs?: number;
}

interface ConfirmedBatch {
  id: number;
  block_hash: Buffer;
  transaction_hash: Buffer;
}

export function createInclusions(deps: InclusionsDeps): Inclusions {
  const { db, log, now = () => performance.now(), patienceMs = 1_000 } = deps;
  // New batches and missed ones pause by themselves: a block that no node has must not hold up the others.
  const newOnes = createPause(now);
  const missedOnes = createPause(now);
  let epoch: number | null = null;
  let mayMiss = true;
  let lookedAt = Number.NEGATIVE_INFINITY;
  /** How far the current round over the missed ones has come. */
  let lastId = 0;

  /** False when the node did not give it. */
  async function take(lead: Lead, batch: ConfirmedBatch, pause: Pause): Promise<boolean> {
    const call = (method: string, params: readonly unknown[]) =>
      lead.chain.client.request({ method, params } as never) as Promise<unknown>;
    const asked = buildInclusion(call, {
      blockHash: fromBytea(batch.block_hash),
      transactionHash: fromBytea(batch.transaction_hash),
    });
    const built = await within(patienceMs, asked).catch((error: Error) => error);
    if (built instanceof Error) {
      const { message } = rpcFaultOf(built) ?? built;
      log.info({ batch: batch.id, error: message }, 'could not read the block of a batch; will try again');
      pause.begin();
      return false;
    }
    pause.end();
    if (built.inclusion === null) {
      const { reason } = built;
      log.info({ batch: batch.id, reason }, 'the proofs of a batch will need a node: its block is unusual');
    }
    await lead.term.commit((db) => store(db, batch, built));
    return true;
  }

  return {
    async read(lead, batchId) {
      const isLater = newOnes.isOn();
      const [batch] = isLater ? [] : await findMissing(db, sql`id = ${batchId}`);
      if (isLater || (batch && !(await take(lead, batch, newOnes)))) mayMiss = true;
    },

    async catchUp(lead) {
      // Another node may have left something.
      if (lead.term.epoch !== epoch) mayMiss = true;
      epoch = lead.term.epoch;
      // A batch without leaves is not announced.
      if (now() - lookedAt >= lookEveryMs) mayMiss = true;
      if (!mayMiss || missedOnes.isOn()) return false;
      lookedAt = now();
      const [next] = await findMissing(db, sql`id > ${lastId}`);
      // At the end of a round, the next one begins.
      const [batch] = next || lastId === 0 ? [next] : await findMissing(db, sql`true`);
      lastId = batch?.id ?? 0;
      mayMiss = batch !== undefined;
      return batch !== undefined && take(lead, batch, missedOnes);
    },
  };
}

const lookEveryMs = 60_000;

interface Pause {
  begin(): void;
  end(): void;
  isOn(): boolean;
}

const firstPauseMs = 5_000;
const longestPauseMs = 300_000;

/** Each one is twice as long as the one before, until a try succeeds. */
function createPause(now: () => number): Pause {
  let nextMs = firstPauseMs;
  let until = Number.NEGATIVE_INFINITY;
  return {
    begin() {
      until = now() + nextMs;
      nextMs = Math.min(2 * nextMs, longestPauseMs);
    },
    end() {
      nextMs = firstPauseMs;
    },
    isOn: () => now() < until,
  };
}

/** Whether the batch with this root is confirmed, and what proofs need of its block is still to be read. */
export async function awaitsInclusion(db: Db, root: HexText): Promise<boolean> {
  return (await findMissing(db, sql`root = ${toBytea(root)}`)).length > 0;
}

/** At most one. */
async function findMissing(db: Db, which: RawBuilder<unknown>): Promise<ConfirmedBatch[]> {
  const { rows } = await sql<ConfirmedBatch>`
    select id, block_hash, transaction_hash from anchor_batches
    where block_number is not null and inclusion_header is null and inclusion_refused is null and ${which}
    order by id limit 1`.execute(db);
  return rows;
}

/** Runs in the leader's commit. After a reorg it is about another block, and is not stored. */
async function store(db: Db, { id, block_hash }: ConfirmedBatch, built: BuiltInclusion): Promise<void> {
  const { inclusion } = built;
  await db
    .updateTable('anchor_batches')
    .set(
      inclusion
        ? {
            inclusion_header: toBytea(inclusion.header),
            inclusion_index: inclusion.index,
            inclusion_nodes: inclusion.nodes.map(toBytea),
          }
        : { inclusion_refused: built.reason },
    )
    .where('id', '=', id)
    .where('block_hash', '=', block_hash)
    .execute();
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
