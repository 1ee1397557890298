/** The service's own secrets: created once, stored sealed, the same on every node. */
import { randomBytes } from 'node:crypto';
import type { Db } from '../db/database.ts';
import { violates } from '../db/faults.ts';
import { insertAll } from '../db/writes.ts';
import type { Keyring } from './keyring.ts';

export async function openServiceSecret(db: Db, keyring: Keyring, id: string): Promise<Buffer> {
  const ref = { workspaceId: 'system', purpose: 'service-secret', id };
  const present = await keyring.open(ref);
  if (present) return present;
  try {
    await insertAll(db, [keyring.seal(ref, randomBytes(32))]);
  } catch (error) {
    // Another node created it at the same time.
    if (!violates(error, 'secrets_pkey')) throw error;
  }
  return openServiceSecret(db, keyring, id);
}
