/** Vaults: wallets whose keys the service keeps. */
import type { Pool } from 'pg';
import { auditWrite } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import { type CommitTogether, insertAll, type Write } from '../../db/writes.ts';
import type { Keyring } from '../../keys/keyring.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import type { Wakeup } from '../../runtime/loop.ts';
import { createStatusChanger } from './vault-status.ts';
import {
  createOwnerFinder,
  createVaultFinder,
  keyOf,
  lockVaults,
  type OwningVault,
  toVault,
  type Vault,
  type VaultStatus,
  vaultColumns,
} from './vaults.store.ts';

export interface Vaults {
  /** `also`: rows to commit with the vault. */
  create(
    caller: Caller,
    input: { name: string; description: string },
    also: (vault: Vault) => Write[],
  ): Promise<Vault>;
  list(workspaceId: string, query: VaultQuery): Promise<Vault[]>;
  get(workspaceId: string, address: string): Promise<Vault>;
  /**
   * The vault of a new thing; throws as `get` does. One that was active when it was read is taken to be so until
   * `forgetOwner`: the database refuses what is new in a vault that is not.
   */
  getOwner(workspaceId: string, address: string): Promise<OwningVault>;
  forgetOwner(workspaceId: string, address: string): void;
  /** The id of the vault; queried only once, because a vault keeps its address and is never deleted. */
  idOf(workspaceId: string, address: string): Promise<string>;
  update(caller: Caller, address: string, change: { name?: string; description?: string }): Promise<Vault>;
  setStatus(caller: Caller, address: string, status: VaultStatus): Promise<Vault>;
}

export interface VaultQuery {
  status: VaultStatus | undefined;
  /** Id of the last vault of the previous page. */
  before: string | undefined;
  limit: number;
}

export interface VaultsDeps {
  db: Db;
  pool: Pool;
  commit: CommitTogether;
  keyring: Keyring;
  /** Woken when an event was committed. */
  eventWakeup: Pick<Wakeup, 'wake'>;
}

/** When this many are cached, the cache is cleared. */
const mostCached = 10_000;

export function createVaults({ db, pool, commit, keyring, eventWakeup }: VaultsDeps): Vaults {
  const find = createVaultFinder(pool);
  const findOwner = createOwnerFinder(pool);
  const changeStatus = createStatusChanger(db);
  const ids = new Map<string, string>();
  const activeOwners = new Map<string, OwningVault>();

  async function get(workspaceId: string, address: string): Promise<Vault> {
    const vault = await find({ workspaceId, address });
    if (!vault) throw notFound(address);
    return vault;
  }

  return {
    async create(caller, { name, description }, also) {
      const { workspaceId } = caller;
      const id = newId('vlt');
      const { address, write: keyWrite } = await keyring.newSigningKey({ workspaceId, id });
      const at = new Date();
      const vault: Vault = { id, name, description, address, status: 'active', createdAt: at, updatedAt: at };
      await commit([
        {
          table: 'vaults',
          row: {
            workspace_id: workspaceId,
            id,
            name,
            description,
            address,
            status: 'active',
            created_at: at,
            updated_at: at,
          },
        },
        keyWrite,
        auditWrite(caller, { action: 'vault.create', targetId: id, details: { name, address } }),
        ...also(vault),
      ]);
      return vault;
    },

    async list(workspaceId, { status, before, limit }) {
      let select = db
        .selectFrom('vaults')
        .select(vaultColumns)
        .where('workspace_id', '=', workspaceId)
        .orderBy('id', 'desc')
        .limit(limit);
      if (status !== undefined) select = select.where('status', '=', status);
      if (before !== undefined) select = select.where('id', '<', before);
      return (await select.execute()).map(toVault);
    },

    get,

    async getOwner(workspaceId, address) {
      const key = keyOf({ workspaceId, address });
      const known = activeOwners.get(key);
      if (known) return known;
      const vault = await findOwner({ workspaceId, address });
      if (!vault) throw notFound(address);
      if (vault.status === 'active') cache(activeOwners, key, vault);
      return vault;
    },

    forgetOwner(workspaceId, address) {
      activeOwners.delete(keyOf({ workspaceId, address }));
    },

    async idOf(workspaceId, address) {
      const key = keyOf({ workspaceId, address });
      const known = ids.get(key);
      if (known !== undefined) return known;
      const { id } = await get(workspaceId, address);
      cache(ids, key, id);
      return id;
    },

    update: (caller, address, change) =>
      db.transaction().execute(async (db) => {
        const key = { workspaceId: caller.workspaceId, address };
        const vault = (await lockVaults(db, [key])).get(keyOf(key));
        if (!vault) throw notFound(address);
        const details = changed(vault, change);
        if (Object.keys(details).length === 0) return vault;
        const updated = { ...vault, ...change, updatedAt: new Date() };
        await db
          .updateTable('vaults')
          .set({ name: updated.name, description: updated.description, updated_at: updated.updatedAt })
          .where('workspace_id', '=', caller.workspaceId)
          .where('id', '=', vault.id)
          .execute();
        await insertAll(db, [auditWrite(caller, { action: 'vault.update', targetId: vault.id, details })]);
        return updated;
      }),

    async setStatus(caller, address, status) {
      const vault = await changeStatus({ caller, address, status });
      activeOwners.delete(keyOf({ workspaceId: caller.workspaceId, address }));
      if (!vault) throw notFound(address);
      eventWakeup.wake();
      return vault;
    },
  };
}

function cache<Value>(values: Map<string, Value>, key: string, value: Value): void {
  if (values.size >= mostCached) values.clear();
  values.set(key, value);
}

/** The actual changes, for the audit log. */
function changed(vault: Vault, change: { name?: string; description?: string }): Record<string, unknown> {
  const fields = (['name', 'description'] as const).filter(
    (field) => change[field] !== undefined && change[field] !== vault[field],
  );
  return Object.fromEntries(fields.map((field) => [field, { from: vault[field], to: change[field] }]));
}

function notFound(address: string): AppError {
  return new AppError('resource_not_found', `There is no vault ${address}.`);
}
