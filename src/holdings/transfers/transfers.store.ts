/** Transfers in SQL: listed with the state of their anchors, and completed once confirmed. */
import { sql } from 'kysely';
import {
  type AnchorColumns,
  type AnchorState,
  anchorColumns,
  anchorStateOf,
  joinAnchor,
  leafKey,
} from '../../anchoring/anchored.ts';
import type { AnchoredLeaf } from '../../anchoring/announcer.ts';
import type { Db } from '../../db/database.ts';

/** What can be transferred. */
export type SubjectKind = 'file' | 'asset';

export interface SubjectKey {
  workspaceId: string;
  subjectId: string;
}

/** A transfer, as returned by the API. */
export interface Transfer extends AnchorState {
  id: string;
  subjectId: string;
  /** Counts from 1 for each file or asset. */
  number: number;
  /** EIP-55. */
  fromVaultAddress: string;
  toVaultAddress: string;
}

/** Newest first. */
export async function listTransfers(
  db: Db,
  { workspaceId, subjectId }: SubjectKey,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<Transfer[]> {
  const { rows } = await sql<TransferRow>`
    select t.id, t.number, t.completed_at, f.address as from_address, d.address as to_address,
      ${sql.raw(anchorColumns)}
    from transfers t
    join vaults f on f.workspace_id = t.workspace_id and f.id = t.from_vault_id
    join vaults d on d.workspace_id = t.workspace_id and d.id = t.to_vault_id
    ${sql.raw(joinAnchor(leafKey('transfer', 't')))}
    where t.workspace_id = ${workspaceId} and t.subject_id = ${subjectId}
      and t.number < ${before ?? 2 ** 31 - 1}
    order by t.number desc limit ${limit}`.execute(db);
  return rows.map((row) => ({
    id: row.id,
    subjectId,
    number: row.number,
    fromVaultAddress: row.from_address,
    toVaultAddress: row.to_address,
    ...transferStateOf(row),
  }));
}

interface TransferRow extends AnchorColumns {
  id: string;
  number: number;
  completed_at: Date | null;
  from_address: string;
  to_address: string;
}

/** Not confirmed until the owner has changed, which happens a moment after the anchor's confirmation. */
export function transferStateOf(row: AnchorColumns & { completed_at: Date | null }): AnchorState {
  const state = anchorStateOf(row);
  return row.completed_at === null && state.anchor !== null ? { status: 'submitted', anchor: null } : state;
}

/** Zero before the first transfer. Called while the subject is locked. */
export async function lastTransferNumber(db: Db, { workspaceId, subjectId }: SubjectKey): Promise<number> {
  const last = await db
    .selectFrom('transfers')
    .select('number')
    .where('workspace_id', '=', workspaceId)
    .where('subject_id', '=', subjectId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.number ?? 0;
}

/** A transfer that the chain has confirmed. */
export interface ConfirmedTransfer extends SubjectKey {
  id: string;
  subjectKind: SubjectKind;
  number: number;
  /** The version that was transferred. */
  subjectVersion: number;
  fromVaultId: string;
  toVaultId: string;
  /** Whether it was confirmed before, so that the owner has already changed. */
  completed: boolean;
}

/** Ordered by subject and number, a common order, so that two transactions never deadlock. */
export async function findTransfers(db: Db, leaves: AnchoredLeaf[]): Promise<ConfirmedTransfer[]> {
  const { rows } = await sql<ConfirmedTransfer>`
    select t.workspace_id as "workspaceId", t.id, t.subject_kind as "subjectKind", t.subject_id as "subjectId", t.number,
           t.subject_version as "subjectVersion", t.from_vault_id as "fromVaultId", t.to_vault_id as "toVaultId",
           t.completed_at is not null as completed
    from unnest(${leaves.map(({ workspaceId }) => workspaceId)}::text[],
                ${leaves.map(({ subjectId }) => subjectId)}::text[],
                ${leaves.map(({ version }) => version)}::integer[]) as leaf (workspace_id, subject_id, number)
    cross join lateral (
      select * from transfers
      where workspace_id = leaf.workspace_id and subject_id = leaf.subject_id and number = leaf.number limit 1
    ) as t
    order by t.workspace_id, t.subject_id, t.number`.execute(db);
  return rows;
}

/** The table of a transferable kind, and its id column. */
export interface SubjectTable {
  table: 'files' | 'assets';
  id: string;
}

/** Moves each subject to its receiving vault, once. The transfers are of one kind, in the order of `findTransfers`. */
export async function moveSubjects(
  db: Db,
  { table, id }: SubjectTable,
  transfers: ConfirmedTransfer[],
): Promise<void> {
  const each = (value: (transfer: ConfirmedTransfer) => string) => sql`${transfers.map(value)}::text[]`;
  const done = sql`unnest(${each((one) => one.workspaceId)}, ${each((one) => one.subjectId)},
    ${each((one) => one.id)}, ${each((one) => one.toVaultId)}) as done (workspace_id, subject_id, id, to_vault_id)`;
  const subject = sql.ref(`s.${id}`);
  await sql`
    select 1 from ${done}
    join ${sql.table(table)} s on s.workspace_id = done.workspace_id and ${subject} = done.subject_id
    order by s.workspace_id, ${subject} for no key update of s`.execute(db);
  // Only while the transfer is open: after a reorg it is confirmed again, and by then the subject may have moved on.
  await sql`
    update ${sql.table(table)} s set vault_id = done.to_vault_id, transfer_id = null from ${done}
    where s.workspace_id = done.workspace_id and ${subject} = done.subject_id and s.transfer_id = done.id`.execute(
    db,
  );
  await sql`
    update transfers t set completed_at = now() from ${done}
    where t.workspace_id = done.workspace_id and t.id = done.id and t.completed_at is null`.execute(db);
}
