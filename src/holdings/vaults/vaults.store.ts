/** Vaults in SQL: their rows, looked up for many requests at once or locked for a change. */
import { sql } from 'kysely';
import type { Pool } from 'pg';
import { encodeArray } from '../../db/arrays.ts';
import type { Db } from '../../db/database.ts';
import { isStatementFault } from '../../db/faults.ts';
import { gather } from '../../db/gather.ts';

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

export interface VaultKey {
  workspaceId: string;
  address: string;
}

export const vaultColumns = [
  'id',
  'name',
  'description',
  'address',
  'status',
  'created_at',
  'updated_at',
] as const;

interface VaultRow {
  id: string;
  name: string;
  description: string;
  address: string;
  status: VaultStatus;
  created_at: Date;
  updated_at: Date;
}

/** What a new thing needs to know of its vault. */
export type OwningVault = Pick<Vault, 'id' | 'address' | 'status'>;

export function createVaultFinder(pool: Pool): (key: VaultKey) => Promise<Vault | null> {
  return createFinder<VaultRow, Vault>(pool, {
    name: 'vaults-by-address',
    columns: vaultColumns,
    toVault,
  });
}

/** For every new record: without names, which may be long, and times, which take longer to parse than all of the rest. */
export function createOwnerFinder(pool: Pool): (key: VaultKey) => Promise<OwningVault | null> {
  return createFinder<OwningVault, OwningVault>(pool, {
    name: 'owning-vaults-by-address',
    columns: ['id', 'address', 'status'],
    toVault: ({ id, address, status }) => ({ id, address, status }),
  });
}

interface Finding<Row, Found> {
  name: string;
  columns: readonly (string & keyof Row)[];
  toVault(row: Row): Found;
}

function createFinder<Row extends object, Found>(
  pool: Pool,
  { name, columns, toVault }: Finding<Row, Found>,
): (key: VaultKey) => Promise<Found | null> {
  const text = `select wanted.place, ${columns.map((column) => `v.${column}`).join(', ')}
    from unnest($1::text[], $2::text[]) with ordinality as wanted (workspace_id, address, place)
    cross join lateral (
      select * from vaults
      where workspace_id = wanted.workspace_id and lower(address) = wanted.address limit 1
    ) as v`;
  return gather<VaultKey, Found | null>({
    maxInFlight: 2,
    maxItems: 500,
    isItemFault: isStatementFault,
    async run(keys) {
      const names = keys.map(keyOf);
      // Requests at the same time often mean the same vault.
      const wanted = [...new Map(keys.map((key, place) => [names[place], key])).values()];
      const { rows } = await pool.query<Row & { place: number }>({
        name,
        text,
        values: [
          encodeArray(
            'text',
            wanted.map(({ workspaceId }) => workspaceId),
          ),
          encodeArray(
            'text',
            wanted.map(({ address }) => address.toLowerCase()),
          ),
        ],
      });
      const found = new Map(
        rows.map((row) => [keyOf(wanted[row.place - 1] as VaultKey), toVault(row)] as const),
      );
      return names.map((name) => found.get(name) ?? null);
    },
  });
}

/** One key per vault, whatever the case of its address. */
export function keyOf({ workspaceId, address }: VaultKey): string {
  return `${workspaceId} ${address.toLowerCase()}`;
}

/** The existing vaults, by `keyOf`, locked against other changes until the transaction ends. */
export async function lockVaults(db: Db, keys: VaultKey[]): Promise<Map<string, Vault>> {
  const wanted = [...new Map(keys.map((key) => [keyOf(key), key])).values()];
  // A common order, so that two groups never deadlock.
  const { rows } = await sql<VaultRow & { workspace_id: string }>`
    select v.workspace_id, ${sql.join(vaultColumns.map((column) => sql.ref(`v.${column}`)))}
    from unnest(${wanted.map(({ workspaceId }) => workspaceId)}::text[],
                ${wanted.map(({ address }) => address.toLowerCase())}::text[]) as wanted (workspace_id, address)
    join vaults v on v.workspace_id = wanted.workspace_id and lower(v.address) = wanted.address
    order by v.workspace_id, v.id for update of v`.execute(db);
  return new Map(
    rows.map((row) => [keyOf({ workspaceId: row.workspace_id, address: row.address }), toVault(row)]),
  );
}

export function toVault({ created_at, updated_at, ...rest }: VaultRow): Vault {
  const { id, name, description, address, status } = rest;
  return { id, name, description, address, status, createdAt: created_at, updatedAt: updated_at };
}
