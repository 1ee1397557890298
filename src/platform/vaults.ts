/** Vaults: wallets whose keys the service keeps. */
import type { Pool } from 'pg';
import { auditWrite } from '../auth/audit.ts';
import type { Caller } from '../caller.ts';
import type { Db } from '../db/database.ts';
import { isStatementFault } from '../db/faults.ts';
import { gather } from '../db/gather.ts';
import { type CommitTogether, insertAll, type Write } from '../db/writes.ts';
import { AppError } from '../errors.ts';
import { newId } from '../ids.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { Bell } from '../loop.ts';
import { eventWrite } from '../webhooks/events.ts';

export interface Vault {
  id: string;
  name: string;
  description: string;
  /** EIP-55. */
  address: string;
  status: VaultStatus;
  createdAt: Date;
  updatedAt: Date;
}

export type VaultStatus = 'active' | 'inactive';

export interface Vaults {
  /** `also`: rows to commit with the vault. */
  create(
    caller: Caller,
    input: { name: string; description: string },
    also: (vault: Vault) => Write[],
  ): Promise<Vault>;
  list(workspaceId: string, query: VaultQuery): Promise<Vault[]>;
  get(workspaceId: string, address: string): Promise<Vault>;
  update(caller: Caller, address: string, change: { name?: string; description?: string }): Promise<Vault>;
  setStatus(caller: Caller, address: string, status: VaultStatus): Promise<Vault>;
}

export interface VaultQuery {
  status: VaultStatus | undefined;
  /** Id of the last vault of the page before. */
  before: string | undefined;
  limit: number;
}

export interface VaultsDeps {
  db: Db;
  pool: Pool;
  commit: CommitTogether;
  keyring: Keyring;
  /** Rung when an event was committed. */
  eventBell: Pick<Bell, 'ring'>;
}

const columns = ['id', 'name', 'description', 'address', 'status', 'created_at', 'updated_at'] as const;

interface VaultRow {
  id: string;
  name: string;
  description: string;
  address: string;
  status: VaultStatus;
  created_at: Date;
  updated_at: Date;
}

export function createVaults({ db, pool, commit, keyring, eventBell }: VaultsDeps): Vaults {
  const find = gather<{ workspaceId: string; address: string }, Vault | null>({
    maxInFlight: 2,
    maxItems: 500,
    isItemFault: isStatementFault,
    async run(wanted) {
      const { rows } = await pool.query<VaultRow & { place: number }>({
        name: 'vaults-by-address',
        text: `select wanted.place, ${columns.map((column) => `v.${column}`).join(', ')}
               from unnest($1::text[], $2::text[]) with ordinality as wanted (workspace_id, address, place)
               cross join lateral (
                 select * from vaults
                 where workspace_id = wanted.workspace_id and lower(address) = wanted.address limit 1
               ) as v`,
        values: [
          wanted.map(({ workspaceId }) => workspaceId),
          wanted.map(({ address }) => address.toLowerCase()),
        ],
      });
      const found: (Vault | null)[] = wanted.map(() => null);
      for (const row of rows) found[row.place - 1] = toVault(row);
      return found;
    },
  });

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
        .select(columns)
        .where('workspace_id', '=', workspaceId)
        .orderBy('id', 'desc')
        .limit(limit);
      if (status !== undefined) select = select.where('status', '=', status);
      if (before !== undefined) select = select.where('id', '<', before);
      return (await select.execute()).map(toVault);
    },

    async get(workspaceId, address) {
      const vault = await find({ workspaceId, address });
      if (!vault) throw notFound(address);
      return vault;
    },

    update: (caller, address, change) =>
      db.transaction().execute(async (db) => {
        const vault = await lock(db, caller.workspaceId, address);
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
      const vault = await db.transaction().execute(async (db) => {
        const vault = await lock(db, caller.workspaceId, address);
        if (vault.status === status) return vault;
        const at = new Date();
        await db
          .updateTable('vaults')
          .set({ status, updated_at: at })
          .where('workspace_id', '=', caller.workspaceId)
          .where('id', '=', vault.id)
          .execute();
        const verb = status === 'active' ? 'reactivate' : 'deactivate';
        await insertAll(db, [
          statusEvent(caller.workspaceId, vault, status, at),
          auditWrite(caller, { action: `vault.${verb}`, targetId: vault.id }),
        ]);
        return { ...vault, status, updatedAt: at };
      });
      eventBell.ring();
      return vault;
    },
  };
}

function statusEvent(workspaceId: string, { id, address }: Vault, status: VaultStatus, at: Date): Write {
  const subject = { vault_id: id, address };
  return status === 'active'
    ? eventWrite({
        workspaceId,
        type: 'vault.reactivated',
        at,
        data: { ...subject, reactivated_at: at.toISOString() },
      })
    : eventWrite({
        workspaceId,
        type: 'vault.deactivated',
        at,
        data: { ...subject, deactivated_at: at.toISOString() },
      });
}

/** The vault, held against other changes until the transaction ends. */
async function lock(db: Db, workspaceId: string, address: string): Promise<Vault> {
  const row = await db
    .selectFrom('vaults')
    .select(columns)
    .where('workspace_id', '=', workspaceId)
    .where((where) => where(where.fn<string>('lower', ['address']), '=', address.toLowerCase()))
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound(address);
  return toVault(row);
}

/** What a change really changes, for the audit log. */
function changed(vault: Vault, change: { name?: string; description?: string }): Record<string, unknown> {
  const fields = (['name', 'description'] as const).filter(
    (field) => change[field] !== undefined && change[field] !== vault[field],
  );
  return Object.fromEntries(fields.map((field) => [field, { from: vault[field], to: change[field] }]));
}

function notFound(address: string): AppError {
  return new AppError('resource_not_found', `There is no vault ${address}.`);
}

function toVault({ created_at, updated_at, ...rest }: VaultRow): Vault {
  const { id, name, description, address, status } = rest;
  return { id, name, description, address, status, createdAt: created_at, updatedAt: updated_at };
}
