/** The content of a record's version: canonical data, its salted hash, and the rows to commit. */
import { hash } from 'node:crypto';
import { firstLeaf, type LeafWrite, pendingLeaf } from '../../anchoring/batching/pending.ts';
import { CanonicalJsonError, canonicalJson } from '../../proof/canonical.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId, timeOf } from '../../runtime/ids.ts';
import { smallRandomBytes } from '../../runtime/random.ts';
import type { RecordVersion } from './records.store.ts';

export interface RecordContent {
  /** RFC 8785 form. */
  data: string;
  salt: Buffer;
  /** SHA-256 of salt and data: the same as `recordDigest`, which browsers also use, in a fraction of the time. */
  digest: Buffer;
  /** Size of the data. */
  bytes: number;
}

/** `field` is the name of the data in messages; `canonical` its canonical form, if that is known already. */
export function recordContent(
  data: unknown,
  field: string,
  canonical: string = canonicalOf(data, field),
): RecordContent {
  const salt = smallRandomBytes(32);
  const salted = Buffer.allocUnsafe(salt.length + Buffer.byteLength(canonical));
  salt.copy(salted);
  salted.write(canonical, salt.length);
  return {
    data: canonical,
    salt,
    digest: Buffer.from(hash('sha256', salted), 'hex'),
    bytes: salted.length - salt.length,
  };
}

export interface NewVersion {
  workspaceId: string;
  vault: { id: string; address: string };
  externalId: string;
  content: RecordContent;
}

export interface MadeVersion {
  record: RecordVersion;
  leaf: Buffer;
  write: LeafWrite;
}

export function firstVersion(version: NewVersion): MadeVersion {
  const id = newId('rec');
  // The time comes from the id, so that a filter by time agrees with the response.
  return makeVersion(version, { id, version: 1, previousLeaf: firstLeaf, createdAt: timeOf(id) });
}

export function nextVersion(
  version: NewVersion,
  { id, version: before, leaf }: { id: string; version: number; leaf: Buffer },
): MadeVersion {
  return makeVersion(version, { id, version: before + 1, previousLeaf: leaf, createdAt: new Date() });
}

interface Place {
  id: string;
  version: number;
  previousLeaf: Buffer;
  createdAt: Date;
}

function makeVersion(
  { workspaceId, vault, externalId, content }: NewVersion,
  { id, version, previousLeaf, createdAt }: Place,
): MadeVersion {
  const { data, salt, digest, bytes } = content;
  const { leaf, write } = pendingLeaf({
    workspaceId,
    kind: 'record',
    subjectId: id,
    version,
    vault,
    digest,
    canonicalization: 'jcs',
    previousLeaf,
    claims: { externalId },
    storedBytes: bytes,
    record: { externalId, data, salt, createdAt },
  });
  return {
    leaf,
    record: {
      id,
      externalId,
      vaultId: vault.id,
      vaultAddress: vault.address,
      version,
      dataHash: `0x${digest.toString('hex')}`,
      erased: false,
      status: 'pending',
      createdAt,
      anchor: null,
    },
    write,
  };
}

export function canonicalOf(data: unknown, field: string): string {
  try {
    return canonicalJson(data, field);
  } catch (error) {
    if (!(error instanceof CanonicalJsonError)) throw error;
    throw new AppError('invalid_request', error.message, { cause: error });
  }
}
