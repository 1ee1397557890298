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
  /** Makes a new key pair; the caller commits `write` together with the owner. */
  newSigningKey(owner: SigningKeyOwner): Promise<{ address: Address; write: Write }>;
  /** Deletes the owner's key for good, within the caller's transaction. */
  destroySigningKey(db: Db, owner: SigningKeyOwner): Promise<void>;
  /** Opens the owner's key and checks that it really is the key of `address`. */
  signer(owner: SigningKeyOwner & { address: string }): Promise<PrivateKeyAccount>;
  /**
   * Opens the keys of many owners with one statement, for a signing thread. The thread must check that each key belongs
   * to its address, which takes too long here, and must wipe the keys.
   */
  signingKeys(owners: SigningKeyOwner[]): Promise<OpenedKeys>;
  /** Seals any other secret; the caller commits the row together with its owner. */
  seal(ref: SecretRef, plaintext: Buffer): Write;
  /** Opens a sealed secret; null if there is none. `within`: the caller's transaction. */
  open(ref: SecretRef, within?: Db): Promise<Buffer | null>;
  /** Reloads master keys that were added or retired meanwhile; throws if one is not configured here. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenedKeys {
  /** 32 bytes per owner, in a separate buffer; zeros where a key could not be opened. */
  keys: Uint8Array<ArrayBuffer>;
  /** The error of each key that could not be opened, by the owner's position. */
  faults: Map<number, Error>;
}

const signingKey = 'signing-key';
/** Opening a key takes about 30 µs; after this many the event loop gets a turn. */
const openedAtOnce = 200;

/** Whether this database has ever had a keyring. */
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
    async destroySigningKey(db, { workspaceId, id }) {
      await db
        .deleteFrom('secrets')
        .where('workspace_id', '=', workspaceId)
        .where('purpose', '=', signingKey)
        .where('id', '=', id)
        .execute();
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

/** The sealed key of each owner, in the same order; null where there is none. */
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

/** Reads the configured keys and checks them against those in use according to the database; makes the first one. */
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

/** The configured keys, with the newest version in use as the current one. */
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

/** Checks before first use that the two curve implementations agree, and that a sealed key opens again. */
async function selfTest({ privateKey, address }: KeyPair, masters: MasterKeys): Promise<void> {
  const ref = { workspaceId: 'system', purpose: 'self-test', id: 'self-test' };
  const master = currentMaster(masters);
  const opened = unseal(master, ref, seal(master, ref, privateKey));
  if (!opened.equals(privateKey) || toAccount(opened).address !== address) {
    throw new Error('the keyring self-test failed: a sealed key did not open to the same address');
  }
}
