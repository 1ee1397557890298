/** The rules of a workspace: which steps need a second person. Turning one off is such a step itself. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { auditWrite } from '../audit/audit.ts';
import { countAtLeast } from '../people/members.ts';
import { type RuleName, ruleNames, type StepRun } from './steps.ts';

export type ApprovalRules = Record<RuleName, boolean> & { expiresAfterHours: number };

/** Of whoever changes the rules; two of them are needed before one can be turned on. */
const ruleRole = 'admin';

const noRules: ApprovalRules = {
  eraseContent: false,
  transfer: false,
  wideKeys: false,
  expiresAfterHours: 72,
};

export async function readApprovalRules(db: Db, workspaceId: string): Promise<ApprovalRules> {
  const row = await db
    .selectFrom('approval_rules')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  if (!row) return noRules;
  return {
    eraseContent: row.erase_content,
    transfer: row.transfer,
    wideKeys: row.wide_keys,
    expiresAfterHours: row.expires_after_hours,
  };
}

/** How many people could decide on a change of the rules. */
export function countDeciders(db: Db, workspaceId: string): Promise<number> {
  return countAtLeast(db, workspaceId, ruleRole);
}

/** Has an effect that needs a second person if it turns a rule off. */
export async function changeApprovalRules(
  db: Db,
  caller: Caller,
  change: Partial<ApprovalRules>,
): Promise<StepRun<ApprovalRules>> {
  const { workspaceId } = caller;
  const before = await lockRules(db, workspaceId);
  const after = { ...before, ...change };
  const turned = (on: boolean) => ruleNames.filter((name) => after[name] === on && before[name] !== on);
  if (turned(true).length > 0) await requireTwo(db, workspaceId);
  await save(db, caller, { before, after });
  const off = turned(false);
  return {
    result: after,
    subjectId: workspaceId,
    effect: off.length === 0 ? null : { turnedOff: off, before, after },
    answer: after,
  };
}

/** For the operator, without a second person. Returns the rules that were on. */
export function turnApprovalsOff(db: Db, caller: Caller): Promise<RuleName[]> {
  return db.transaction().execute(async (db) => {
    const before = await lockRules(db, caller.workspaceId);
    const after = { ...before, eraseContent: false, transfer: false, wideKeys: false };
    await save(db, caller, { before, after });
    return ruleNames.filter((name) => before[name]);
  });
}

async function lockRules(db: Db, workspaceId: string): Promise<ApprovalRules> {
  await sql`insert into approval_rules (workspace_id) values (${workspaceId}) on conflict do nothing`.execute(
    db,
  );
  await sql`select 1 from approval_rules where workspace_id = ${workspaceId} for update`.execute(db);
  return readApprovalRules(db, workspaceId);
}

async function save(
  db: Db,
  caller: Caller,
  { before, after }: { before: ApprovalRules; after: ApprovalRules },
): Promise<void> {
  const names = [...ruleNames, 'expiresAfterHours'] as const;
  if (names.every((name) => before[name] === after[name])) return;
  await db
    .updateTable('approval_rules')
    .set({
      erase_content: after.eraseContent,
      transfer: after.transfer,
      wide_keys: after.wideKeys,
      expires_after_hours: after.expiresAfterHours,
    })
    .where('workspace_id', '=', caller.workspaceId)
    .execute();
  const details = { before, after };
  await insertAll(db, [
    auditWrite(caller, { action: 'approval_rules.change', targetId: caller.workspaceId, details }),
  ]);
}

async function requireTwo(db: Db, workspaceId: string): Promise<void> {
  if ((await countDeciders(db, workspaceId)) >= 2) return;
  throw new AppError(
    'conflict',
    'This workspace has only one person with the role admin or owner, so nobody could approve what that person asks for. Give a second person that role first.',
  );
}
