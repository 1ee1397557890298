/** Transfers of files between vaults: asked for under the file's lock, sealed by the giving vault, done once confirmed. */
import { sql } from 'kysely';
import { auditWrite } from '../../access/audit/audit.ts';
import { type AnchorColumns, type AnchorState, anchorStateOf } from '../../anchoring/anchor-state.ts';
import type { AnchoredLeaf } from '../../anchoring/announcer.ts';
import { pendingLeaf } from '../../anchoring/batching/pending.ts';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import { transferKind } from '../../proof/history.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import { transferCompleted } from './file-events.ts';
import { holdActiveVault, holdFile } from './file-versions.ts';

/** A transfer, as it is answered. */
export interface FileTransfer extends AnchorState {
  id: string;
  fileId: string;
  fromVaultAddress: string;
  toVaultAddress: string;
}

export interface TransferRequest {
  fileId: string;
  destinationVaultAddress: string;
}

/** `also`: rows to commit with the transfer. */
export function startTransfer(
  db: Db,
  caller: Caller,
  { fileId, destinationVaultAddress, also }: TransferRequest & { also: (transfer: FileTransfer) => Write[] },
): Promise<FileTransfer> {
  const { workspaceId } = caller;
  return db.transaction().execute(async (db) => {
    const file = await holdFile(db, { workspaceId, id: fileId });
    if (file.transferId !== null) throw transferUnderWay(fileId);
    const to = await holdActiveVault(db, { workspaceId, address: destinationVaultAddress });
    if (to.id === file.vault.id) {
      throw new AppError('conflict', `The vault ${to.address} already owns the file ${fileId}.`);
    }
    const id = newId('trf');
    const number = await nextNumber(db, workspaceId, fileId);
    const { leaf, write } = pendingLeaf({
      workspaceId,
      kind: transferKind,
      subjectId: fileId,
      version: number,
      vault: file.vault,
      // Of the file as it is handed over, so that the file itself verifies it.
      digest: file.contentHash,
      previousLeaf: file.lastLeaf,
      claims: { to: to.address.toLowerCase(), transferId: id, fileVersion: file.version },
    });
    const transfer: FileTransfer = {
      id,
      fileId,
      fromVaultAddress: file.vault.address,
      toVaultAddress: to.address,
      status: 'pending',
      anchor: null,
    };
    await insertAll(db, [
      {
        table: 'file_transfers',
        row: {
          workspace_id: workspaceId,
          id,
          file_id: fileId,
          number,
          file_version: file.version,
          from_vault_id: file.vault.id,
          to_vault_id: to.id,
          completed_at: null,
          created_at: new Date(),
        },
      },
      write,
      auditWrite(caller, {
        action: 'file.transfer',
        targetId: fileId,
        details: { transferId: id, fromVaultId: file.vault.id, toVaultId: to.id },
      }),
      ...also(transfer),
    ]);
    await db
      .updateTable('files')
      .set({ transfer_id: id, last_leaf: leaf })
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', fileId)
      .execute();
    return transfer;
  });
}

export function transferUnderWay(fileId: string): AppError {
  return new AppError(
    'conflict',
    `A transfer of the file ${fileId} is in progress. Wait until it is confirmed.`,
  );
}

/** Inside the commit that tells of confirmed transfers: they take effect. Those of other things are left alone. */
export async function confirmFileTransfers(db: Db, leaves: AnchoredLeaf[]): Promise<Write[]> {
  const { rows } = await sql<ConfirmedTransfer>`
    select t.workspace_id as "workspaceId", t.id, t.file_id as "fileId", t.number, t.file_version as "fileVersion",
           t.from_vault_id as "fromVaultId", t.to_vault_id as "toVaultId"
    from unnest(${leaves.map(({ workspaceId }) => workspaceId)}::text[],
                ${leaves.map(({ subjectId }) => subjectId)}::text[],
                ${leaves.map(({ version }) => version)}::integer[]) as leaf (workspace_id, file_id, number)
    cross join lateral (
      select * from file_transfers
      where workspace_id = leaf.workspace_id and file_id = leaf.file_id and number = leaf.number limit 1
    ) as t`.execute(db);
  if (rows.length === 0) return [];
  const keys = sql`unnest(${rows.map(({ workspaceId }) => workspaceId)}::text[],
                          ${rows.map(({ id }) => id)}::text[]) as done (workspace_id, id)`;
  // Each moves its file once: after a reorg it is confirmed again, and the file may be elsewhere by then.
  await sql`
    update files f set vault_id = t.to_vault_id, transfer_id = null
    from ${keys} join file_transfers t on t.workspace_id = done.workspace_id and t.id = done.id
    where f.workspace_id = t.workspace_id and f.id = t.file_id and f.transfer_id = t.id`.execute(db);
  await sql`
    update file_transfers t set completed_at = now() from ${keys}
    where t.workspace_id = done.workspace_id and t.id = done.id and t.completed_at is null`.execute(db);
  const transfers = new Map(rows.map((row) => [keyOf(row.workspaceId, row.fileId, row.number), row]));
  return leaves.flatMap((leaf) => {
    const transfer = transfers.get(keyOf(leaf.workspaceId, leaf.subjectId, leaf.version));
    return transfer ? [transferCompleted(leaf, transfer)] : [];
  });
}

/** While it has not taken effect, it does not count as confirmed: the two are a moment apart. */
export function transferStateOf(row: AnchorColumns & { completed_at: Date | null }): AnchorState {
  const state = anchorStateOf(row);
  return row.completed_at === null && state.anchor !== null ? { status: 'submitted', anchor: null } : state;
}

interface ConfirmedTransfer {
  workspaceId: string;
  id: string;
  fileId: string;
  number: number;
  fileVersion: number;
  fromVaultId: string;
  toVaultId: string;
}

function keyOf(workspaceId: string, fileId: string, number: number): string {
  return `${workspaceId} ${fileId} ${number}`;
}

async function nextNumber(db: Db, workspaceId: string, fileId: string): Promise<number> {
  const { rows } = await sql<{ last: number | null }>`
    select max(number) as last from file_transfers
    where workspace_id = ${workspaceId} and file_id = ${fileId}`.execute(db);
  return (rows[0]?.last ?? 0) + 1;
}
