/** The limit and the use of each budget of a workspace. */
import { sql } from 'kysely';
import { limitInSql } from '../../access/workspaces/workspace-limits.ts';
import type { Db } from '../../db/database.ts';
import { type BudgetName, budgetNames, type Limits, limitOf } from '../../runtime/budgets.ts';
import type { Caller } from '../../runtime/caller.ts';

export interface BudgetUse {
  name: BudgetName;
  /** Null: no limit. */
  limit: number | null;
  used: number;
  /** When a budget per minute or day resets; null for amounts, and while nothing of a minute's budget is used. */
  resetsAt: Date | null;
  /** Counted on the answering node only, not for the whole installation. */
  perNode: boolean;
}

/** Use that is counted on this node and not in the database. */
export interface NodeUse {
  requests(workspaceId: string): { used: number; resetsAt: Date | null };
  streams(workspaceId: string): number;
  exports(workspaceId: string): number;
}

export type ReadUsage = (caller: Pick<Caller, 'workspaceId' | 'limits'>) => Promise<BudgetUse[]>;

export function createUsage({ db, limits, node }: { db: Db; limits: Limits; node: NodeUse }): ReadUsage {
  return async ({ workspaceId, limits: own }) => {
    const stored = await readStored(db, workspaceId);
    const requests = node.requests(workspaceId);
    const ofNode = (name: BudgetName, used: number, resetsAt: Date | null = null) => ({
      name,
      limit: limitOf(limits, own, name),
      used,
      resetsAt,
      perNode: true,
    });
    const all = [
      ...stored,
      ofNode('requests_per_minute', requests.used, requests.resetsAt),
      ofNode('streams', node.streams(workspaceId)),
      ofNode('exports', node.exports(workspaceId)),
    ];
    return all.sort((a, b) => budgetNames.indexOf(a.name) - budgetNames.indexOf(b.name));
  };
}

/** Budgets that the database counts, for all nodes. */
export async function readStored(db: Db, workspaceId: string): Promise<BudgetUse[]> {
  const today = sql`(now() at time zone 'UTC')::date`;
  const { rows } = await sql<{
    name: BudgetName;
    limit: number | null;
    used: number;
    resets_at: Date | null;
  }>`
    select 'stored_bytes' as name, ${limitInSql(workspaceId, 'stored_bytes')} as limit,
      used, null::timestamptz as resets_at
    from budget_use(${workspaceId}, 'stored_bytes', 'epoch')
    union all
    select 'anchors_per_day', ${limitInSql(workspaceId, 'anchors_per_day')},
      used, (${today} + 1)::timestamp at time zone 'UTC'
    from budget_use(${workspaceId}, 'anchors_per_day', ${today})
    union all
    select 'endpoints', ${limitInSql(workspaceId, 'endpoints')}, count(*), null
    from webhook_endpoints where workspace_id = ${workspaceId} and deleted_at is null
    union all
    select 'filter_characters', ${limitInSql(workspaceId, 'filter_characters')}, coalesce(sum(length(filter)), 0)::bigint, null
    from webhook_endpoints where workspace_id = ${workspaceId} and deleted_at is null
    union all
    select 'api_keys', ${limitInSql(workspaceId, 'api_keys')}, count(*), null
    from api_keys where workspace_id = ${workspaceId} and revoked_at is null
      and (expires_at is null or expires_at > now())`.execute(db);
  return rows.map(({ resets_at, ...row }) => ({ ...row, resetsAt: resets_at, perNode: false }));
}
