/**
 * Checks archived records: each can be read from its file, is the hash of its data, and each of its leaves is at its place in
 * a batch. Records of a vault lie side by side in a file, so a page reads few ranges.
 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Blobs } from '../../blobs/blobs.ts';
import { BlobDamaged } from '../../blobs/cipher.ts';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { canonicalJson } from '../../proof/canonical.ts';
import { type Canonicalization, recordDigest } from '../../proof/content.ts';
import { type Keccak, loadKeccak } from '../../proof/keccak.ts';
import { leafHash, leafValues } from '../../proof/leaf.ts';
import { hashBytes } from '../../proof/merkle.ts';
import type { Check, Finding } from '../../runtime/check.ts';
import { AppError } from '../../runtime/errors.ts';
import { joinPlace } from '../leaves/leaf-places.ts';
import { type ArchivedRecord, archivedColumns, findArchivedLeaves, joinFile } from './archived-rows.ts';
import { EntryDamaged, unpackEntry } from './entry.ts';

export interface ArchiveCheckDeps {
  db: Db;
  /** Throws when the master key or the store is not available: then nothing can be checked. */
  blobs(): Promise<Pick<Blobs, 'read'>>;
}

interface Row extends ArchivedRecord {
  part: number;
  address: string | null;
  /** It is in the database, too. */
  is_here: boolean;
}

/** A leaf as its record has it in the file. */
interface Leaf {
  id: number;
  kind: string;
  workspace_id: string;
  subject_id: string;
  version: number;
  vault_id: string;
  canonicalization: Canonicalization;
  digest: string;
  previous_leaf: string;
  claims: string | null;
  claims_hash: string;
  leaf: string;
  data: string | null;
  salt: string | null;
  erased_at: string | null;
}

interface ReadRecord {
  row: Row;
  leaves: Leaf[];
}

export function archiveCheck({ db, blobs }: ArchiveCheckDeps): Check {
  let keccak: Keccak | undefined;
  const records = rowsPass<Row>({
    db,
    what: 'archived records',
    table: 'archived_records',
    key: [
      { column: 'a.part', member: 'part' },
      { column: 'a.id', member: 'id' },
    ],
    pageRows: 200,
    // In the order of a part, which has at most as many records as a file.
    read: ({ where, end }) => sql<Row>`
      select ${archivedColumns}, a.part, vault.address,
             exists (
               select from anchor_leaves l
               where l.workspace_id = p.workspace_id and l.subject_id = a.id and l.kind = 'record'
             ) as is_here
      from archived_records a ${joinFile}
      left join lateral (
        select v.address from vaults v where v.workspace_id = p.workspace_id and v.id = p.vault_id limit 1
      ) as vault on true
      where ${where} ${end}`,
    async judge(rows) {
      keccak ??= await loadKeccak();
      const findings: Finding[] = [];
      const read: ReadRecord[] = [];
      for (const row of rows.filter(({ is_here }) => is_here))
        findings.push(finding(row, 'record_archived_and_here', 'is in the database, too'));
      for (const span of spansOf(rows)) {
        for (const [at, leaves] of (await readSpan(await blobs(), span)).entries()) {
          const row = span[at] as Row;
          if (typeof leaves === 'string') findings.push(finding(row, 'archived_record_unreadable', leaves));
          else read.push({ row, leaves });
        }
      }
      for (const record of read) findings.push(...judgeRecord(record, keccak));
      return [...findings, ...(await judgePlaces(db, read))];
    },
  });
  return { name: 'archive', passes: [records] };
}

/** What is read of a file at once, unless a single record is larger. */
const mostSpanBytes = 4 * 1024 * 1024;

/** Records that lie close to each other in one file. */
function spansOf(rows: Row[]): Row[][] {
  const spans: Row[][] = [];
  for (const row of rows) {
    const first = spans.at(-1)?.[0];
    const end = row.at + row.bytes;
    const fits = first?.blob_id === row.blob_id && first.at < row.at && end - first.at <= mostSpanBytes;
    if (fits) spans.at(-1)?.push(row);
    else spans.push([row]);
  }
  return spans;
}

/** What is wrong with the bytes, for those that cannot be read. */
async function readSpan(blobs: Pick<Blobs, 'read'>, rows: Row[]): Promise<(Leaf[] | string)[]> {
  const [first, last] = [rows[0], rows.at(-1)];
  if (!first || !last) return [];
  const { workspace_id: workspaceId, blob_id: blobId, size, at: start } = first;
  try {
    const pieces: Buffer[] = [];
    const range = { start, end: last.at + last.bytes };
    for await (const piece of await blobs.read({ workspaceId, blobId, size }, range)) pieces.push(piece);
    const span = Buffer.concat(pieces);
    return rows.map(({ at, bytes, key }) => leavesIn(span.subarray(at - start, at - start + bytes), key));
  } catch (error) {
    if (!(error instanceof AppError || error instanceof BlobDamaged)) throw error;
    return rows.map(() => unreadable(error));
  }
}

function leavesIn(bytes: Buffer, key: Buffer): Leaf[] | string {
  try {
    return JSON.parse(unpackEntry({ key, bytes })) as Leaf[];
  } catch (error) {
    if (!(error instanceof EntryDamaged)) throw error;
    return unreadable(error);
  }
}

function unreadable({ message }: Error): string {
  return `cannot be read from its file: ${message.replace(/\.$/, '')}`;
}

const firstLeaf = `0x${'0'.repeat(64)}`;
const hex = (text: string) => text.replace(/^\\x/, '0x') as `0x${string}`;
const bytesOf = (text: string) => Buffer.from(text.replace(/^\\x/, ''), 'hex');

function judgeRecord({ row, leaves }: ReadRecord, keccak: Keccak): Finding[] {
  const findings: Finding[] = [];
  const find = (what: string, leaf?: Leaf) =>
    findings.push(finding(row, 'archived_record_changed', what, leaf && { version: leaf.version }));
  let previous = firstLeaf;
  let dataBytes = 0;
  for (const [at, leaf] of leaves.entries()) {
    const isOwn =
      leaf.kind === 'record' &&
      leaf.subject_id === row.id &&
      leaf.workspace_id === row.workspace_id &&
      leaf.vault_id === row.vault_id;
    if (!isOwn) find('has something else in its place', leaf);
    else if (leaf.version !== at + 1 || hex(leaf.previous_leaf) !== previous)
      find('has versions that do not follow each other', leaf);
    else if (row.address === null || hex(leaf.leaf) !== hashOf(leaf, row.address, keccak))
      find('has a leaf that does not match its fields', leaf);
    else if (leaf.erased_at === null && !hasItsData(leaf))
      find('has data that does not match its hash', leaf);
    previous = hex(leaf.leaf);
    dataBytes += Buffer.byteLength(leaf.data ?? '');
  }
  if (leaves.length === 0) find('has no version');
  else if (dataBytes !== row.data_bytes) find(`has ${dataBytes} bytes of data, and not ${row.data_bytes}`);
  return findings;
}

function hashOf(leaf: Leaf, vault: string, keccak: Keccak): string {
  const values = leafValues(
    {
      kind: leaf.kind,
      canonicalization: leaf.canonicalization,
      digest: hex(leaf.digest),
      subject: { workspaceId: leaf.workspace_id, id: leaf.subject_id },
      version: leaf.version,
      previousLeaf: hex(leaf.previous_leaf),
      vault,
      claimsHash: hex(leaf.claims_hash),
    },
    keccak,
  );
  return `0x${Buffer.from(leafHash(values, keccak)).toString('hex')}`;
}

function hasItsData({ data, salt, digest, claims, claims_hash }: Leaf): boolean {
  if (data === null || salt === null || claims === null) return false;
  try {
    const claimed = createHash('sha256')
      .update(canonicalJson(JSON.parse(claims), 'claims'))
      .digest();
    return (
      recordDigest(bytesOf(salt), JSON.parse(data)) === hex(digest) && claimed.equals(bytesOf(claims_hash))
    );
  } catch {
    return false;
  }
}

/** The subtrees stay in the database: each leaf is in the one of its vault, at its place. */
async function judgePlaces(db: Db, read: ReadRecord[]): Promise<Finding[]> {
  const leaves = read.flatMap(({ row, leaves }) => leaves.map((leaf) => ({ row, leaf })));
  if (leaves.length === 0) return [];
  const { rows } = await sql<{ number: number; leaf: Buffer | null }>`
    select l.number, substring(s.leaves from (placed.place - s.first_place) * ${hashBytes}::integer + 1 for ${hashBytes}::integer) as leaf
    from unnest(${leaves.map(({ leaf }) => leaf.id)}::bigint[], ${leaves.map(({ leaf }) => leaf.vault_id)}::text[])
      with ordinality as l (id, vault_id, number) ${sql.raw(joinPlace)}
    left join anchor_subtrees s on s.batch_id = placed.batch_id and s.vault_id = l.vault_id`.execute(db);
  const standing = new Map(rows.map(({ number, leaf }) => [Number(number), leaf]));
  const noted = await findArchivedLeaves(
    db,
    leaves.map(({ leaf }) => leaf.id),
  );
  return leaves.flatMap(({ row, leaf }, at) => {
    const ids = { version: leaf.version, leaf: leaf.id };
    const findings: Finding[] = [];
    if (!standing.get(at + 1)?.equals(bytesOf(leaf.leaf)))
      findings.push(finding(row, 'archived_leaf_not_in_batch', 'has a leaf that is not in its batch', ids));
    if (!noted.has(leaf.id))
      findings.push(
        finding(row, 'archived_leaf_not_noted', 'has a leaf that archived_leaves does not name', ids),
      );
    return findings;
  });
}

function finding(row: Row, rule: string, what: string, more: Finding['ids'] = {}): Finding {
  const { workspace_id: workspace, id: record, blob_id: blob } = row;
  return {
    rule,
    ids: { workspace, record, blob, ...more },
    message: `The archived record ${record} ${what}.`,
    advice:
      rule === 'archived_record_unreadable'
        ? 'Restore the object of its blob in the blob store from a backup, unchanged.'
        : 'Rows were changed in the database: restore them from a backup.',
  };
}
