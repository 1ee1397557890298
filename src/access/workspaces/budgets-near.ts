/** Signs that workspaces have nearly used up a budget. A bounded number of workspaces is looked at each time, in turns. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { Sign, Watch } from '../../events/notice.ts';
import type { BudgetName } from '../../runtime/budgets.ts';

/** 5,000 workspaces take a minute. */
const atOnce = 500;
const near = 0.9;
/** A notice ends below this. */
const far = 0.85;

interface NearRow {
  workspace_id: string;
  budget: BudgetName;
  used: number;
  limit: number;
}

export function budgetsNear(db: Db): Watch {
  let after = '';
  /** Of all workspaces, as they were last looked at. */
  const signs = new Map<string, Sign[]>();
  return {
    name: 'budgets',
    async look() {
      const looked = await readWorkspaces(db, after);
      const found = Map.groupBy(await readNear(db, looked), ({ workspace_id }) => workspace_id);
      for (const id of looked) {
        const own = found.get(id);
        if (own) signs.set(id, own.map(signOf));
        else signs.delete(id);
      }
      after = looked.length < atOnce ? '' : (looked.at(-1) ?? '');
      return [...signs.values()].flat();
    },
  };
}

function signOf({ workspace_id: workspaceId, budget, used, limit }: NearRow): Sign {
  return {
    type: 'operator.budget.near',
    subject: `${workspaceId}/${budget}`,
    data: { of_workspace_id: workspaceId, budget, used, limit },
    weak: used < limit * near,
    // Nothing that a restart or a failover could bring about.
    holdMs: 0,
  };
}

async function readWorkspaces(db: Db, after: string): Promise<string[]> {
  const rows = await db
    .selectFrom('workspaces')
    .select('id')
    .where('id', '>', after)
    .orderBy('id')
    .limit(atOnce)
    .execute();
  return rows.map(({ id }) => id);
}

/** Only budgets that the database counts: rates, and what is open on a node, are over a moment later. */
async function readNear(db: Db, workspaceIds: string[]): Promise<NearRow[]> {
  const { rows } = await sql<NearRow>`
    select u.workspace_id, u.budget, u.used, u.max as limit
    from workspaces w
    cross join lateral (
      select coalesce((select limits from budget_settings), '{}') || w.limits as limits
    ) as l
    cross join lateral (
      select w.id as workspace_id, 'stored_bytes' as budget, used, (l.limits ->> 'stored_bytes')::bigint as max
      from budget_use(w.id, 'stored_bytes', 'epoch')
      union all
      select w.id, 'anchors_per_day', used, (l.limits ->> 'anchors_per_day')::bigint
      from budget_use(w.id, 'anchors_per_day', (now() at time zone 'UTC')::date)
      union all
      select w.id, 'endpoints', count(*), (l.limits ->> 'endpoints')::bigint
      from webhook_endpoints where workspace_id = w.id and deleted_at is null
      union all
      select w.id, 'filter_characters', coalesce(sum(length(filter)), 0)::bigint, (l.limits ->> 'filter_characters')::bigint
      from webhook_endpoints where workspace_id = w.id and deleted_at is null
      union all
      select w.id, 'api_keys', count(*), (l.limits ->> 'api_keys')::bigint
      from api_keys where workspace_id = w.id and revoked_at is null and (expires_at is null or expires_at > now())
    ) as u
    where w.id = any (${workspaceIds}::text[]) and u.max > 0 and u.used >= u.max * ${far}::float8`.execute(
    db,
  );
  return rows;
}
