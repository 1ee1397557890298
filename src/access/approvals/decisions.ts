/** What is committed with a decision, and the end of what nobody decided in time. */
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import { eventWrite } from '../../events/events.ts';
import type { Caller } from '../../runtime/caller.ts';
import type { AuditAction } from '../audit/actions.ts';
import { auditWrite } from '../audit/audit.ts';
import {
  type Approval,
  type ApprovalStatus,
  dropDecided,
  findUncollected,
  forgetSecret,
  saveDecision,
  takeExpired,
} from './approvals.store.ts';

const verbs = { approved: 'approve', refused: 'refuse', withdrawn: 'withdraw', expired: 'expire' } as const;

/** In the audit log. */
export function actionOf(status: Exclude<ApprovalStatus, 'open'>): AuditAction {
  return `approval.${verbs[status]}`;
}

/** The audit entry and the event. */
export function decisionWrites(caller: Caller, approval: Approval): Write[] {
  const { id, step, subjectId, status, requestedBy, requestedPerson, decidedAt, reason } = approval;
  if (status === 'open' || decidedAt === null) throw new Error(`${id} is not decided`);
  const { workspaceId } = caller;
  return [
    auditWrite(caller, {
      action: actionOf(status),
      targetId: id,
      details: { step, subjectId, requestedBy, requestedPerson, reason },
    }),
    eventWrite({
      workspaceId,
      type: 'approval.decided',
      at: decidedAt,
      data: {
        approval_id: id,
        step,
        subject_id: subjectId ?? '',
        decision: status,
        decided_by: status === 'expired' ? '' : caller.actor.id,
        decided_at: decidedAt.toISOString(),
      },
    }),
  ];
}

/** Inside a transaction that has it locked. */
export async function expire(db: Db, approval: Approval & { workspaceId: string }): Promise<void> {
  const { workspaceId, id, expiresAt } = approval;
  const caller: Caller = { workspaceId, actor: upkeepActor, scopes: [], requestId: null };
  const over = { ...approval, status: 'expired', decidedAt: expiresAt } as const;
  await saveDecision(db, { workspaceId, id }, { status: 'expired', by: null, at: expiresAt, reason: null });
  await insertAll(db, decisionWrites(caller, over));
}

const upkeepActor = { kind: 'system', id: 'approvals' } as const;

const dayMs = 24 * 60 * 60 * 1000;
/** A secret that nobody collects is deleted; then nobody knows the key. */
const collectableMs = 7 * dayMs;
const keptMs = 365 * dayMs;
const atOnce = 100;

/** Expires, deletes secrets that nobody collected, and forgets old decisions; true if there is more to do. */
export function tidyApprovals(db: Db, now: Date): Promise<boolean> {
  return db.transaction().execute(async (db) => {
    const expired = await takeExpired(db, { now, limit: atOnce });
    for (const approval of expired) await expire(db, approval);
    const uncollected = await findUncollected(db, {
      before: new Date(now.getTime() - collectableMs),
      limit: atOnce,
    });
    for (const of of uncollected) await forgetSecret(db, of);
    await dropDecided(db, new Date(now.getTime() - keptMs));
    return expired.length === atOnce || uncollected.length === atOnce;
  });
}
