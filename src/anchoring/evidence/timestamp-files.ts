/**
 * Certificates and lists of revoked ones, stored once by their SHA-256: an authority has the same ones for thousands of
 * tokens, and a list may have hundreds of kilobytes.
 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';

/**
 * Lists of revoked certificates that a proof carries: for each token, and in all. Larger ones are checked when a token is
 * stamped, and whoever verifies the proof is told that revocation was not checked.
 */
export const mostCrlBytes = { perToken: 262_144, perProof: 4_194_304 };

export function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** Those that fit into `room` together, the smallest first. */
export function fittingCrls<T extends { length: number }>(crls: readonly T[], room: number): T[] {
  let left = room;
  const fits = new Set<T>();
  for (const crl of crls.toSorted((one, other) => one.length - other.length)) {
    if (crl.length > left) break;
    left -= crl.length;
    fits.add(crl);
  }
  return crls.filter((crl) => fits.has(crl));
}

/** Runs in the leader's commit. */
export async function storeFiles(db: Db, files: readonly Buffer[]): Promise<void> {
  if (files.length === 0) return;
  const known = await knownHashes(db, files.map(sha256));
  const missing = files.filter((file) => !known.has(sha256(file).toString('hex')));
  if (missing.length === 0) return;
  await db
    .insertInto('timestamp_files')
    .values(missing.map((bytes) => ({ sha256: sha256(bytes), bytes })))
    .onConflict((conflict) => conflict.column('sha256').doNothing())
    .execute();
}

/** The files among these, by the hex of their hashes. What is larger than any proof takes is left out. */
export async function readFiles(db: Db, hashes: readonly Buffer[]): Promise<Map<string, Buffer>> {
  if (hashes.length === 0) return new Map();
  const { rows } = await sql<{ sha256: Buffer; bytes: Buffer }>`
    select sha256, bytes from timestamp_files
    where sha256 = any(${[...hashes]}::bytea[]) and length(bytes) <= ${mostCrlBytes.perToken}`.execute(db);
  return new Map(rows.map(({ sha256, bytes }) => [sha256.toString('hex'), bytes]));
}

async function knownHashes(db: Db, hashes: readonly Buffer[]): Promise<Set<string>> {
  const { rows } = await sql<{ sha256: Buffer }>`
    select sha256 from timestamp_files where sha256 = any(${[...hashes]}::bytea[])`.execute(db);
  return new Set(rows.map(({ sha256 }) => sha256.toString('hex')));
}
