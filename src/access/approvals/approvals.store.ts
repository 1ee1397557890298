/** Requests for a second person in SQL. */
import { sql } from 'kysely';
import { locks } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/database.ts';
import type { Actor, Role } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import type { StepName } from './steps.ts';

export const approvalStatuses = ['open', 'approved', 'refused', 'withdrawn', 'expired'] as const;
export type ApprovalStatus = (typeof approvalStatuses)[number];

export interface Approval {
  id: string;
  step: StepName;
  subjectId: string | null;
  input: Record<string, unknown>;
  effect: Record<string, unknown>;
  /** That the second person needs. */
  role: Role;
  status: ApprovalStatus;
  requestedBy: Actor;
  /** The person who asked, or who is behind the key that asked. */
  requestedPerson: string | null;
  requestedAt: Date;
  expiresAt: Date;
  decidedBy: { kind: string; id: string } | null;
  decidedAt: Date | null;
  reason: string | null;
  result: Record<string, unknown> | null;
  hasSecret: boolean;
}

/** Newest first. At `now` an open one may have expired without that having been noted yet. */
export async function listApprovals(
  db: Db,
  query: {
    workspaceId: string;
    status: ApprovalStatus | undefined;
    before: string | undefined;
    limit: number;
    now: Date;
  },
): Promise<Approval[]> {
  const { workspaceId, status, before, limit, now } = query;
  let select = db
    .selectFrom('approvals')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('id', 'desc')
    .limit(limit);
  if (before !== undefined) select = select.where('id', '<', before);
  if (status === 'open') select = select.where('status', '=', 'open').where('expires_at', '>', now);
  else if (status === 'expired') {
    select = select.where((is) =>
      is.or([is('status', '=', 'expired'), is.and([is('status', '=', 'open'), is('expires_at', '<=', now)])]),
    );
  } else if (status !== undefined) select = select.where('status', '=', status);
  return (await select.execute()).map((row) => toApproval(row, now));
}

export async function findApproval(
  db: Db,
  { workspaceId, id, now }: { workspaceId: string; id: string; now: Date },
): Promise<Approval> {
  const row = await db
    .selectFrom('approvals')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) throw noApproval(id);
  return toApproval(row, now);
}

/** Locked until the transaction ends. The time is that after the wait. */
export async function lockApproval(
  db: Db,
  { workspaceId, id, now }: { workspaceId: string; id: string; now: () => Date },
): Promise<Approval> {
  const row = await db
    .selectFrom('approvals')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw noApproval(id);
  return toApproval(row, now());
}

/** No other request is made in this workspace until the transaction ends. */
export async function keepRequests(db: Db, workspaceId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${locks.approvals}, hashtext(${workspaceId}))`.execute(db);
}

/** Also those that have expired without that having been noted yet. */
export async function countOpen(db: Db, workspaceId: string): Promise<number> {
  const { open } = await db
    .selectFrom('approvals')
    .select((select) => select.fn.countAll<number>().as('open'))
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'open')
    .executeTakeFirstOrThrow();
  return Number(open);
}

export async function findSame(
  db: Db,
  { workspaceId, digest, now }: { workspaceId: string; digest: Buffer; now: Date },
): Promise<Approval | null> {
  const row = await db
    .selectFrom('approvals')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('digest', '=', digest)
    .where('status', '=', 'open')
    .executeTakeFirst();
  return row ? toApproval(row, now) : null;
}

export interface Decision {
  status: Exclude<ApprovalStatus, 'open'>;
  by: Actor | null;
  at: Date;
  reason: string | null;
  result?: Record<string, unknown>;
  hasSecret?: boolean;
}

export async function saveDecision(
  db: Db,
  { workspaceId, id }: { workspaceId: string; id: string },
  { status, by, at, reason, result, hasSecret = false }: Decision,
): Promise<void> {
  await db
    .updateTable('approvals')
    .set({
      status,
      decided_kind: by?.kind ?? null,
      decided_by: by?.id ?? null,
      decided_at: at,
      reason,
      ...(result && { result: JSON.stringify(result) }),
      has_secret: hasSecret,
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

export async function forgetSecret(db: Db, { workspaceId, id }: { workspaceId: string; id: string }) {
  await db
    .deleteFrom('secrets')
    .where('workspace_id', '=', workspaceId)
    .where('purpose', '=', secretPurpose)
    .where('id', '=', id)
    .execute();
  await db
    .updateTable('approvals')
    .set({ has_secret: false })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** Of what an approved step made, until who asked collects it. */
export const secretPurpose = 'approved-step';

/** Open ones whose time is over, locked: of one workspace, or of all, but for those on which somebody decides just now. */
export async function takeExpired(
  db: Db,
  { now, limit, workspaceId }: { now: Date; limit: number; workspaceId?: string },
): Promise<(Approval & { workspaceId: string })[]> {
  let select = db
    .selectFrom('approvals')
    .selectAll()
    .where('status', '=', 'open')
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit);
  select =
    workspaceId === undefined
      ? select.forUpdate().skipLocked()
      : select.where('workspace_id', '=', workspaceId).forUpdate();
  const rows = await select.execute();
  return rows.map((row) => ({ ...toApproval(row, now), workspaceId: row.workspace_id }));
}

/** Those whose secret nobody has collected since then. */
export async function findUncollected(
  db: Db,
  { before, limit }: { before: Date; limit: number },
): Promise<{ workspaceId: string; id: string }[]> {
  const rows = await db
    .selectFrom('approvals')
    .select(['workspace_id', 'id'])
    .where('has_secret', '=', true)
    .where('decided_at', '<', before)
    .orderBy('decided_at')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();
  return rows.map((row) => ({ workspaceId: row.workspace_id, id: row.id }));
}

/** A bounded number at a time. */
export async function dropDecided(db: Db, before: Date): Promise<void> {
  await sql`
    delete from approvals where (workspace_id, id) in (
      select workspace_id, id from approvals where decided_at < ${before} and not has_secret
      order by decided_at limit 1000)`.execute(db);
}

function noApproval(id: string): AppError {
  return new AppError('resource_not_found', `There is no approval ${id}.`);
}

interface Row {
  id: string;
  step: string;
  subject_id: string | null;
  input: Record<string, unknown>;
  effect: Record<string, unknown>;
  role: Role;
  status: ApprovalStatus;
  requested_kind: 'user' | 'api_key';
  requested_by: string;
  requested_person: string | null;
  requested_at: Date;
  expires_at: Date;
  decided_kind: string | null;
  decided_by: string | null;
  decided_at: Date | null;
  reason: string | null;
  result: Record<string, unknown> | null;
  has_secret: boolean;
}

function toApproval(row: Row, now: Date): Approval {
  const isOver = row.status === 'open' && row.expires_at <= now;
  return {
    id: row.id,
    step: row.step as StepName,
    subjectId: row.subject_id,
    input: row.input,
    effect: row.effect,
    role: row.role,
    status: isOver ? 'expired' : row.status,
    requestedBy: { kind: row.requested_kind, id: row.requested_by },
    requestedPerson: row.requested_person,
    requestedAt: row.requested_at,
    expiresAt: row.expires_at,
    decidedBy: row.decided_by === null ? null : { kind: row.decided_kind ?? 'user', id: row.decided_by },
    decidedAt: isOver ? row.expires_at : row.decided_at,
    reason: row.reason,
    result: row.result,
    hasSecret: row.has_secret,
  };
}
