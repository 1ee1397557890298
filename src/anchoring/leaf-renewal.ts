/**
 * Hashes the leaves of an earlier format anew, once, when the service starts after the upgrade. They are anchored again by
 * the batcher like any pending leaf; the time of their first anchor is kept as a statement.
 */
import { hash } from 'node:crypto';
import { sql } from 'kysely';
import { fromBytea, toBytea } from '../db/bytea.ts';
import type { Db } from '../db/database.ts';
import { canonicalJson } from '../proof/canonical.ts';
import type { Canonicalization } from '../proof/content.ts';
import { toHex } from '../proof/hex.ts';
import { type Keccak, loadKeccak } from '../proof/keccak.ts';
import type { Kind } from '../proof/kinds.ts';
import { leafHash, leafValues } from '../proof/leaf.ts';
import type { LoopLog } from '../runtime/loop.ts';
import { firstLeaf } from './batching/pending.ts';

const tellEveryMs = 5_000;

/** The claims that the leaves of a kind have had since, for those that were made before. */
export interface AddedClaims {
  kind: Kind;
  find(db: Db, leaves: { workspaceId: string; subjectId: string }[]): Promise<(Addition | null)[]>;
}

export interface Addition {
  /** The subject of the same kind whose new leaf the claims name; it has an older leaf. Null: none. */
  follows: string | null;
  /** Given the new leaf of that subject, or `firstLeaf`. */
  claims(followed: Buffer): Record<string, unknown>;
}

export interface RenewalOptions {
  log: Pick<LoopLog, 'info'>;
  added: readonly AddedClaims[];
  /** Leaves per commit. */
  pageRows?: number;
}

/** Does nothing if there is nothing left to do. Goes on where an earlier run was killed; several nodes take turns. */
export async function renewLeaves(db: Db, { log, added, pageRows = 2_000 }: RenewalOptions): Promise<void> {
  const isDue = await db.selectFrom('leaf_renewal').select('last_id').executeTakeFirst();
  if (!isDue) return;
  // Ids are almost without gaps, and to count a hundred million leaves would take too long.
  const { rows } = await sql<{ last: number }>`select max(id) as last from anchor_leaves`.execute(db);
  const total = rows[0]?.last ?? 0;
  log.info({ leaves: total - isDue.last_id }, 'hashing the leaves of the earlier proof format anew');
  const keccak = await loadKeccak();
  let done = 0;
  let told = performance.now();
  for (;;) {
    const renewed = await db.transaction().execute((db) => renewPage(db, { keccak, added, pageRows }));
    if (renewed === null) break;
    done += renewed;
    if (performance.now() - told < tellEveryMs) continue;
    told = performance.now();
    log.info({ done, of: total }, 'hashing leaves anew');
  }
  log.info({ leaves: done }, 'all leaves are hashed anew; they will be sealed and anchored again');
}

/** Returns the number of leaves, or null once everything is done. */
async function renewPage(
  db: Db,
  { keccak, added, pageRows }: { keccak: Keccak; added: readonly AddedClaims[]; pageRows: number },
): Promise<number | null> {
  const state = await db.selectFrom('leaf_renewal').select('last_id').forUpdate().executeTakeFirst();
  if (!state) return null;
  const rows = await readPage(db, { after: state.last_id, limit: pageRows });
  const last = rows.at(-1);
  if (!last) {
    await finish(db);
    return null;
  }
  const known = await readRenewed(db, rows);
  const additions = await findAdditions(db, rows, added);
  const renewed = rows.map((row) => {
    const previous = row.previous_leaf.equals(firstLeaf) ? firstLeaf : known.get(keyOf(row.previous_leaf));
    // What follows a leaf that is not there is stranded, as before.
    const previousLeaf = previous ?? row.previous_leaf;
    const claims = additions.claimsOf(row);
    const claimsHash = claims === row.claims ? row.claims_hash : sha256Of(claims ?? '');
    const leaf = hashOf({ ...row, previous_leaf: previousLeaf, claims_hash: claimsHash }, keccak);
    known.set(keyOf(row.leaf), leaf);
    additions.note(row, leaf);
    return { id: row.id, oldLeaf: row.leaf, previousLeaf, leaf, claims, claimsHash };
  });
  await sql`
    update anchor_leaves l
    set leaf = n.leaf, previous_leaf = n.previous_leaf, claims = n.claims, claims_hash = n.claims_hash
    from unnest(${renewed.map(({ id }) => id)}::bigint[], ${renewed.map(({ leaf }) => leaf)}::bytea[],
                ${renewed.map(({ previousLeaf }) => previousLeaf)}::bytea[],
                ${renewed.map(({ claims }) => claims)}::text[],
                ${renewed.map(({ claimsHash }) => claimsHash)}::bytea[])
      as n (id, leaf, previous_leaf, claims, claims_hash)
    where l.id = n.id`.execute(db);
  await sql`
    insert into renewed_leaves (old_leaf, leaf)
    select * from unnest(${renewed.map(({ oldLeaf }) => oldLeaf)}::bytea[],
                         ${renewed.map(({ leaf }) => leaf)}::bytea[])
    on conflict do nothing`.execute(db);
  await renewLastLeaves(db, rows);
  await db.updateTable('leaf_renewal').set({ last_id: last.id }).execute();
  return rows.length;
}

/** In files and assets, where one of these leaves is the newest. With each page: all at once could take too long. */
async function renewLastLeaves(db: Db, rows: Row[]): Promise<void> {
  const chained = rows.filter(({ kind }) => kind === 'file' || kind === 'asset' || kind === 'transfer');
  for (const [table, id] of [
    ['files', 'id'],
    ['assets', 'asset_id'],
  ] as const) {
    await sql`
      update ${sql.table(table)} as t set last_leaf = r.leaf
      from unnest(${chained.map(({ workspace_id }) => workspace_id)}::text[],
                  ${chained.map(({ subject_id }) => subject_id)}::text[],
                  ${chained.map(({ leaf }) => leaf)}::bytea[]) as n (workspace_id, subject_id, leaf)
      join renewed_leaves r on r.old_leaf = n.leaf
      where t.workspace_id = n.workspace_id and ${sql.ref(`t.${id}`)} = n.subject_id
        and t.last_leaf = n.leaf`.execute(db);
  }
}

interface Row {
  id: number;
  workspace_id: string;
  kind: string;
  subject_id: string;
  version: number;
  address: string;
  digest: Buffer;
  canonicalization: Canonicalization;
  previous_leaf: Buffer;
  claims: string | null;
  claims_hash: Buffer;
  leaf: Buffer;
}

async function readPage(db: Db, { after, limit }: { after: number; limit: number }): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select l.id, l.workspace_id, l.kind, l.subject_id, l.version, v.address, l.digest, l.canonicalization,
           l.previous_leaf, l.claims, l.claims_hash, l.leaf
    from anchor_leaves l join vaults v on v.workspace_id = l.workspace_id and v.id = l.vault_id
    where l.id > ${after} order by l.id limit ${limit}`.execute(db);
  return rows;
}

/** The new leaves of those that these follow, as far as earlier pages have them. */
async function readRenewed(db: Db, rows: Row[]): Promise<Map<string, Buffer>> {
  const found = await sql<{ old_leaf: Buffer; leaf: Buffer }>`
    select old_leaf, leaf from renewed_leaves
    where old_leaf = any(${rows.map(({ previous_leaf }) => previous_leaf)}::bytea[])`.execute(db);
  return new Map(found.rows.map(({ old_leaf, leaf }) => [keyOf(old_leaf), leaf]));
}

interface Additions {
  /** What the leaf of the row claims now; erased claims stay erased. */
  claimsOf(row: Row): string | null;
  /** Called with each new leaf, in the order of ids. */
  note(row: Row, leaf: Buffer): void;
}

async function findAdditions(db: Db, rows: Row[], added: readonly AddedClaims[]): Promise<Additions> {
  const found = new Map<number, Addition>();
  const leaves = new Map<string, Buffer>();
  for (const { kind, find } of added) {
    const mine = rows.filter((row) => row.kind === kind && row.claims !== null);
    const additions = await find(db, mine.map(subjectOf));
    const followed = mine.flatMap((row, place) => {
      const addition = additions[place];
      if (!addition) return [];
      found.set(row.id, addition);
      return addition.follows === null ? [] : { ...row, subject_id: addition.follows };
    });
    for (const row of await readFirstLeaves(db, followed)) leaves.set(subjectKey(row), row.leaf);
  }
  return {
    claimsOf(row) {
      const addition = found.get(row.id);
      if (!addition || row.claims === null) return row.claims;
      const { follows } = addition;
      const followed = follows === null ? firstLeaf : leaves.get(subjectKey({ ...row, subject_id: follows }));
      if (!followed) return row.claims;
      return canonicalJson({ ...JSON.parse(row.claims), ...addition.claims(followed) }, 'claims');
    },
    note(row, leaf) {
      if (leaves.has(subjectKey(row))) leaves.set(subjectKey(row), leaf);
    },
  };
}

interface SubjectColumns {
  workspace_id: string;
  kind: string;
  subject_id: string;
}

/** As they are now: new ones, except where this page is about to renew them. */
async function readFirstLeaves(
  db: Db,
  subjects: SubjectColumns[],
): Promise<(SubjectColumns & { leaf: Buffer })[]> {
  const { rows } = await sql<SubjectColumns & { leaf: Buffer }>`
    select l.workspace_id, l.kind, l.subject_id, l.leaf
    from unnest(${subjects.map(({ workspace_id }) => workspace_id)}::text[],
                ${subjects.map(({ kind }) => kind)}::text[],
                ${subjects.map(({ subject_id }) => subject_id)}::text[]) as wanted (workspace_id, kind, subject_id)
    join anchor_leaves l on l.workspace_id = wanted.workspace_id and l.subject_id = wanted.subject_id
      and l.kind = wanted.kind and l.version = 1`.execute(db);
  return rows;
}

function subjectOf({ workspace_id, subject_id }: SubjectColumns): { workspaceId: string; subjectId: string } {
  return { workspaceId: workspace_id, subjectId: subject_id };
}

function subjectKey({ workspace_id, kind, subject_id }: SubjectColumns): string {
  return JSON.stringify([workspace_id, kind, subject_id]);
}

async function finish(db: Db): Promise<void> {
  await db.deleteFrom('leaf_renewal').execute();
  await sql`truncate renewed_leaves`.execute(db);
}

function hashOf(row: Row, keccak: Keccak): Buffer {
  const values = leafValues(
    {
      kind: row.kind,
      canonicalization: row.canonicalization,
      digest: fromBytea(row.digest),
      subject: { workspaceId: row.workspace_id, id: row.subject_id },
      version: row.version,
      previousLeaf: fromBytea(row.previous_leaf),
      vault: row.address,
      claimsHash: fromBytea(row.claims_hash),
    },
    keccak,
  );
  return toBytea(toHex(leafHash(values, keccak)));
}

function sha256Of(text: string): Buffer {
  return Buffer.from(hash('sha256', text), 'hex');
}

function keyOf(leaf: Buffer): string {
  return leaf.toString('hex');
}
