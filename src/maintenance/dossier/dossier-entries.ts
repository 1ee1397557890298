/** All entries of an asset with their sign-offs, page by page, for an export: oldest work first. */
import { sql } from 'kysely';
import {
  type AnchorColumns,
  type AnchorState,
  anchorColumns,
  anchorStateOf,
  joinAnchor,
  leafKey,
} from '../../anchoring/anchored.ts';
import { fromBytea, type HexText } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import type { SignoffDocument } from '../../proof/signoff/signoff-document.ts';
import type { AssetKey } from '../assets/assets.store.ts';
import type { MaintenanceEntry } from '../signing/maintenance-entry.ts';

export interface KeptEntry extends AnchorState {
  number: number;
  entry: MaintenanceEntry;
  /** RFC 8785 form that was hashed. */
  text: string;
  salt: HexText;
  hash: HexText;
  supersededBy: string | null;
  signoffs: KeptSignoff[];
}

export interface KeptSignoff extends AnchorState {
  number: number;
  document: SignoffDocument;
  text: string;
  salt: HexText;
  hash: HexText;
}

/** An entry may have a megabyte; most have a kilobyte. A page ends with the entry that fills it. */
const mostOfPage = 50;
const pageBytes = 1024 * 1024;

/**
 * The entries up to a number, so that they are the same each time, whatever is recorded meanwhile. Holds nothing between two
 * pages, however slowly they are read.
 */
export async function* keptEntries(db: Db, key: AssetKey, upTo: number): AsyncGenerator<KeptEntry[]> {
  let last: EntryRow | undefined;
  do {
    const rows: EntryRow[] = await readEntries(db, key, { upTo, after: last });
    if (rows.length === 0) return;
    const signoffs = await readSignoffs(
      db,
      key.workspaceId,
      rows.map(({ id }) => id),
    );
    yield rows.map((row) => toEntry(row, signoffs.get(row.id) ?? []));
    last = rows.at(-1);
  } while (last);
}

export async function findKeptEntry(
  db: Db,
  { workspaceId, assetId }: AssetKey,
  maintenanceId: string,
): Promise<KeptEntry | null> {
  const { rows } = await sql<EntryRow>`
    select m.id, m.number, m.performed_at, m.entry, m.salt, m.hash, correction.id as superseded_by,
      ${sql.raw(anchorColumns)}
    from maintenances m
    left join maintenances correction on correction.workspace_id = m.workspace_id and correction.supersedes = m.id
    ${sql.raw(joinAnchor(leafKey('maintenance', 'm')))}
    where m.workspace_id = ${workspaceId} and m.id = ${maintenanceId} and m.asset_id = ${assetId}`.execute(
    db,
  );
  const [row] = rows;
  if (!row) return null;
  const signoffs = await readSignoffs(db, workspaceId, [row.id]);
  return toEntry(row, signoffs.get(row.id) ?? []);
}

/** Whether somebody has certified it. */
export function isCertified({ signoffs }: Pick<KeptEntry, 'signoffs'>): boolean {
  return signoffs.some(({ document }) => document.role === 'certified');
}

/** The number of the asset's newest entry, which is also how many it has. */
export async function countEntries(db: Db, { workspaceId, assetId }: AssetKey): Promise<number> {
  const newest = await db
    .selectFrom('maintenances')
    .select('number')
    .where('workspace_id', '=', workspaceId)
    .where('asset_id', '=', assetId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest?.number ?? 0;
}

interface EntryRow extends AnchorColumns {
  id: string;
  number: number;
  performed_at: Date;
  entry: string;
  salt: Buffer;
  hash: Buffer;
  superseded_by: string | null;
}

async function readEntries(
  db: Db,
  { workspaceId, assetId }: AssetKey,
  { upTo, after }: { upTo: number; after: EntryRow | undefined },
): Promise<EntryRow[]> {
  const ahead = after
    ? sql`and (performed_at, id) > (${after.performed_at}::timestamptz, ${after.id}::text)`
    : sql``;
  const { rows } = await sql<EntryRow>`
    select m.id, m.number, m.performed_at, m.entry, m.salt, m.hash, correction.id as superseded_by,
      ${sql.raw(anchorColumns)}
    from (
      select *, sum(octet_length(entry)) over (order by performed_at, id) - octet_length(entry) as bytes_before
      from (
        select * from maintenances
        where workspace_id = ${workspaceId} and asset_id = ${assetId} and number <= ${upTo} ${ahead}
        order by performed_at, id limit ${mostOfPage}
      ) as next
    ) as m
    left join maintenances correction on correction.workspace_id = m.workspace_id and correction.supersedes = m.id
      and correction.number <= ${upTo}
    ${sql.raw(joinAnchor(leafKey('maintenance', 'm')))}
    where m.bytes_before < ${pageBytes}
    order by m.performed_at, m.id`.execute(db);
  return rows;
}

interface SignoffRow extends AnchorColumns {
  maintenance_id: string;
  number: number;
  document: string;
  salt: Buffer;
  hash: Buffer;
}

/** By the entry's id, in the order they were made. */
async function readSignoffs(db: Db, workspaceId: string, ids: string[]): Promise<Map<string, SignoffRow[]>> {
  const { rows } = await sql<SignoffRow>`
    select s.maintenance_id, s.number, s.document, s.salt, s.hash,
      ${sql.raw(anchorColumns)}
    from unnest(${ids}::text[]) as wanted (id)
    cross join lateral (
      select * from signoffs where workspace_id = ${workspaceId} and maintenance_id = wanted.id
      order by number limit 1000
    ) as s
    ${sql.raw(joinAnchor(leafKey('signoff', 's')))}
    order by s.maintenance_id, s.number`.execute(db);
  return Map.groupBy(rows, ({ maintenance_id }) => maintenance_id);
}

function toEntry(row: EntryRow, signoffs: SignoffRow[]): KeptEntry {
  return {
    number: row.number,
    entry: JSON.parse(row.entry),
    text: row.entry,
    salt: fromBytea(row.salt),
    hash: fromBytea(row.hash),
    supersededBy: row.superseded_by,
    ...anchorStateOf(row),
    signoffs: signoffs.map((signoff) => ({
      number: signoff.number,
      document: JSON.parse(signoff.document),
      text: signoff.document,
      salt: fromBytea(signoff.salt),
      hash: fromBytea(signoff.hash),
      ...anchorStateOf(signoff),
    })),
  };
}
