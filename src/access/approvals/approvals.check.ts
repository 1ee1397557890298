/** Checks the requests for a second person: that the log has each request and decision, and that two people were involved. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { writtenIds } from '../../db/written-since.ts';
import type { Check, Finding } from '../../runtime/check.ts';
import type { ApprovalStatus } from './approvals.store.ts';
import { actionOf } from './decisions.ts';

interface Row {
  workspace_id: string;
  id: string;
  status: ApprovalStatus;
  requested_by: string;
  requested_person: string | null;
  decided_by: string | null;
  /** Who asked, and who decided, as the log has it. */
  asked: { by: string; step: string } | null;
  decided: { by: string; action: string }[];
  step: string;
}

export function approvalsCheck(db: Db): Check {
  return {
    name: 'approvals',
    passes: [
      rowsPass<Row>({
        db,
        what: 'approvals',
        table: 'approvals',
        written: [writtenIds(db, 'approvals', 'apr')],
        key: [
          { column: 'p.workspace_id', member: 'workspace_id' },
          { column: 'p.id', member: 'id' },
        ],
        read: ({ where, end }) => sql<Row>`
          select p.workspace_id, p.id, p.status, p.requested_by, p.requested_person, p.decided_by, p.step,
            (select json_build_object('by', a.actor_id, 'step', a.details ->> 'step')
             from audit_entries a
             where a.target_id = p.id and a.workspace_id = p.workspace_id and a.action = 'approval.request' limit 1) as asked,
            coalesce((
              select json_agg(json_build_object('by', a.actor_id, 'action', a.action) order by a.id)
              from audit_entries a
              where a.target_id = p.id and a.workspace_id = p.workspace_id
                and a.action in ('approval.approve', 'approval.refuse', 'approval.withdraw', 'approval.expire')
            ), '[]') as decided
          from approvals p where ${where} ${end}`,
        judge: (rows) => rows.flatMap(judge),
      }),
    ],
  };
}

function judge(row: Row): Finding[] {
  const { workspace_id: workspace, id: approval, status, asked, decided } = row;
  const findings: Finding[] = [];
  const find = (rule: string, what: string) =>
    findings.push({
      rule,
      ids: { workspace, approval },
      message: `The approval ${approval} ${what}.`,
      advice: 'The row was changed in the database: restore it from a backup.',
    });
  if (asked?.by !== row.requested_by || asked.step !== row.step) {
    find('approval_unasked', 'is not what the audit log says was asked for, or by whom');
  }
  const isLogged =
    status === 'open'
      ? decided.length === 0
      : decided.length === 1 &&
        decided[0]?.action === actionOf(status) &&
        (status === 'expired' || decided[0].by === row.decided_by);
  if (!isLogged) find('approval_undecided', `is ${status}, and the audit log says something else`);
  const isAlone = row.decided_by === row.requested_by || row.decided_by === row.requested_person;
  if ((status === 'approved' || status === 'refused') && isAlone) {
    find('approval_alone', `was ${status} by who asked for it`);
  }
  return findings;
}
