/**
 * What the head of the next batch covers: timestamps that no head covers yet; and, if the batch is to be stamped, roots of
 * batches that no timestamp authority vouches for, and tokens whose certificates end before that of the newest token.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { evidenceLeavesOf } from './evidence-leaves.ts';

export interface EvidenceItem {
  /** SHA-256 of the timestamp's bytes, or of the root of a batch. */
  sha256: Buffer;
  /** Its leaf in the tree of the head's evidence. */
  leaf: Uint8Array;
  timestampId: number | null;
  rootBatchId: number | null;
}

/** Rows of one commit, whatever was missed before; the rest is for the next heads. */
const mostTimestamps = 10_000;
const mostRoots = 100_000;
const mostRenewals = 100_000;

/** `isPlanned`: a timestamp authority is going to be asked for a token of this batch. */
export async function evidenceForHead(
  db: Db,
  { isPlanned }: { isPlanned: boolean },
): Promise<EvidenceItem[]> {
  const items = await freshTimestamps(db);
  if (isPlanned) {
    const known = new Set(items.map(({ timestampId }) => timestampId));
    items.push(...(await dueForRenewal(db)).filter(({ timestampId }) => !known.has(timestampId)));
    items.push(...(await uncoveredRoots(db)));
  }
  const leaves = await evidenceLeavesOf(items.map(({ sha256 }) => sha256));
  return items.map((item, place) => ({ ...item, leaf: leaves.subarray(32 * place, 32 * (place + 1)) }));
}

/** The leaves of the head's evidence, 32 bytes each. */
export function evidenceLeaves(items: readonly EvidenceItem[]): Uint8Array {
  const leaves = new Uint8Array(32 * items.length);
  for (const [place, { leaf }] of items.entries()) leaves.set(leaf, 32 * place);
  return leaves;
}

type Item = Omit<EvidenceItem, 'leaf'>;

async function freshTimestamps(db: Db): Promise<Item[]> {
  const { rows } = await sql<Item>`
    select t.id as "timestampId", null as "rootBatchId", sha256(t.proof) as sha256 from timestamps t
    where t.complete and not t.covered
    order by t.id limit ${mostTimestamps}`.execute(db);
  return rows;
}

/**
 * Compared with the tokens of the last hour in which there were any: an authority that has been away for longer will not
 * stamp this head, and its later certificate would have every head cover all tokens of the others. The hash of a token
 * that a head covers is with that head, so that thousands of tokens need not be read.
 */
async function dueForRenewal(db: Db): Promise<Item[]> {
  const { rows } = await sql<Item>`
    with recent as (
      select valid_until, created_at, max(created_at) over () as newest from (
        select valid_until, created_at from timestamps where kind = 'rfc3161' order by id desc limit 200
      ) as last
    )
    select t.id as "timestampId", null as "rootBatchId", coalesce(
      (select e.sha256 from evidence e where e.timestamp_id = t.id limit 1), sha256(t.proof)) as sha256
    from timestamps t
    where t.valid_until is not null and not t.renewed
      and t.valid_until < (select max(valid_until) from recent where created_at > newest - interval '1 hour')
    order by t.valid_until, t.id limit ${mostRenewals}`.execute(db);
  return rows;
}

async function uncoveredRoots(db: Db): Promise<Item[]> {
  const { rows } = await sql<Item>`
    select null as "timestampId", id as "rootBatchId", sha256(root) as sha256 from anchor_batches
    where not stamped order by id limit ${mostRoots}`.execute(db);
  return rows;
}
