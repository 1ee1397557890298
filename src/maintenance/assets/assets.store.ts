/** Assets in SQL: in their current state with their newest anchor, or locked for a change. */

import { type RawBuilder, sql } from 'kysely';
import {
  type AnchorColumns,
  type AnchorState,
  anchorColumns,
  anchorStateOf,
  joinAnchor,
  leafKey,
} from '../../anchoring/anchored.ts';
import type { Db } from '../../db/database.ts';
import type { VaultStatus } from '../../holdings/vaults/vaults.store.ts';
import { bytesOf } from '../../runtime/page-budget.ts';
import { noAsset } from './asset-access.ts';
import type { AssetFields, Installation, Usage } from './asset-document.ts';
import { readUsageWithParents, usageKey } from './usage-from-parents.store.ts';

export interface Asset extends AssetFields, AnchorState {
  assetId: string;
  vaultId: string;
  /** EIP-55. */
  vaultAddress: string;
  /** The part of its usage that its parents ran, since it was last stated. */
  usageFromParents: Usage;
  /** The asset that it is installed in. */
  parentAssetId: string | null;
  /** Counts from 1. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

/** As stored in the database: metadata that is only passed on need not be parsed. */
export interface StoredAsset extends Omit<Asset, 'metadata'> {
  /** JSON. */
  metadata: string;
}

/** Approximate size as JSON. */
export function bytesOfAsset({ metadata, ...rest }: StoredAsset): number {
  return bytesOf(rest, metadata);
}

export interface AssetKey {
  workspaceId: string;
  assetId: string;
}

export interface AssetQuery {
  vaultId?: string | undefined;
  serialNumber?: string | undefined;
  parentAssetId?: string | undefined;
  /** The last asset of the previous page. */
  before: { createdAt: Date; assetId: string } | undefined;
  limit: number;
}

export async function findAsset(db: Db, { workspaceId, assetId }: AssetKey): Promise<Asset> {
  const [asset] = await readAssets(db, sql`a.workspace_id = ${workspaceId} and a.asset_id = ${assetId}`);
  if (!asset) throw noAsset(assetId);
  return withMetadata(asset);
}

export async function assetExists(db: Db, { workspaceId, assetId }: AssetKey): Promise<boolean> {
  const row = await db
    .selectFrom('assets')
    .select('asset_id')
    .where('workspace_id', '=', workspaceId)
    .where('asset_id', '=', assetId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Newest first. */
export function listAssets(db: Db, workspaceId: string, query: AssetQuery): Promise<StoredAsset[]> {
  return readAssets(
    db,
    sql`${whichOf(workspaceId, query)} order by a.created_at desc, a.asset_id desc limit ${query.limit}`,
  );
}

/** Conditions on the assets `a`. */
export function whichOf(workspaceId: string, query: Omit<AssetQuery, 'limit'>): RawBuilder<unknown> {
  const { vaultId, serialNumber, parentAssetId, before } = query;
  const conditions = [
    sql`a.workspace_id = ${workspaceId}`,
    ...(vaultId === undefined ? [] : [sql`a.vault_id = ${vaultId}`]),
    ...(serialNumber === undefined ? [] : [sql`a.serial_number = ${serialNumber} and a.serial_number <> ''`]),
    ...(parentAssetId === undefined ? [] : [sql`a.parent_asset_id = ${parentAssetId}`]),
    ...(before ? [sql`(a.created_at, a.asset_id) < (${before.createdAt}, ${before.assetId})`] : []),
  ];
  return sql.join(conditions, sql` and `);
}

/**
 * The entry of the asset `a` that states the highest value of a counter. Superseded entries do not count, so that correcting
 * an entry also removes mistyped usage.
 */
export function mostStated(counter: keyof Usage): RawBuilder<unknown> {
  const column = sql.ref(`m.usage_${counter}`);
  return sql`(
    select m.id, ${column} as value from maintenances m
    where m.workspace_id = a.workspace_id and m.asset_id = a.asset_id and ${column} is not null
      and not exists (select 1 from maintenances s where s.workspace_id = m.workspace_id and s.supersedes = m.id)
    order by ${column} desc limit 1
  )`;
}

/** The usage of several assets, by what is stated with them, by their entries, and by what their parents ran. */
export async function readUsage(
  db: Db,
  assets: { workspaceId: string; id: string }[],
): Promise<(AssetKey & { usage: Usage })[]> {
  const { rows } = await sql<{ workspace_id: string; asset_id: string; hours: number; cycles: number }>`
    select a.workspace_id, a.asset_id, greatest(a.usage_hours, by_hours.value) as hours,
      greatest(a.usage_cycles, by_cycles.value) as cycles
    from unnest(${assets.map(({ workspaceId }) => workspaceId)}::text[], ${assets.map(({ id }) => id)}::text[])
      as t (workspace_id, id)
    join assets a on a.workspace_id = t.workspace_id and a.asset_id = t.id
    left join lateral ${mostStated('hours')} as by_hours on true
    left join lateral ${mostStated('cycles')} as by_cycles on true`.execute(db);
  const own = rows.map(({ workspace_id: workspaceId, asset_id: assetId, ...usage }) => ({
    workspaceId,
    assetId,
    usage,
  }));
  const withParents = await readUsageWithParents(db, own);
  return own.map((one) => ({ ...one, usage: wholeUsage(one.usage, withParents.get(usageKey(one))) }));
}

/** An asset that is locked against other changes until the transaction ends. */
export interface HeldAsset extends AssetKey {
  /** The usage is what was stated with the asset itself. */
  fields: AssetFields;
  /** How many there have been. */
  installations: number;
  /** The last installation. */
  installation: Installation | null;
  version: number;
  lastLeaf: Buffer;
  transferId: string | null;
  vault: { id: string; address: string; status: VaultStatus };
}

export async function holdAsset(db: Db, { workspaceId, assetId }: AssetKey): Promise<HeldAsset> {
  await sql`
    select 1 from assets where workspace_id = ${workspaceId} and asset_id = ${assetId} for no key update`.execute(
    db,
  );
  // A separate statement, which sees what was committed during the wait. The vault cannot be deactivated meanwhile.
  const { rows } = await sql<HeldRow>`
    select a.name, a.serial_number, a.part_number, a.metadata, a.usage_hours, a.usage_cycles, a.version, a.last_leaf,
      a.transfer_id, a.vault_id, v.address, v.status, i.number, i.parent_asset_id, i.installed_at, i.removed_at
    from assets a join vaults v on v.workspace_id = a.workspace_id and v.id = a.vault_id
    left join lateral (
      select number, parent_asset_id, installed_at, removed_at from asset_installations
      where workspace_id = a.workspace_id and asset_id = a.asset_id order by number desc limit 1
    ) as i on true
    where a.workspace_id = ${workspaceId} and a.asset_id = ${assetId} for share of v`.execute(db);
  const [row] = rows;
  if (!row) throw noAsset(assetId);
  const { number, parent_asset_id: parentAssetId, installed_at: installedAt, removed_at: removedAt } = row;
  return {
    workspaceId,
    assetId,
    fields: withMetadata(fieldsOf(row)),
    installations: number ?? 0,
    installation: parentAssetId && installedAt ? { parentAssetId, installedAt, removedAt } : null,
    version: row.version,
    lastLeaf: row.last_leaf,
    transferId: row.transfer_id,
    vault: { id: row.vault_id, address: row.address, status: row.status },
  };
}

interface FieldColumns {
  name: string;
  serial_number: string;
  part_number: string;
  metadata: string;
  usage_hours: number;
  usage_cycles: number;
}

interface HeldRow extends FieldColumns {
  number: number | null;
  parent_asset_id: string | null;
  installed_at: Date | null;
  removed_at: Date | null;
  version: number;
  last_leaf: Buffer;
  transfer_id: string | null;
  vault_id: string;
  address: string;
  status: VaultStatus;
}

interface AssetRow extends FieldColumns, AnchorColumns {
  workspace_id: string;
  asset_id: string;
  vault_id: string;
  address: string;
  parent_asset_id: string | null;
  version: number;
  created_at: Date;
  updated_at: Date;
}

/** `which`: a condition on the assets `a`, and their order. */
export async function readAssets(db: Db, which: RawBuilder<unknown>): Promise<StoredAsset[]> {
  const { rows } = await sql<AssetRow>`
    select a.workspace_id, a.asset_id, a.vault_id, v.address, a.name, a.serial_number, a.part_number, a.metadata,
      greatest(a.usage_hours, by_hours.value) as usage_hours, greatest(a.usage_cycles, by_cycles.value) as usage_cycles,
      a.parent_asset_id, a.version, a.created_at, a.updated_at,
      ${sql.raw(anchorColumns)}
    from assets a
    join vaults v on v.workspace_id = a.workspace_id and v.id = a.vault_id
    ${sql.raw(joinAnchor(leafKey('asset', 'a')))}
    left join lateral ${mostStated('hours')} as by_hours on true
    left join lateral ${mostStated('cycles')} as by_cycles on true
    where ${which}`.execute(db);
  const keys = rows.map(({ workspace_id, asset_id }) => ({ workspaceId: workspace_id, assetId: asset_id }));
  const withParents = await readUsageWithParents(db, keys);
  return rows.map((row) => ({
    assetId: row.asset_id,
    vaultId: row.vault_id,
    vaultAddress: row.address,
    ...withUsage(
      fieldsOf(row),
      withParents.get(usageKey({ workspaceId: row.workspace_id, assetId: row.asset_id })),
    ),
    parentAssetId: row.parent_asset_id,
    version: row.version,
    ...anchorStateOf(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}

function fieldsOf({ name, metadata, usage_hours: hours, usage_cycles: cycles, ...row }: FieldColumns) {
  return {
    name,
    serialNumber: row.serial_number,
    partNumber: row.part_number,
    metadata,
    usage: { hours, cycles },
  };
}

/** What is stated of it alone may be more: an installation that is not one of the newest does not count. */
function wholeUsage(own: Usage, withParents: Usage = own): Usage {
  return {
    hours: Math.max(own.hours, withParents.hours),
    cycles: Math.max(own.cycles, withParents.cycles),
  };
}

function withUsage<Fields extends { usage: Usage }>(fields: Fields, withParents: Usage | undefined) {
  const usage = wholeUsage(fields.usage, withParents);
  const usageFromParents = {
    hours: Math.round((usage.hours - fields.usage.hours) * 1e6) / 1e6,
    cycles: usage.cycles - fields.usage.cycles,
  };
  return { ...fields, usage, usageFromParents };
}

function withMetadata<Stored extends { metadata: string }>(stored: Stored) {
  return { ...stored, metadata: JSON.parse(stored.metadata) as AssetFields['metadata'] };
}
