/** Notices of steps that wait for a second person. */
import { sql } from 'kysely';
import { columnsOfThings, type ThingWatch } from '../../events/notice.ts';

export const waitingApprovals: ThingWatch<'approval.waiting'> = {
  kind: 'approval',
  type: 'approval.waiting',
  async look(db, things, now) {
    const [workspaceIds, ids] = columnsOfThings(things);
    const { rows } = await sql<{
      workspace_id: string;
      id: string;
      step: string;
      subject_id: string | null;
      requested_at: Date;
      expires_at: Date;
      waits: boolean;
    }>`
      select p.workspace_id, p.id, p.step, p.subject_id, p.requested_at, p.expires_at,
        p.status = 'open' and p.expires_at > ${now} as waits
      from unnest(${workspaceIds}::text[], ${ids}::text[]) as t (workspace_id, id)
      join approvals p on p.workspace_id = t.workspace_id and p.id = t.id`.execute(db);
    return rows.map((row) => {
      const data = {
        approval_id: row.id,
        step: row.step,
        subject_id: row.subject_id ?? '',
        expires_at: row.expires_at.toISOString(),
      };
      return {
        workspaceId: row.workspace_id,
        id: row.id,
        wrong: row.waits ? [{ subject: '', data, since: row.requested_at }] : [],
        lookAgainAt: row.waits ? row.expires_at : null,
      };
    });
  },
};
