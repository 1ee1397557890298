/**
 * Checks that every blob has its key and its bytes, that the bytes match their hash, and that the store has no other
 * objects.
 */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { isDatabaseAway } from '../db/faults.ts';
import { rowsPass } from '../db/rows-pass.ts';
import { writtenIds } from '../db/written-since.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { Check, Finding, Pass } from '../runtime/check.ts';
import { BlobMissing, type BlobStore } from './blob-store.ts';
import { blobKeyRef } from './blobs.ts';
import { BlobDamaged, decryptChunks, storedRange } from './cipher.ts';
import { digestOf } from './digest.ts';
import { objectName } from './object-names.ts';
import { objectsPass } from './objects.check.ts';

export interface BlobsCheckDeps {
  db: Db;
  /** Throws when the master key is unavailable: then nothing can be checked. */
  keyring(): Promise<Pick<Keyring, 'open'>>;
  /** Throws when the store cannot be opened. */
  blobStore(): Promise<BlobStore>;
  now?: () => number;
}

interface Row {
  workspace_id: string;
  id: string;
  content_hash: Buffer;
  size: number;
  erased: boolean;
  sealed: boolean;
}

export function blobsCheck(deps: BlobsCheckDeps): Check {
  return { name: 'blobs', passes: [rowsOfBlobs(deps), objectsPass(deps)] };
}

/** Pages are small, because the bytes of each blob are read. */
function rowsOfBlobs({ db, keyring, blobStore }: BlobsCheckDeps): Pass {
  return rowsPass<Row>({
    db,
    what: 'blobs',
    table: 'blobs',
    written: [writtenIds(db, 'blobs', 'blb')],
    key: [
      { column: 'b.workspace_id', member: 'workspace_id' },
      { column: 'b.id', member: 'id' },
    ],
    pageRows: 20,
    read: ({ where, end }) => sql<Row>`
      select b.workspace_id, b.id, b.content_hash, b.size, b.erased_at is not null as erased, exists (
        select 1 from secrets s where s.workspace_id = b.workspace_id and s.purpose = 'blob' and s.id = b.id
      ) as sealed
      from blobs b where ${where} ${end}`,
    async judge(rows) {
      const findings: Finding[] = [];
      for (const row of rows) {
        if (row.erased) findings.push(...(row.sealed ? [keyKept(row)] : []));
        else if (!row.sealed) findings.push(keyMissing(row));
        else findings.push(...(await wrongBytes(row, await keyring(), await blobStore())));
      }
      return findings;
    },
  });
}

async function wrongBytes(row: Row, keyring: Pick<Keyring, 'open'>, store: BlobStore): Promise<Finding[]> {
  const { size } = row;
  const ref = { workspaceId: row.workspace_id, blobId: row.id };
  let key: Buffer | null;
  try {
    key = await keyring.open(blobKeyRef(ref));
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    return [keyUnusable(row, error)];
  }
  // The blob was erased after the page was read.
  if (!key) return [];
  try {
    const stored = store.get(objectName(ref), storedRange(size));
    const { contentHash } = await digestOf(decryptChunks(stored, key, { size }), { maxBytes: size });
    return contentHash.equals(row.content_hash) ? [] : [damaged(row, 'their SHA-256 is different')];
  } catch (error) {
    if (error instanceof BlobMissing) return [bytesMissing(row)];
    if (error instanceof BlobDamaged) return [damaged(row, error.message)];
    throw error;
  }
}

const idsOf = ({ workspace_id: workspace, id }: Row) => ({ workspace, id });
const restore = 'Restore its object in the blob store from a backup, unchanged.';

function keyMissing(row: Row): Finding {
  return {
    rule: 'blob_key_missing',
    ids: idsOf(row),
    message: `Blob ${row.id} is not erased, but has no key in the database.`,
    advice: 'Its content can no longer be read: restore its row in the table secrets from a backup.',
  };
}

function keyUnusable(row: Row, error: unknown): Finding {
  return {
    rule: 'blob_key_unusable',
    ids: idsOf(row),
    message: `The key of blob ${row.id} cannot be decrypted: ${(error as Error).message}.`,
    advice: 'Its row in the table secrets was changed: restore it from a backup.',
  };
}

function keyKept(row: Row): Finding {
  return {
    rule: 'blob_key_kept',
    ids: idsOf(row),
    message: `Blob ${row.id} was erased, but its key is still in the database.`,
    advice:
      'Delete its row in the table secrets: until then the content can be read from a copy of the store.',
  };
}

function bytesMissing(row: Row): Finding {
  return {
    rule: 'blob_missing',
    ids: idsOf(row),
    message: `The bytes of blob ${row.id} are not in the blob store.`,
    advice: `${restore} Check HOLDFAST_BLOB_URL if this is reported for all blobs.`,
  };
}

function damaged(row: Row, how: string): Finding {
  return {
    rule: 'blob_damaged',
    ids: idsOf(row),
    message: `The bytes of blob ${row.id} are not those that were stored: ${how}.`,
    advice: restore,
  };
}
