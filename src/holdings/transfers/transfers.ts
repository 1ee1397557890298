/** Transfers of files and assets: sealed by the giving vault, completed when the chain has confirmed them. */
import { sql } from 'kysely';
import type { DefineStep, TakeStep } from '../../access/approvals/steps.ts';
import { auditWrite } from '../../access/audit/audit.ts';
import type { AnchoredLeaf, Confirm } from '../../anchoring/announcer.ts';
import { pendingLeaf } from '../../anchoring/batching/pending.ts';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import type { Canonicalization } from '../../proof/content.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import { holdActiveVault, type OwningVault } from '../vaults/held-vault.ts';
import {
  type ConfirmedTransfer,
  findTransfers,
  lastTransferNumber,
  moveSubjects,
  type SubjectKey,
  type SubjectKind,
  type SubjectTable,
  type Transfer,
} from './transfers.store.ts';

/** A kind that can be transferred, and what is specific to it. */
export interface Transferable extends SubjectTable {
  kind: SubjectKind;
  /** Locks the subject against every other change until the transaction ends. */
  hold(db: Db, key: SubjectKey): Promise<HeldSubject>;
  /** The claim with the version that is transferred. */
  versionClaim: string;
  /** Whether the receiving vault erases such things sooner, so that a transfer to it counts as erasing. */
  erasesSooner?(
    db: Db,
    vaults: { workspaceId: string; fromVaultId: string; toVaultId: string },
  ): Promise<boolean>;
  /** Further effects of the change of owner, in the same commit. */
  onCompleted?(db: Db, transfers: ConfirmedTransfer[]): Promise<Write[]>;
  /** The event that announces it, each time the chain confirms it. */
  completed(leaf: AnchoredLeaf, transfer: ConfirmedTransfer): Write;
}

export interface HeldSubject {
  vault: OwningVault;
  /** The newest version. */
  version: number;
  /** Digest of that version, so that its content verifies the transfer, too. */
  digest: Buffer;
  canonicalization: Canonicalization;
  lastLeaf: Buffer;
  transferId: string | null;
}

export interface TransferRequest {
  subjectId: string;
  destinationVaultAddress: string;
}

/** The step that a request takes, perhaps with a second person. */
export function transferStep(
  define: DefineStep,
  what: Transferable,
  toJson: (transfer: Transfer) => Record<string, unknown>,
): TakeStep<TransferRequest, Transfer> {
  return define<TransferRequest, Transfer>(`${what.kind}.transfer`, async (db, caller, request) => {
    const { transfer, version, vaults } = await startTransfer(db, what, caller, request);
    const { fromVaultAddress, toVaultAddress } = transfer;
    const isSooner = (await what.erasesSooner?.(db, { workspaceId: caller.workspaceId, ...vaults })) ?? false;
    return {
      result: transfer,
      subjectId: transfer.subjectId,
      effect: { fromVaultAddress, toVaultAddress, version, ...(isSooner && { erasesSooner: true }) },
      isAlso: isSooner,
      answer: toJson(transfer),
    };
  });
}

/** Inside a transaction. Also returns the version that is transferred. */
export async function startTransfer(
  db: Db,
  what: Transferable,
  caller: Caller,
  { subjectId, destinationVaultAddress }: TransferRequest,
): Promise<{
  transfer: Transfer;
  version: number;
  vaults: { fromVaultId: string; toVaultId: string };
}> {
  const { workspaceId } = caller;
  const { kind } = what;
  const subject = await what.hold(db, { workspaceId, subjectId });
  refuseDuringTransfer(kind, subjectId, subject.transferId);
  const from = subject.vault;
  const to = await holdActiveVault(db, { workspaceId, address: destinationVaultAddress });
  if (to.id === from.id) {
    throw new AppError('conflict', `The ${kind} ${subjectId} already belongs to the vault ${to.address}.`);
  }
  const id = newId('trf');
  const number = 1 + (await lastTransferNumber(db, { workspaceId, subjectId }));
  const { leaf, write } = pendingLeaf({
    workspaceId,
    kind: 'transfer',
    subjectId,
    version: number,
    vault: from,
    digest: subject.digest,
    canonicalization: subject.canonicalization,
    previousLeaf: subject.lastLeaf,
    claims: { to: to.address.toLowerCase(), transferId: id, [what.versionClaim]: subject.version },
  });
  const transfer: Transfer = {
    id,
    subjectId,
    number,
    fromVaultAddress: from.address,
    toVaultAddress: to.address,
    status: 'pending',
    anchor: null,
  };
  await insertAll(db, [
    {
      table: 'transfers',
      row: {
        workspace_id: workspaceId,
        id,
        subject_kind: kind,
        subject_id: subjectId,
        number,
        subject_version: subject.version,
        from_vault_id: from.id,
        to_vault_id: to.id,
        completed_at: null,
        created_at: new Date(),
      },
    },
    write,
    auditWrite(caller, {
      action: `${kind}.transfer`,
      targetId: subjectId,
      details: { transferId: id, fromVaultId: from.id, toVaultId: to.id },
    }),
  ]);
  await sql`
    update ${sql.table(what.table)} set transfer_id = ${id}, last_leaf = ${leaf}
    where workspace_id = ${workspaceId} and ${sql.ref(what.id)} = ${subjectId}`.execute(db);
  return { transfer, version: subject.version, vaults: { fromVaultId: from.id, toVaultId: to.id } };
}

/** The owner at that time has to seal the next leaf, and the owner is not known before the confirmation. */
export function refuseDuringTransfer(kind: SubjectKind, subjectId: string, transferId: string | null): void {
  if (transferId === null) return;
  throw new AppError(
    'conflict',
    `The ${kind} ${subjectId} is being transferred (${transferId}). Wait for ${kind}.transfer.completed.`,
  );
}

/** Runs inside the commit that announces confirmed transfers, and makes them take effect. */
export function confirmTransfers(...kinds: Transferable[]): Confirm {
  return async (db, leaves) => {
    const transfers = await findTransfers(db, leaves);
    const writes: Write[] = [];
    for (const what of kinds) {
      const open = transfers.filter(({ subjectKind, completed }) => subjectKind === what.kind && !completed);
      if (open.length === 0) continue;
      await moveSubjects(db, what, open);
      writes.push(...((await what.onCompleted?.(db, open)) ?? []));
    }
    const byLeaf = new Map(transfers.map((one) => [keyOf(one, one.number), one]));
    for (const leaf of leaves) {
      const transfer = byLeaf.get(keyOf(leaf, leaf.version));
      const what = kinds.find(({ kind }) => kind === transfer?.subjectKind);
      if (!transfer || !what || (leaf.announcedBefore && transfer.completed)) continue;
      writes.push(what.completed(leaf, transfer));
    }
    return writes;
  };
}

function keyOf({ workspaceId, subjectId }: SubjectKey, number: number): string {
  return JSON.stringify([workspaceId, subjectId, number]);
}
