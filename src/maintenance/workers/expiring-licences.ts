/** Notices of licences that expire soon, or have expired, until they are renewed or removed. */
import { sql } from 'kysely';
import { columnsOfThings, type ThingWatch } from '../../events/notice.ts';
import type { Licence } from '../signing/licence.ts';

const aheadMs = 30 * 24 * 60 * 60 * 1000;

export const expiringLicences: ThingWatch<'worker.licence.expiring'> = {
  kind: 'worker',
  type: 'worker.licence.expiring',
  async look(db, things, now) {
    const [workspaceIds, ids] = columnsOfThings(things);
    const { rows } = await sql<{ workspace_id: string; id: string; address: string; licences: Licence[] }>`
      select w.workspace_id, w.id, w.address, w.licences
      from unnest(${workspaceIds}::text[], ${ids}::text[]) as t (workspace_id, id)
      join workers w on w.workspace_id = t.workspace_id and w.id = t.id`.execute(db);
    return rows.map(({ workspace_id: workspaceId, id, address, licences }) => {
      const ending = licences.flatMap(({ scope, number, expiresAt }) =>
        expiresAt === null ? [] : [{ scope, number, expiresAt: new Date(expiresAt) }],
      );
      const dated = ending.map((licence) => ({
        ...licence,
        from: new Date(licence.expiresAt.getTime() - aheadMs),
      }));
      const later = dated.filter(({ from }) => from > now).map(({ from }) => from.getTime());
      return {
        workspaceId,
        id,
        wrong: dated
          .filter(({ from }) => from <= now)
          .map(({ scope, number, expiresAt, from }) => ({
            subject: JSON.stringify([scope, number]),
            data: { worker_id: id, address, scope, number, expires_at: expiresAt.toISOString() },
            since: from,
          })),
        lookAgainAt: later.length === 0 ? null : new Date(Math.min(...later)),
      };
    });
  },
};
