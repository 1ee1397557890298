/** The limits of a workspace: those of the settings, or those that the operator set for this workspace. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { BudgetName, Limits, OwnLimits } from '../../runtime/budgets.ts';
import type { Caller } from '../../runtime/caller.ts';
import { auditWrite } from '../audit/audit.ts';

/** Called at the start of each node that answers requests: the database enforces these limits. */
export async function saveBudgetSettings(db: Db, limits: Limits): Promise<void> {
  await sql`
    insert into budget_settings (limits) values (${JSON.stringify(limits)})
    on conflict (singleton) do update set limits = excluded.limits
    where budget_settings.limits <> excluded.limits`.execute(db);
}

/** Null: no limit. Must match the triggers that count stored bytes and anchors. */
export function limitInSql(workspaceId: string, name: BudgetName): RawBuilder<number | null> {
  return sql`(coalesce((select limits from budget_settings), '{}')
    || coalesce((select limits from workspaces where id = ${workspaceId}), '{}') ->> ${name})::bigint`;
}

/** How much more a workspace may store; null: unlimited. The commit counts what others store meanwhile. */
export async function readStoredRoom(
  db: Db,
  workspaceId: string,
): Promise<{ limit: number; left: number } | null> {
  const { rows } = await sql<{ limit: number | null; used: number }>`
    select ${limitInSql(workspaceId, 'stored_bytes')} as limit, used
    from budget_use(${workspaceId}, 'stored_bytes', 'epoch')`.execute(db);
  const { limit = null, used = 0 } = rows[0] ?? {};
  return limit === null ? null : { limit, left: Math.max(0, limit - used) };
}

export interface WorkspaceLimits {
  /** The settings as of the service's last start; null before its first start. */
  settings: Limits | null;
  own: OwnLimits;
}

export async function readLimits(db: Db, workspaceId: string): Promise<WorkspaceLimits> {
  const { rows } = await sql<{ settings: Limits | null; own: OwnLimits | null }>`
    select (select limits from budget_settings) as settings,
      (select limits from workspaces where id = ${workspaceId}) as own`.execute(db);
  return { settings: rows[0]?.settings ?? null, own: rows[0]?.own ?? {} };
}

/** A number, null for no limit, or undefined to follow the settings again. */
export type LimitChanges = Partial<Record<BudgetName, number | null | undefined>>;

export async function changeLimits(db: Db, caller: Caller, changes: LimitChanges): Promise<void> {
  const { workspaceId } = caller;
  await db.transaction().execute(async (db) => {
    const { limits } = await db
      .selectFrom('workspaces')
      .select('limits')
      .where('id', '=', workspaceId)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow();
    // JSON leaves out undefined ones.
    const changed = JSON.stringify({ ...limits, ...changes });
    await db.updateTable('workspaces').set({ limits: changed }).where('id', '=', workspaceId).execute();
    const details = Object.fromEntries(
      Object.entries(changes).map(([name, limit]) => [name, limit === undefined ? 'default' : limit]),
    );
    await insertAll(db, [
      auditWrite(caller, { action: 'workspace.change_limits', targetId: workspaceId, details }),
    ]);
  });
}
