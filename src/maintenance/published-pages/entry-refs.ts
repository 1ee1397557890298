/**
 * What stands for an entry in the addresses of a page: its id, encrypted with a key of that page. An id tells when the entry was
 * recorded, and the same entry on two pages could be recognised by it.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { packId, unpackId } from '../../runtime/ids.ts';

// An id is one block of the cipher, and each occurs once: the mode without a chain is a permutation of all ids.
const cipher = 'aes-256-ecb';

export function entryRef(key: Buffer, maintenanceId: string): string {
  const id = packId('mnt', maintenanceId);
  if (!id) throw new Error(`${maintenanceId} is not the id of an entry`);
  const encrypting = createCipheriv(cipher, key, null).setAutoPadding(false);
  return Buffer.concat([encrypting.update(id), encrypting.final()]).toString('base64url');
}

/** Null if it stands for no id; it may still be one that does not exist. */
export function entryIdOf(key: Buffer, ref: string): string | null {
  const bytes = Buffer.from(ref, 'base64url');
  if (bytes.length !== 16 || bytes.toString('base64url') !== ref) return null;
  const decrypting = createDecipheriv(cipher, key, null).setAutoPadding(false);
  return unpackId('mnt', Buffer.concat([decrypting.update(bytes), decrypting.final()]));
}
