/** Completes validations in one commit: the row, its leaf, the event and the audit entry. */
import { sql } from 'kysely';
import { auditWrite } from '../../../access/audit/audit.ts';
import { pendingLeaf } from '../../../anchoring/batching/pending.ts';
import type { Db } from '../../../db/database.ts';
import { insertAll, type Write } from '../../../db/writes.ts';
import { eventWrite } from '../../../events/events.ts';
import type { Caller } from '../../../runtime/caller.ts';
import type { OpenValidation } from './file-validations.store.ts';

export interface JudgedValidation extends OpenValidation {
  authenticity: boolean;
}

/** In the order of their ids; skips validations that are already completed. Returns how many were completed. */
export async function completeValidations(db: Db, judged: JudgedValidation[]): Promise<number> {
  const states = await lockOpen(db, judged);
  const at = new Date();
  const numbers = new Map<string, number>();
  const completed: Completed[] = [];
  for (const validation of judged) {
    const state = states.get(validation.id);
    if (!state) continue;
    const { workspaceId, fileId } = validation;
    const key = `${workspaceId} ${fileId}`;
    const number = (numbers.get(key) ?? state.last_number) + 1;
    numbers.set(key, number);
    const integrity = validation.presentedHash.equals(validation.anchoredDigest);
    const owner = { id: state.owner_id, address: state.owner_address };
    const vault = validation.vault ?? owner;
    const ownership = vault.id === owner.id;
    const valid = integrity && validation.authenticity && ownership;
    completed.push({
      ...validation,
      number,
      integrity,
      ownership,
      result: valid ? 'valid' : 'invalid',
      vault,
      owner,
    });
  }
  if (completed.length === 0) return 0;
  await writeResults(db, completed, at);
  await insertAll(
    db,
    completed.flatMap((validation) => writesOf(validation, at)),
  );
  return completed.length;
}

interface Completed extends JudgedValidation {
  number: number;
  integrity: boolean;
  ownership: boolean;
  result: 'valid' | 'invalid';
  vault: { id: string; address: string };
  /** The current owner of the file, who seals the result. */
  owner: { id: string; address: string };
}

interface State {
  id: string;
  owner_id: string;
  owner_address: string;
  last_number: number;
}

/** Locks the validations that are still open until the commit; returns the file's current owner and last number for each. */
async function lockOpen(db: Db, judged: JudgedValidation[]): Promise<Map<string, State>> {
  const { rows } = await sql<State>`
    select o.id, f.vault_id as owner_id, a.address as owner_address, coalesce((
             select l.version from anchor_leaves l
             where l.workspace_id = o.workspace_id and l.subject_id = o.file_id and l.kind = 'validation'
             order by l.version desc limit 1
           ), 0) as last_number
    from unnest(${judged.map(({ workspaceId }) => workspaceId)}::text[], ${judged.map(({ id }) => id)}::text[])
      as wanted (workspace_id, id)
    join file_validations o on o.workspace_id = wanted.workspace_id and o.id = wanted.id and o.result is null
    join files f on f.workspace_id = o.workspace_id and f.id = o.file_id
    join vaults a on a.workspace_id = f.workspace_id and a.id = f.vault_id
    order by o.id for update of o`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

async function writeResults(db: Db, completed: Completed[], at: Date): Promise<void> {
  const each = <T>(value: (validation: Completed) => T) => completed.map(value);
  await sql`
    update file_validations o
    set number = r.number, result = r.result, integrity = r.integrity, authenticity = r.authenticity,
        ownership = r.ownership, validated_at = ${at}
    from unnest(
      ${each(({ workspaceId }) => workspaceId)}::text[], ${each(({ id }) => id)}::text[],
      ${each(({ number }) => number)}::integer[], ${each(({ result }) => result)}::text[],
      ${each(({ integrity }) => integrity)}::boolean[], ${each(({ authenticity }) => authenticity)}::boolean[],
      ${each(({ ownership }) => ownership)}::boolean[]
    ) as r (workspace_id, id, number, result, integrity, authenticity, ownership)
    where o.workspace_id = r.workspace_id and o.id = r.id`.execute(db);
}

function writesOf(completed: Completed, at: Date): Write[] {
  const { workspaceId, id, fileId, version, vault, number, owner } = completed;
  const { result, integrity, authenticity, ownership } = completed;
  const verdict = { result, integrity, authenticity, ownership };
  const { write } = pendingLeaf({
    workspaceId,
    kind: 'validation',
    subjectId: fileId,
    version: number,
    vault: owner,
    digest: completed.presentedHash,
    canonicalization: completed.canonicalization,
    // Beside the chain of versions and transfers, which do not wait for it.
    previousLeaf: completed.leaf,
    claims: {
      validationId: id,
      fileVersion: version,
      vaultAddress: vault.address.toLowerCase(),
      ...verdict,
      validatedAt: at.toISOString(),
    },
  });
  const caller: Caller = {
    workspaceId,
    actor: { kind: 'system', id: 'file-validation' },
    scopes: [],
    requestId: null,
  };
  return [
    write,
    eventWrite({
      workspaceId,
      type: 'file.validation.completed',
      at,
      data: {
        file_id: fileId,
        vault_id: vault.id,
        version,
        validation_id: id,
        ...verdict,
        validated_at: at.toISOString(),
      },
    }),
    auditWrite(caller, {
      action: 'file.complete_validation',
      targetId: fileId,
      details: { validationId: id, version, ...verdict },
    }),
  ];
}
