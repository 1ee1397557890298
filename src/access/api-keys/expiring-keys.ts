/** Notices of API keys that expire soon. */
import { sql } from 'kysely';
import { columnsOfThings, type ThingWatch } from '../../events/notice.ts';

/** Of a key that lives for less than eight weeks: the last quarter of its life. */
const ahead = "least(interval '14 days', (k.expires_at - k.created_at) / 4)";

export const expiringKeys: ThingWatch<'api_key.expiring'> = {
  kind: 'api_key',
  type: 'api_key.expiring',
  async look(db, things, now) {
    const [workspaceIds, ids] = columnsOfThings(things);
    const { rows } = await sql<{
      workspace_id: string;
      id: string;
      name: string;
      expires_at: Date;
      from: Date;
    }>`
      select k.workspace_id, k.id, k.name, k.expires_at, k.expires_at - ${sql.raw(ahead)} as from
      from unnest(${workspaceIds}::text[], ${ids}::text[]) as t (workspace_id, id)
      join api_keys k on k.workspace_id = t.workspace_id and k.id = t.id
      where k.revoked_at is null and k.expires_at > ${now}`.execute(db);
    return rows.map(({ workspace_id: workspaceId, id, name, expires_at: expiresAt, from }) => {
      const isSoon = from <= now;
      const data = { key_id: id, name, expires_at: expiresAt.toISOString() };
      return {
        workspaceId,
        id,
        wrong: isSoon ? [{ subject: '', data, since: from }] : [],
        lookAgainAt: isSoon ? expiresAt : from,
      };
    });
  },
};
