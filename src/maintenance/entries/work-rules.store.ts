/** What sign-offs need by the type of work: rules of the workspace, and those of an asset, which come first. */
import { sql } from 'kysely';
import { auditWrite } from '../../access/audit/audit.ts';
import { locks } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import type { Requirement } from '../signing/maintenance-entry.ts';

export interface WorkRule extends Requirement {
  /** In the form for comparisons; `*` for every type that has no rule of its own. */
  type: string;
}

/** The type of a rule for all work. */
export const everyWork = '*';

/** Per workspace and per asset. */
export const mostWorkRules = 200;

/** A type of work in the form in which types are compared. */
export function plainWork(type: string): string {
  return type.trim().toLowerCase();
}

/** `assetId`: null for those of the workspace. By type. */
export async function readWorkRules(
  db: Db,
  workspaceId: string,
  assetId: string | null,
): Promise<WorkRule[]> {
  const { rows } = await sql<WorkRule>`
    select type, scope, categories, critical from work_rules
    where workspace_id = ${workspaceId} and asset_id = ${assetId ?? ''} order by type`.execute(db);
  return rows;
}

/** Replaces all of them. The asset exists. */
export async function changeWorkRules(
  db: Db,
  caller: Caller,
  { assetId, rules: given }: { assetId: string | null; rules: WorkRule[] },
): Promise<WorkRule[]> {
  const { workspaceId } = caller;
  const rules = given.map((rule) => ({ ...rule, type: plainWork(rule.type) }));
  const twice = rules.find(({ type }, place) => rules.findIndex((one) => one.type === type) !== place);
  if (twice) throw new AppError('invalid_request', `There are two rules for the type "${twice.type}".`);
  return db.transaction().execute(async (db) => {
    await sql`select pg_advisory_xact_lock(${locks.workRules}, hashtext(${workspaceId}))`.execute(db);
    const from = await readWorkRules(db, workspaceId, assetId);
    await sql`
      delete from work_rules where workspace_id = ${workspaceId} and asset_id = ${assetId ?? ''}`.execute(db);
    await sql`
      insert into work_rules (workspace_id, asset_id, type, scope, categories, critical)
      select ${workspaceId}::text, ${assetId ?? ''}::text, type, scope, categories, critical
      from jsonb_to_recordset(${JSON.stringify(rules)}::jsonb)
        as given (type text, scope text, categories text[], critical boolean)`.execute(db);
    const to = await readWorkRules(db, workspaceId, assetId);
    await insertAll(db, [
      auditWrite(caller, {
        action: 'signoffs.change_work_rules',
        targetId: assetId ?? workspaceId,
        details: { rules: { from, to } },
      }),
    ]);
    return to;
  });
}
