/** Entries and sign-offs in SQL, read with the state of their anchors. */
import { type RawBuilder, sql } from 'kysely';
import {
  type AnchorColumns,
  type AnchorState,
  anchorColumns,
  anchorStateOf,
  hasStatus,
  joinAnchor,
  leafKey,
} from '../../anchoring/anchored.ts';
import { fromBytea, type HexText } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import type { AnchorStatus } from '../../proof/anchor-status.ts';
import {
  type SignedWith,
  type SignoffDocument,
  signedInWords,
} from '../../proof/signoff/signoff-document.ts';
import { AppError } from '../../runtime/errors.ts';
import type { Licence } from '../signing/licence.ts';

/** The type of an entry in its form for comparisons: case does not matter. An index uses the same expression. */
export const plainType = sql`(lower(btrim(type) collate "default") collate "C")`;

/** An entry in lists. */
export interface Maintenance extends AnchorState {
  assetId: string;
  maintenanceId: string;
  maintenanceHash: HexText;
  /** Counts from 1 in each asset, in the order of recording. */
  number: number;
  type: string;
  summary: string;
  performedAt: Date;
  recordedAt: Date;
  /** EIP-55. */
  workerAddress: string;
  workerName: string;
  /** In the order they were made. */
  signoffs: Signoff[];
  supersedes: string | null;
  supersededBy: string | null;
  release: ReleaseState;
}

/** `withdrawn`: it was certified, and then corrected; what it released is released again once the correction is certified. */
export const releaseStates = ['none', 'released', 'withdrawn'] as const;
export type ReleaseState = (typeof releaseStates)[number];

export interface Signoff
  extends AnchorState,
    Pick<SignoffDocument, 'role' | 'workerAddress' | 'workerName' | 'signedAt' | 'signature'> {
  /** As it was when it was used. */
  licence: Licence | null;
  /** When the service received it, if it was signed elsewhere; null if the service signed. */
  receivedAt: string | null;
  signedWith: SignedWith['method'];
  /** Who signed with what, in one sentence. */
  statement: string;
  /** Counts from 1 in each entry. */
  number: number;
  signoffHash: HexText;
}

export interface WholeMaintenance {
  maintenance: Maintenance;
  /** RFC 8785 form of the document that was hashed. */
  entry: string;
  salt: Buffer;
}

export function noMaintenance(id: string): AppError {
  return new AppError('resource_not_found', `There is no maintenance entry ${id} of this asset.`);
}

export interface MaintenanceKey {
  workspaceId: string;
  assetId: string;
  maintenanceId: string;
}

/** `entries`: a select of rows of `maintenances`. Latest work first. */
export async function readMaintenances(
  db: Db,
  workspaceId: string,
  { entries, status, limit }: { entries: RawBuilder<unknown>; status?: AnchorStatus; limit: number },
): Promise<Maintenance[]> {
  const { rows } = await sql<MaintenanceRow>`
    select ${sql.raw(columns)} from (${entries}) as m ${sql.raw(joins)}
    where ${status === undefined ? sql`true` : hasStatus(status)}
    order by m.performed_at desc, m.id desc limit ${limit}`.execute(db);
  const signoffs = await readSignoffs(
    db,
    workspaceId,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => toMaintenance(row, signoffs.get(row.id) ?? []));
}

export async function requireMaintenance(
  db: Db,
  { workspaceId, assetId, maintenanceId }: MaintenanceKey,
): Promise<void> {
  const found = await db
    .selectFrom('maintenances')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', maintenanceId)
    .where('asset_id', '=', assetId)
    .executeTakeFirst();
  if (!found) throw noMaintenance(maintenanceId);
}

export async function findMaintenance(
  db: Db,
  { workspaceId, assetId, maintenanceId }: MaintenanceKey,
): Promise<WholeMaintenance | null> {
  const { rows } = await sql<MaintenanceRow & { entry: string; salt: Buffer }>`
    select ${sql.raw(columns)}, m.entry, m.salt from (
      select * from maintenances
      where workspace_id = ${workspaceId} and id = ${maintenanceId} and asset_id = ${assetId} limit 1
    ) as m ${sql.raw(joins)}`.execute(db);
  const [row] = rows;
  if (!row) return null;
  const signoffs = await readSignoffs(db, workspaceId, [maintenanceId]);
  const maintenance = toMaintenance(row, signoffs.get(maintenanceId) ?? []);
  return { maintenance, entry: row.entry, salt: row.salt };
}

export interface WholeSignoff {
  signoff: Signoff;
  /** RFC 8785 form that was hashed. */
  document: string;
  salt: Buffer;
}

export async function findSignoff(
  db: Db,
  { workspaceId, assetId, maintenanceId, number }: MaintenanceKey & { number: number },
): Promise<WholeSignoff | null> {
  const { rows } = await sql<SignoffRow & { salt: Buffer }>`
    select ${sql.raw(signoffColumns)}, s.salt from (
      select s.* from signoffs s
      join maintenances m on m.workspace_id = s.workspace_id and m.id = s.maintenance_id and m.asset_id = ${assetId}
      where s.workspace_id = ${workspaceId} and s.maintenance_id = ${maintenanceId} and s.number = ${number}
    ) as s ${sql.raw(signoffJoins)}`.execute(db);
  const [row] = rows;
  return row ? { signoff: toSignoff(row), document: row.document, salt: row.salt } : null;
}

/** The sign-offs of these entries, by the entry's id. */
async function readSignoffs(
  db: Db,
  workspaceId: string,
  maintenanceIds: string[],
): Promise<Map<string, Signoff[]>> {
  const found = new Map<string, Signoff[]>();
  if (maintenanceIds.length === 0) return found;
  const { rows } = await sql<SignoffRow>`
    select ${sql.raw(signoffColumns)}
    from unnest(${maintenanceIds}::text[]) as wanted (id)
    cross join lateral (
      select * from signoffs where workspace_id = ${workspaceId} and maintenance_id = wanted.id
      order by number limit 1000
    ) as s ${sql.raw(signoffJoins)}
    order by s.maintenance_id, s.number`.execute(db);
  for (const row of rows) {
    const signoff = toSignoff(row);
    const others = found.get(row.maintenance_id);
    if (others) others.push(signoff);
    else found.set(row.maintenance_id, [signoff]);
  }
  return found;
}

const columns = `m.id, m.asset_id, m.hash, m.number, m.type, m.summary, m.performed_at, m.created_at, m.worker_address,
  m.worker_name, m.supersedes, correction.id as superseded_by, ${anchorColumns}`;

/** Each join uses a key, for every entry `m`. */
const joins = `
  left join maintenances correction on correction.workspace_id = m.workspace_id and correction.supersedes = m.id ${joinAnchor(leafKey('maintenance', 'm'))}`;

const signoffColumns = `s.maintenance_id, s.number, s.document, s.hash, ${anchorColumns}`;

const signoffJoins = joinAnchor(leafKey('signoff', 's'));

interface MaintenanceRow extends AnchorColumns {
  id: string;
  asset_id: string;
  hash: Buffer;
  number: number;
  type: string;
  summary: string;
  performed_at: Date;
  created_at: Date;
  worker_address: string;
  worker_name: string;
  supersedes: string | null;
  superseded_by: string | null;
}

interface SignoffRow extends AnchorColumns {
  maintenance_id: string;
  number: number;
  document: string;
  hash: Buffer;
}

function toMaintenance(row: MaintenanceRow, signoffs: Signoff[]): Maintenance {
  return {
    assetId: row.asset_id,
    maintenanceId: row.id,
    maintenanceHash: fromBytea(row.hash),
    number: row.number,
    type: row.type,
    summary: row.summary,
    performedAt: row.performed_at,
    recordedAt: row.created_at,
    workerAddress: row.worker_address,
    workerName: row.worker_name,
    ...anchorStateOf(row),
    signoffs,
    supersedes: row.supersedes,
    supersededBy: row.superseded_by,
    release: releaseOf(signoffs, row.superseded_by),
  };
}

function releaseOf(signoffs: Signoff[], supersededBy: string | null): ReleaseState {
  if (!signoffs.some(({ role }) => role === 'certified')) return 'none';
  return supersededBy === null ? 'released' : 'withdrawn';
}

function toSignoff(row: SignoffRow): Signoff {
  const document = JSON.parse(row.document) as SignoffDocument;
  const { role, workerAddress, workerName, licence, signedAt, receivedAt = null, signature } = document;
  return {
    number: row.number,
    role,
    workerAddress,
    workerName,
    licence,
    signedAt,
    receivedAt,
    signedWith: document.signedWith.method,
    statement: signedInWords(document),
    signature,
    signoffHash: fromBytea(row.hash),
    ...anchorStateOf(row),
  };
}
