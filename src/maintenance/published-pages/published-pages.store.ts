/** Published pages in SQL: found by the hash of their token or by their GS1 Digital Link, and only while they are published. */
import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { AssetKey } from '../assets/assets.store.ts';
import { type Maintenance, plainType, readMaintenances } from '../entries/maintenances.store.ts';
import type { Choices, EntryChoices } from './choices.ts';

export interface PublishedPage extends AssetKey {
  id: string;
  /** The owner who published it. */
  vaultId: string;
  digitalLink: string | null;
  choices: Choices;
  until: Date;
  createdAt: Date;
}

/** With what its addresses need. */
export interface OpenPage extends PublishedPage {
  entryKey: Buffer;
}

export interface NewPage extends OpenPage {
  token: string;
}

/** What a visitor has. */
export type PageAddress = { token: string } | { digitalLink: string };

export async function insertPage(db: Db, { token, ...page }: NewPage): Promise<void> {
  await db
    .insertInto('published_pages')
    .values({
      workspace_id: page.workspaceId,
      asset_id: page.assetId,
      id: page.id,
      vault_id: page.vaultId,
      token_hash: hashOf(token),
      digital_link: page.digitalLink,
      choices: JSON.stringify(page.choices),
      entry_key: page.entryKey,
      until: page.until,
      created_at: page.createdAt,
    })
    .execute();
}

/** Removes what has ended, so that it takes no place and no address. */
export async function removeEnded(
  db: Db,
  { workspaceId, assetId }: AssetKey,
  digitalLink: string | null,
): Promise<void> {
  await sql`
    delete from published_pages where until <= now()
      and ((workspace_id = ${workspaceId} and asset_id = ${assetId}) or digital_link = ${digitalLink})`.execute(
    db,
  );
}

export async function countPages(db: Db, { workspaceId, assetId }: AssetKey): Promise<number> {
  const { count } = await db
    .selectFrom('published_pages')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspaceId)
    .where('asset_id', '=', assetId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Those that are open now, newest first. */
export async function listPages(
  db: Db,
  { workspaceId, assetId }: AssetKey,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<PublishedPage[]> {
  const after = before === undefined ? sql`` : sql`and p.id < ${before}`;
  const which = sql`p.workspace_id = ${workspaceId} and p.asset_id = ${assetId} ${after}`;
  return (await readPages(db, sql`${which} order by p.id desc limit ${limit}`)).map(
    ({ entryKey: _, ...page }) => page,
  );
}

export async function findPage(db: Db, address: PageAddress): Promise<OpenPage | null> {
  const which =
    'token' in address
      ? sql`p.token_hash = ${hashOf(address.token)}`
      : sql`p.digital_link = ${address.digitalLink}`;
  return (await readPages(db, which))[0] ?? null;
}

/** Whether there was one. */
export async function deletePage(
  db: Db,
  { workspaceId, assetId, id }: AssetKey & { id: string },
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('published_pages')
    .where('workspace_id', '=', workspaceId)
    .where('asset_id', '=', assetId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** The owner of the asset is still the one who published it, even if a page outlived a transfer. */
async function readPages(db: Db, which: RawBuilder<unknown>): Promise<OpenPage[]> {
  const { rows } = await sql<PageRow>`
    select p.workspace_id, p.asset_id, p.id, p.vault_id, p.digital_link, p.choices, p.entry_key, p.until, p.created_at
    from published_pages p
    join assets a on a.workspace_id = p.workspace_id and a.asset_id = p.asset_id and a.vault_id = p.vault_id
    where p.until > now() and ${which}`.execute(db);
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    assetId: row.asset_id,
    id: row.id,
    vaultId: row.vault_id,
    digitalLink: row.digital_link,
    choices: row.choices,
    entryKey: row.entry_key,
    until: row.until,
    createdAt: row.created_at,
  }));
}

interface PageRow {
  workspace_id: string;
  asset_id: string;
  id: string;
  vault_id: string;
  digital_link: string | null;
  choices: Choices;
  entry_key: Buffer;
  until: Date;
  created_at: Date;
}

/** Latest work first; `after`: the id of the last entry of the page before. */
export async function listChosen(
  db: Db,
  { workspaceId, assetId }: AssetKey,
  { chosen, after, limit }: { chosen: EntryChoices; after: string | undefined; limit: number },
): Promise<Maintenance[]> {
  const conditions = [sql`workspace_id = ${workspaceId}`, sql`asset_id = ${assetId}`];
  if (chosen.maintenanceIds) conditions.push(sql`id = any(${chosen.maintenanceIds}::text[])`);
  if (after !== undefined) {
    conditions.push(sql`(performed_at, id) < (
      select performed_at, id from maintenances where workspace_id = ${workspaceId} and asset_id = ${assetId} and id = ${after})`);
  }
  const first = sql`order by performed_at desc, id desc limit ${limit}`;
  const ofAsset = sql.join(conditions, sql` and `);
  // One short walk of an index for each type, however rare it is among many entries.
  const entries = chosen.types
    ? sql`select ofType.* from unnest(${chosen.types}::text[]) as wanted (kind) cross join lateral (
        select * from maintenances where ${ofAsset} and ${plainType} = wanted.kind ${first}
      ) as ofType ${first}`
    : sql`select * from maintenances where ${ofAsset} ${first}`;
  return readMaintenances(db, workspaceId, { entries, limit });
}

/** Whether the entry is among those that were chosen. */
export async function isChosen(
  db: Db,
  { workspaceId, assetId }: AssetKey,
  { chosen, maintenanceId }: { chosen: EntryChoices; maintenanceId: string },
): Promise<boolean> {
  if (chosen.maintenanceIds && !chosen.maintenanceIds.includes(maintenanceId)) return false;
  const { rows } = await sql`
    select 1 from maintenances where workspace_id = ${workspaceId} and id = ${maintenanceId} and asset_id = ${assetId}
      and (${chosen.types}::text[] is null or ${plainType} = any(${chosen.types}::text[]))`.execute(db);
  return rows.length > 0;
}

/** Of these entries of the asset, how many there are. */
export async function countEntries(db: Db, { workspaceId, assetId }: AssetKey, ids: string[]) {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from maintenances
    where workspace_id = ${workspaceId} and asset_id = ${assetId} and id = any(${ids}::text[])`.execute(db);
  return rows[0]?.count ?? 0;
}

/** The documents of entries by their ids, without those that are larger. */
export async function readDocuments(
  db: Db,
  workspaceId: string,
  { ids, mostBytes }: { ids: string[]; mostBytes: number },
): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; entry: string }>`
    select id, entry from maintenances
    where workspace_id = ${workspaceId} and id = any(${ids}::text[]) and octet_length(entry) <= ${mostBytes}`.execute(
    db,
  );
  return new Map(rows.map(({ id, entry }) => [id, entry]));
}

/** What became of versions of files, by their key; those that do not exist are left out. */
export async function readFiles(
  db: Db,
  { workspaceId, vaultId }: Pick<PublishedPage, 'workspaceId' | 'vaultId'>,
  files: { fileId: string; version: number }[],
): Promise<Map<string, FoundFile>> {
  if (files.length === 0) return new Map();
  const { rows } = await sql<{ id: string; version: number; erased: boolean; size: number | null }>`
    select f.id, v.version, v.erased_at is not null as erased,
      case when v.blob_id is not null and f.vault_id = ${vaultId} then v.size end as size
    from unnest(${files.map(({ fileId }) => fileId)}::text[], ${files.map(({ version }) => version)}::integer[])
      as wanted (id, version)
    join files f on f.workspace_id = ${workspaceId} and f.id = wanted.id
    join file_versions v on v.workspace_id = f.workspace_id and v.file_id = f.id and v.version = wanted.version`.execute(
    db,
  );
  return new Map(
    rows.map(({ id, version, erased, size }) => [
      fileKey({ fileId: id, version }),
      { erased, size: erased ? null : size },
    ]),
  );
}

export interface FoundFile {
  erased: boolean;
  /** In bytes; null if it cannot be downloaded: it was erased, belongs to another vault, or only its hash was given. */
  size: number | null;
}

export function fileKey({ fileId, version }: { fileId: string; version: number }): string {
  return `${fileId} ${version}`;
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
