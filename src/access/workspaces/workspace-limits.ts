/** What a workspace may have of each budget: as the settings say, or as the operator said for this one. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { BudgetName, Limits, OwnLimits } from '../../runtime/budgets.ts';
import type { Caller } from '../../runtime/caller.ts';
import { auditWrite } from '../audit/audit.ts';

/** At the start of each node that answers requests: what is refused by the database is refused by these. */
export async function saveBudgetSettings(db: Db, limits: Limits): Promise<void> {
  await sql`
    insert into budget_settings (limits) values (${JSON.stringify(limits)})
    on conflict (singleton) do update set limits = excluded.limits
    where budget_settings.limits <> excluded.limits`.execute(db);
}

/** Null: no limit. The same as the triggers that count stored bytes and anchors have it. */
export function limitInSql(workspaceId: string, name: BudgetName): RawBuilder<number | null> {
  return sql`(coalesce((select limits from budget_settings), '{}')
    || coalesce((select limits from workspaces where id = ${workspaceId}), '{}') ->> ${name})::bigint`;
}

/** How much more a workspace may store; null: as much as it likes. What is stored meanwhile is counted at the commit. */
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
  /** As the settings of the service were when it started last; null before its first start. */
  settings: Limits | null;
  own: OwnLimits;
}

export async function readLimits(db: Db, workspaceId: string): Promise<WorkspaceLimits> {
  const { rows } = await sql<{ settings: Limits | null; own: OwnLimits | null }>`
    select (select limits from budget_settings) as settings,
      (select limits from workspaces where id = ${workspaceId}) as own`.execute(db);
  return { settings: rows[0]?.settings ?? null, own: rows[0]?.own ?? {} };
}

/** Each to a number, to null for none, or to undefined to follow the settings again. */
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
    // Those that became undefined are left out of JSON.
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
