/** The service's own accounts on the chain: created once, stored sealed, the same on every node. */
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { Db } from '../db/database.ts';
import { violates } from '../db/faults.ts';
import { insertAll } from '../db/writes.ts';
import type { Keyring } from './keyring.ts';

/** The submitter sends the anchors; the faucet holds the funds of the embedded chain. */
export type ServiceAccountName = 'submitter' | 'faucet';

export async function openServiceAccount(
  db: Db,
  keyring: Keyring,
  id: ServiceAccountName,
): Promise<PrivateKeyAccount> {
  const owner = { workspaceId: 'system', id };
  const privateKey = await keyring.open({ ...owner, purpose: 'signing-key' });
  if (privateKey) {
    const account = privateKeyToAccount(`0x${privateKey.toString('hex')}`);
    privateKey.fill(0);
    return account;
  }
  const { write } = await keyring.newSigningKey(owner);
  try {
    await insertAll(db, [write]);
  } catch (error) {
    // Another node created it at the same time.
    if (!violates(error, 'secrets_pkey')) throw error;
  }
  return openServiceAccount(db, keyring, id);
}
