/** Notices of endpoints that fail, for their own workspace. */
import { sql } from 'kysely';
import { columnsOfThings, type ThingWatch } from '../../events/notice.ts';

/** Long enough for the first retry, which usually comes after 30 s: one lost request is no failing endpoint. */
const usualMs = 45_000;

export function failingEndpoints(longMs = usualMs): ThingWatch<'endpoint.failing'> {
  return {
    kind: 'endpoint',
    type: 'endpoint.failing',
    async look(db, things, now) {
      const [workspaceIds, ids] = columnsOfThings(things);
      const { rows } = await sql<{
        workspace_id: string;
        id: string;
        disabled: boolean;
        failing_since: Date | null;
      }>`
      select e.workspace_id, e.id, not e.enabled as disabled,
        case when e.enabled then e.failing_since else coalesce(e.failing_since, e.updated_at) end as failing_since
      from unnest(${workspaceIds}::text[], ${ids}::text[]) as t (workspace_id, id)
      join webhook_endpoints e on e.workspace_id = t.workspace_id and e.id = t.id
      where e.deleted_at is null and (e.enabled or e.disabled_reason in ('gone', 'failing'))`.execute(db);
      return rows.map(({ workspace_id: workspaceId, id, disabled, failing_since: since }) => {
        const from = since && new Date(since.getTime() + longMs);
        const isWrong = from !== null && from <= now;
        const data = { endpoint_id: id, disabled };
        return {
          workspaceId,
          id,
          wrong: isWrong ? [{ subject: '', data, since }] : [],
          lookAgainAt: isWrong ? null : from,
        };
      });
    },
  };
}
