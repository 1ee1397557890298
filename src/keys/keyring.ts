/** The keyring: makes and seals private keys and other secrets, and hands out signers. */
import { sql } from 'kysely';
import type { Address } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { MasterKeySource } from '../config/data-settings.ts';
import { locks, withLock } from '../db/advisory-lock.ts';
import type { Db } from '../db/database.ts';
import type { Write } from '../db/writes.ts';
import { OperatorError } from '../runtime/errors.ts';
import {
  fitsCheckValue,
  type MasterKey,
  makeCheckValue,
  type Sealed,
  type SecretRef,
  seal,
  unseal,
} from './envelope.ts';
import { createKeyPairs, type KeyPair } from './key-pairs.ts';
import { type MasterKeys, readMasterKeys, withNewVersion, writeMasterKeyFile } from './master-keys.ts';

export interface SigningKeyOwner {
  workspaceId: string;
  /** The vault or worker the key belongs to. */
  id: string;
}

export interface Keyring {
  /** A new key pair; `write` is committed together with its owner. */
  newSigningKey(owner: SigningKeyOwner): Promise<{ address: Address; write: Write }>;
  /** Opens the owner's key and checks that it really is the key of `address`. */
  signer(owner: SigningKeyOwner & { address: string }): Promise<PrivateKeyAccount>;
  /**
   * Opens the keys of many owners with one statement, for a thread that signs: it has to check that each is the key of
   * its address, which takes too long here, and to wipe them.
   */
  signingKeys(owners: SigningKeyOwner[]): Promise<OpenedKeys>;
  /** Seals any other secret; the row is committed with whatever it belongs to. */
  seal(ref: SecretRef, plaintext: Buffer): Write;
  /** Opens a sealed secret; null when there is none. `within`: the transaction that asks. */
  open(ref: SecretRef, within?: Db): Promise<Buffer | null>;
  /** Takes notice of master keys that were added or retired since; throws when one is missing here. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenedKeys {
  /** 32 bytes for each owner, in a buffer of their own; zeros where a key could not be opened. */
  keys: Uint8Array<ArrayBuffer>;
  /** Why not, by the owner's place. */
  faults: Map<number, Error>;
}

const signingKey = 'signing-key';
/** Opening one takes some 30 µs; between so many others get their turn. */
const openedAtOnce = 200;

/** Whether there was ever a keyring. */
export async function hasMasterKey(db: Db): Promise<boolean> {
  return (await db.selectFrom('master_keys').select('version').executeTakeFirst()) !== undefined;
}

export async function openKeyring({ db, source }: { db: Db; source: MasterKeySource }): Promise<Keyring> {
  let masters = await loadMasterKeys(db, source);
  const keyPairs = createKeyPairs();
  try {
    await selfTest(await keyPairs.take(), masters);
  } catch (error) {
    await keyPairs.close();
    throw error;
  }

  const sealWrite = (ref: SecretRef, plaintext: Buffer): Write => ({
    table: 'secrets',
    row: {
      workspace_id: ref.workspaceId,
      purpose: ref.purpose,
      id: ref.id,
      ...seal(currentMaster(masters), ref, plaintext),
      created_at: new Date(),
    },
  });

  async function open(ref: SecretRef, within = db): Promise<Buffer | null> {
    const row = await within
      .selectFrom('secrets')
      .select(['master_version', 'wrapped_data_key', 'ciphertext'])
      .where('workspace_id', '=', ref.workspaceId)
      .where('purpose', '=', ref.purpose)
      .where('id', '=', ref.id)
      .executeTakeFirst();
    if (!row) return null;
    if (!masters.byVersion.has(row.master_version)) masters = await loadMasterKeys(db, source);
    return unseal(masterOf(masters, row.master_version), ref, row);
  }

  return {
    async newSigningKey({ workspaceId, id }) {
      const { privateKey, address } = await keyPairs.take();
      const write = sealWrite({ workspaceId, purpose: signingKey, id }, privateKey);
      privateKey.fill(0);
      return { address, write };
    },
    async signer({ workspaceId, id, address }) {
      const privateKey = await open({ workspaceId, purpose: signingKey, id });
      if (!privateKey) throw new Error(`${id} has no signing key`);
      const account = toAccount(privateKey);
      privateKey.fill(0);
      if (account.address !== address)
        throw new Error(`the signing key of ${id} is not the key of its address`);
      return account;
    },
    async signingKeys(owners) {
      const rows = await findSigningKeys(db, owners);
      if (rows.some((row) => row && !masters.byVersion.has(row.master_version))) {
        masters = await loadMasterKeys(db, source);
      }
      const keys = new Uint8Array(owners.length * 32);
      const faults = new Map<number, Error>();
      for (const [place, { workspaceId, id }] of owners.entries()) {
        if (place % openedAtOnce === openedAtOnce - 1) await new Promise(setImmediate);
        try {
          const row = rows[place];
          if (!row) throw new Error(`${id} has no signing key`);
          const ref = { workspaceId, purpose: signingKey, id };
          const privateKey = unseal(masterOf(masters, row.master_version), ref, row);
          keys.set(privateKey, place * 32);
          privateKey.fill(0);
        } catch (error) {
          faults.set(place, error as Error);
        }
      }
      return { keys, faults };
    },
    seal: sealWrite,
    open,
    async refresh() {
      const registered = await registeredVersions(db);
      const versions = registered.map(({ version }) => version);
      const known = versions.every((version) => masters.byVersion.has(version));
      if (!known || Math.max(...versions) !== masters.current) masters = await loadMasterKeys(db, source);
    },
    close: () => keyPairs.close(),
  };
}

/** The sealed key of each owner, in their order; null where there is none. */
async function findSigningKeys(db: Db, owners: SigningKeyOwner[]): Promise<(Sealed | null)[]> {
  const { rows } = await sql<Sealed & { place: number }>`
    select wanted.place, s.master_version, s.wrapped_data_key, s.ciphertext
    from unnest(${owners.map(({ workspaceId }) => workspaceId)}::text[], ${owners.map(({ id }) => id)}::text[])
      with ordinality as wanted (workspace_id, id, place)
    cross join lateral (
      select * from secrets
      where workspace_id = wanted.workspace_id and purpose = ${signingKey} and id = wanted.id limit 1
    ) as s`.execute(db);
  const found: (Sealed | null)[] = owners.map(() => null);
  for (const row of rows) found[row.place - 1] = row;
  return found;
}

/** Reads the configured keys and holds them against those the database says are in use; makes the first one. */
async function loadMasterKeys(db: Db, source: MasterKeySource): Promise<MasterKeys> {
  const registered = await registeredVersions(db);
  const configured = await readMasterKeys(source);
  if (registered.length > 0) return checkRegistered(registered, configured, source);

  return withLock(db, locks.firstMasterKey, async (db) => {
    const registered = await registeredVersions(db);
    const configured = await readMasterKeys(source);
    if (registered.length > 0) return checkRegistered(registered, configured, source);
    const keys = configured ?? withNewVersion(null);
    if (!configured && 'file' in source) await writeMasterKeyFile(source.file, keys);
    const current = currentMaster(keys);
    await db
      .insertInto('master_keys')
      .values({ version: current.version, check_value: makeCheckValue(current) })
      .execute();
    return keys;
  });
}

function registeredVersions(db: Db): Promise<{ version: number; check_value: Buffer }[]> {
  return db.selectFrom('master_keys').select(['version', 'check_value']).orderBy('version').execute();
}

/** The configured keys, with the newest version that is in use as the current one. */
function checkRegistered(
  registered: { version: number; check_value: Buffer }[],
  configured: MasterKeys | null,
  source: MasterKeySource,
): MasterKeys {
  const where = 'text' in source ? 'HOLDFAST_MASTER_KEY' : `the file ${source.file}`;
  for (const { version, check_value } of registered) {
    const key = configured?.byVersion.get(version);
    if (!key) {
      throw new OperatorError(
        `The database contains secrets sealed with master key version ${version}, but ${where} does not have it. Put the right key there (from your backup). Nothing was changed.`,
      );
    }
    if (!fitsCheckValue({ version, key }, check_value)) {
      throw new OperatorError(
        `The master key in ${where} is not the one this database was sealed with (version ${version}). Put the right key there (from your backup). Nothing was changed.`,
      );
    }
  }
  return {
    current: Math.max(...registered.map(({ version }) => version)),
    byVersion: configured?.byVersion ?? new Map(),
  };
}

export function currentMaster(keys: MasterKeys): MasterKey {
  return masterOf(keys, keys.current);
}

export function masterOf(keys: MasterKeys, version: number): MasterKey {
  const key = keys.byVersion.get(version);
  if (!key) throw new Error(`master key version ${version} is not configured here`);
  return { version, key };
}

function toAccount(privateKey: Buffer): PrivateKeyAccount {
  return privateKeyToAccount(`0x${privateKey.toString('hex')}`);
}

/** Before anything is entrusted to it: the two curve implementations agree, and what is sealed opens again. */
async function selfTest({ privateKey, address }: KeyPair, masters: MasterKeys): Promise<void> {
  const ref = { workspaceId: 'system', purpose: 'self-test', id: 'self-test' };
  const master = currentMaster(masters);
  const opened = unseal(master, ref, seal(master, ref, privateKey));
  if (!opened.equals(privateKey) || toAccount(opened).address !== address) {
    throw new Error('the keyring self-test failed: a sealed key did not open to the same address');
  }
}
