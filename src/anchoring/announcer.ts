/**
 * Announces confirmed batches: one event per leaf and confirmation, up to a thousand per commit. A leaf that was announced
 * with an anchor of an earlier proof format gets none for its second anchor.
 */
import { sql } from 'kysely';
import type { Lead } from '../chain/chain.ts';
import { fromBytea } from '../db/bytea.ts';
import type { Db } from '../db/database.ts';
import { isStatementTimeout } from '../db/faults.ts';
import { insertAll, type Write } from '../db/writes.ts';
import type { Kind } from '../proof/kinds.ts';
import type { Wakeup } from '../runtime/loop.ts';
import { findIdsAt } from './leaves/leaf-places.ts';

/** A leaf whose batch is confirmed. */
export interface AnchoredLeaf {
  workspaceId: string;
  kind: string;
  subjectId: string;
  version: number;
  vaultId: string;
  /** JSON; null after the content was erased. */
  claims: string | null;
  /** With an anchor of an earlier proof format: it is not announced a second time. */
  announcedBefore: boolean;
  transactionHash: `0x${string}`;
  blockNumber: number;
  /** The time of the block. */
  anchoredAt: Date;
}

/**
 * Handles the confirmation of leaves of one kind. Runs in the commit that counts the leaves as announced, and returns the
 * events to insert, none for leaves announced before; it runs again for the same leaves after a reorg.
 */
export type Confirm = (db: Db, leaves: AnchoredLeaf[]) => Promise<Write[]>;

/** Leaves of other kinds are not announced. */
export type Confirmations = Partial<Record<Kind, Confirm>>;

export interface AnnouncerDeps {
  db: Db;
  confirmations: Confirmations;
  /** Assigns events their positions in the feed before they are inserted. */
  placeEvents(db: Db, writes: Write[]): Promise<void>;
  /** The number of deliveries that an event of each workspace may create. */
  countSubscribers(db: Db, workspaceIds: string[]): Promise<Map<string, number>>;
  /** Woken when events were written. */
  eventWakeup: Pick<Wakeup, 'wake'>;
  /** Called before a batch is announced, to store what its proofs need of its block. */
  readInclusion?(lead: Lead, batchId: number): Promise<void>;
  leavesAtOnce?: number;
  /** Events and their deliveries. */
  rowsAtOnce?: number;
}

export interface Announcer {
  /** Announces part of the oldest batch that is not fully announced; true when there may be more. */
  step(lead: Lead): Promise<boolean>;
}

export function createAnnouncer(deps: AnnouncerDeps): Announcer {
  const { db, confirmations, placeEvents, countSubscribers, eventWakeup } = deps;
  // No other event gets a position in the feed until the commit, so the commit must not take longer than tenths of a second.
  const { leavesAtOnce = 1000, rowsAtOnce = 10_000 } = deps;
  let mostRows = rowsAtOnce;

  async function announce(db: Db, batchId: number): Promise<boolean> {
    // Reads the batch again and locks it: a reorg may have withdrawn the confirmation meanwhile.
    const batch = await db
      .selectFrom('anchor_batches')
      .select(['announced', 'size', 'transaction_hash', 'block_number', 'block_time'])
      .where('id', '=', batchId)
      .where('status', 'in', ['confirmed', 'finalized'])
      .forUpdate()
      .executeTakeFirst();
    if (!batch || batch.announced >= batch.size) return false;
    const { announced, transaction_hash, block_number, block_time } = batch;
    if (transaction_hash === null || block_number === null || block_time === null) {
      throw new Error(`batch ${batchId} is confirmed nowhere`);
    }
    const end = Math.min(announced + leavesAtOnce, batch.size);
    const ahead = await readLeaves(db, { batchId, from: announced, to: end });
    const rows = ahead.slice(0, await countFitting(db, ahead));
    const until = ahead[rows.length]?.place ?? end;
    const anchor = {
      transactionHash: fromBytea(transaction_hash),
      blockNumber: block_number,
      anchoredAt: new Date(block_time * 1000),
    };
    const writes: Write[] = [];
    for (const [kind, confirm] of Object.entries(confirmations)) {
      const leaves = rows.filter((row) => row.kind === kind).map((row) => leafOf(row, anchor));
      if (leaves.length > 0) writes.push(...(await confirm(db, leaves)));
    }
    await placeEvents(db, writes);
    await insertAll(db, writes);
    await db.updateTable('anchor_batches').set({ announced: until }).where('id', '=', batchId).execute();
    return writes.length > 0;
  }

  /** How many of these leaves, from the first on, fit into the row limit of one commit; at least one. */
  async function countFitting(
    db: Db,
    leaves: { workspace_id: string; announced_before: boolean }[],
  ): Promise<number> {
    const subscribers = await countSubscribers(db, [...new Set(leaves.map((leaf) => leaf.workspace_id))]);
    let rows = 0;
    const tooMany = leaves.findIndex(({ workspace_id, announced_before }) => {
      if (!announced_before) rows += 1 + (subscribers.get(workspace_id) ?? 0);
      return rows > mostRows;
    });
    return tooMany === -1 ? leaves.length : Math.max(1, tooMany);
  }

  return {
    async step(lead) {
      const { rows } = await sql<{ id: number; announced: number }>`
        select id, announced from anchor_batches where status in ('confirmed', 'finalized') and announced < size
        order by id limit 1`.execute(db);
      const [batch] = rows;
      if (!batch) return false;
      if (batch.announced === 0) await deps.readInclusion?.(lead, batch.id);
      try {
        if (await lead.term.commit((db) => announce(db, batch.id))) eventWakeup.wake();
        mostRows = Math.min(mostRows * 2, rowsAtOnce);
      } catch (error) {
        // The commit took too long: tries half as many rows right away.
        if (!isStatementTimeout(error) || mostRows === 1) throw error;
        mostRows = Math.ceil(mostRows / 2);
      }
      return true;
    },
  };
}

interface LeafRow {
  id: number;
  workspace_id: string;
  kind: string;
  subject_id: string;
  version: number;
  vault_id: string;
  claims: string | null;
  announced_before: boolean;
}

/** In the order of their places; without those that are missing. */
async function readLeaves(
  db: Db,
  stretch: { batchId: number; from: number; to: number },
): Promise<(LeafRow & { place: number })[]> {
  const placed = await findIdsAt(db, stretch);
  const { rows } = await sql<LeafRow>`
    select id, workspace_id, kind, subject_id, version, vault_id, claims, announced_before from anchor_leaves
    where id = any (${placed.map(({ id }) => id)}::bigint[])`.execute(db);
  const found = new Map(rows.map((row) => [row.id, row]));
  return placed.flatMap(({ id, place }) => {
    const row = found.get(id);
    return row ? { ...row, place } : [];
  });
}

function leafOf(
  row: LeafRow,
  anchor: Pick<AnchoredLeaf, 'transactionHash' | 'blockNumber' | 'anchoredAt'>,
): AnchoredLeaf {
  return {
    workspaceId: row.workspace_id,
    kind: row.kind,
    subjectId: row.subject_id,
    version: row.version,
    vaultId: row.vault_id,
    claims: row.claims,
    announcedBefore: row.announced_before,
    transactionHash: anchor.transactionHash,
    blockNumber: anchor.blockNumber,
    anchoredAt: anchor.anchoredAt,
  };
}
