/**
 * One record in a file of the archive: the rows of its leaves as JSON, compressed, and encrypted under a key of its own. Without
 * the key nothing of the record can be read, so a record is erased from all copies of the file by forgetting its key.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** What every file begins with. Entries follow each other without a gap. */
export const fileHeader = Buffer.from('holdfast/archive@1\n');

export interface Entry {
  key: Buffer;
  bytes: Buffer;
}

/** The bytes are not those that were written under this key. */
export class EntryDamaged extends Error {
  constructor(cause: unknown) {
    super('the bytes are not those that were archived', { cause });
    this.name = 'EntryDamaged';
  }
}

const cipher = 'aes-256-gcm';
const tagBytes = 16;
/** A key encrypts one entry. */
const nonce = Buffer.alloc(12);
/** The text of an entry, at most. */
export const mostEntryBytes = 16 * 1024 * 1024;

/**
 * What the rows of most records have in common, which makes a small record a third smaller. Part of the format: never change
 * it; a new one needs a new header.
 */
const dictionary = Buffer.from(
  '[{"id": 1, "data": "{\\"\\":\\"\\"}", "kind": "record", "leaf": "\\\\x", "salt": "\\\\x", "claims": "{\\"externalId\\":\\"\\"}", "digest": "\\\\x", "version": 1, "vault_id": "vlt_01", "erased_at": null, "created_at": "2026-01-01T00:00:00.000+00:00", "subject_id": "rec_01", "written_in": 0, "claims_hash": "\\\\x", "external_id": "", "stored_bytes": 1, "workspace_id": "ws_01", "previous_leaf": "\\\\x0000000000000000000000000000000000000000000000000000000000000000", "announced_before": false, "canonicalization": "jcs", "first_anchored_time": null}]',
);

export function packEntry(text: string): Entry {
  const key = randomBytes(32);
  const sealing = createCipheriv(cipher, key, nonce);
  const packed = deflateRawSync(text, { dictionary });
  return { key, bytes: Buffer.concat([sealing.update(packed), sealing.final(), sealing.getAuthTag()]) };
}

/** Throws EntryDamaged. */
export function unpackEntry({ key, bytes }: Entry): string {
  try {
    const opening = createDecipheriv(cipher, key, nonce, { authTagLength: tagBytes });
    opening.setAuthTag(bytes.subarray(-tagBytes));
    const packed = Buffer.concat([opening.update(bytes.subarray(0, -tagBytes)), opening.final()]);
    return inflateRawSync(packed, { dictionary, maxOutputLength: 2 * mostEntryBytes }).toString();
  } catch (error) {
    throw new EntryDamaged(error);
  }
}
