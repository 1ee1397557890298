/**
 * What the head of the next batch covers: timestamps that no head covers yet; and, if the batch is to be stamped, roots of
 * batches that no timestamp authority vouches for, and tokens that are to be renewed.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { evidenceLeavesOf } from './evidence-leaves.ts';
import { type PlannedStamp, renewedIfBefore } from './renewal-rule.ts';

export interface EvidenceItem {
  /** SHA-256 of the timestamp's bytes, or of the root of a batch. */
  sha256: Buffer;
  /** Its leaf in the tree of the head's evidence. */
  leaf: Uint8Array;
  timestampId: number | null;
  rootBatchId: number | null;
  /** A token of this batch is to vouch for it. */
  awaitsToken: boolean;
}

/** Rows of one commit, whatever was missed before; the rest is for the next heads. */
const mostTimestamps = 10_000;
const mostRoots = 5_000;
const mostRenewals = 2_000;

export async function evidenceForHead(
  db: Db,
  { planned, isAlone = false }: { planned: PlannedStamp | null; isAlone?: boolean },
): Promise<EvidenceItem[]> {
  const fresh = await freshTimestamps(db);
  const isPlanned = planned !== null && !(await isTokenAwaited(db));
  const due = isPlanned ? await dueForRenewal(db, planned) : [];
  const roots = isPlanned ? await uncoveredRoots(db) : [];
  const [isFresh, isDue] = [idsOf(fresh), idsOf(due)];
  const items = [
    ...fresh.map((item) => ({ ...item, awaitsToken: isDue.has(item.timestampId) })),
    ...[...due.filter(({ timestampId }) => !isFresh.has(timestampId)), ...roots].map((item) => ({
      ...item,
      awaitsToken: true,
    })),
    ...(isAlone ? await newestRoot(db, roots) : []),
  ];
  const leaves = await evidenceLeavesOf(items.map(({ sha256 }) => sha256));
  return items.map((item, place) => ({ ...item, leaf: leaves.subarray(32 * place, 32 * (place + 1)) }));
}

/** The leaves of the head's evidence, 32 bytes each. */
export function evidenceLeaves(items: readonly EvidenceItem[]): Uint8Array {
  const leaves = new Uint8Array(32 * items.length);
  for (const [place, { leaf }] of items.entries()) leaves.set(leaf, 32 * place);
  return leaves;
}

/**
 * Whether a head that covers what nobody vouches for has no token yet. That batch is stamped next, however often its
 * authority fails: so no other head has to cover the same, and what heads cover grows no faster than the batches.
 */
export async function isTokenAwaited(db: Db): Promise<boolean> {
  const { rows } = await sql`
    select 1 from anchor_batches where awaits_token and not stamped and status <> 'set_aside' limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

export async function hasDueForRenewal(db: Db, planned: PlannedStamp): Promise<boolean> {
  return (await dueForRenewal(db, planned, 1)).length > 0;
}

type Item = Omit<EvidenceItem, 'leaf' | 'awaitsToken'>;

const idsOf = (items: Item[]) => new Set(items.map(({ timestampId }) => timestampId));

async function freshTimestamps(db: Db): Promise<Item[]> {
  const { rows } = await sql<Item>`
    select t.id as "timestampId", null as "rootBatchId", sha256(t.proof) as sha256 from timestamps t
    where t.complete and not t.covered
    order by t.id limit ${mostTimestamps}`.execute(db);
  return rows;
}

/**
 * The first to end are the first. The hash of a token that a head covers is with that head, so that thousands of tokens need
 * not be read.
 */
async function dueForRenewal(db: Db, planned: PlannedStamp, limit = mostRenewals): Promise<Item[]> {
  const before = renewedIfBefore(planned);
  if (before === null) return [];
  const { rows } = await sql<Item>`
    select t.id as "timestampId", null as "rootBatchId", coalesce(
      (select e.sha256 from evidence e where e.timestamp_id = t.id limit 1), sha256(t.proof)) as sha256
    from timestamps t
    where t.valid_until is not null and not t.renewed
      and t.valid_until > ${new Date(planned.at)} and t.valid_until < ${before}
    order by t.valid_until, t.id limit ${limit}`.execute(db);
  return rows;
}

async function uncoveredRoots(db: Db): Promise<Item[]> {
  const { rows } = await sql<Item>`
    select null as "timestampId", id as "rootBatchId", sha256(root) as sha256 from anchor_batches
    where not stamped order by id limit ${mostRoots}`.execute(db);
  return rows;
}

/** Heads without leaves would have the same root if they covered the same; so each covers the batch before it. */
async function newestRoot(db: Db, covered: Item[]): Promise<(Item & { awaitsToken: boolean })[]> {
  const { rows } = await sql<Item>`
    select null as "timestampId", id as "rootBatchId", sha256(root) as sha256 from anchor_batches
    order by id desc limit 1`.execute(db);
  return rows
    .filter(({ rootBatchId }) => !covered.some((item) => item.rootBatchId === rootBatchId))
    .map((item) => ({ ...item, awaitsToken: true }));
}
