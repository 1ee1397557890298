/**
 * Steps that need a second person. A request tries the step and rolls it back, so that what cannot work is refused at once;
 * the approval takes it, in its own commit, if it still does exactly what was asked for.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import canonicalize from 'canonicalize';
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import { eventWrite } from '../../events/events.ts';
import type { Keyring } from '../../keys/keyring.ts';
import { type Actor, type Caller, isAtLeast } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import { auditWrite } from '../audit/audit.ts';
import { roleNow } from '../people/members.ts';
import { readApprovalRules } from './approval-rules.ts';
import {
  type Approval,
  type ApprovalStatus,
  countOpen,
  findApproval,
  findSame,
  forgetSecret,
  keepRequests,
  listApprovals,
  lockApproval,
  saveDecision,
  secretPurpose,
  takeExpired,
} from './approvals.store.ts';
import { decisionWrites, expire } from './decisions.ts';
import {
  type Asked,
  type DefineStep,
  mayTake,
  type RunStep,
  type StepKind,
  type StepName,
  type StepRun,
  stepKinds,
} from './steps.ts';

export interface Approvals {
  define: DefineStep;
  list(
    workspaceId: string,
    page: { status: ApprovalStatus | undefined; before: string | undefined; limit: number },
  ): Promise<Approval[]>;
  get(workspaceId: string, id: string): Promise<Approval>;
  /** `also`: rows to commit with the decision. */
  approve(caller: Caller, of: Decided): Promise<Approval>;
  refuse(caller: Caller, of: Decided & { reason: string }): Promise<Approval>;
  withdraw(caller: Caller, of: Decided): Promise<Approval>;
  /** The secret that an approved step made; once, and only for who asked. */
  collect(caller: Caller, of: { id: string; also(collected: Collected): Write[] }): Promise<Collected>;
  mayDecide(caller: Caller, approval: Approval): boolean;
}

export interface Decided {
  id: string;
  reason?: string | undefined;
  also(approval: Approval): Write[];
}

export interface Collected {
  result: Record<string, unknown>;
  secret: string;
}

export interface ApprovalsDeps {
  db: Db;
  keyring: Pick<Keyring, 'seal' | 'open'>;
  /** Who asked, with the rights of this moment; null when they have none in the workspace any more. */
  findActor(db: Db, workspaceId: string, actor: Actor): Promise<Caller | null>;
  /** The person behind an API key. */
  findMaker(db: Db, caller: Caller): Promise<string | null>;
  now?: () => Date;
}

/** Per workspace. Each is to be read by a person. */
const mostOpen = 100;
const hourMs = 60 * 60 * 1000;

export function createApprovals(deps: ApprovalsDeps): Approvals {
  const { db, keyring, findActor, findMaker, now = () => new Date() } = deps;
  const steps = new Map<StepName, RunStep<object, unknown>>();

  /** Also where the rules were turned off meanwhile: the request stands as it was made. */
  async function whenNeeded(
    db: Db,
    { actor, workspaceId }: Caller,
    step: StepName,
  ): Promise<'always' | 'if also' | 'never'> {
    const { rule, also }: StepKind = stepKinds[step];
    if (actor.kind === 'command' || actor.kind === 'system') return 'never';
    if (rule === null) return 'always';
    const rules = await readApprovalRules(db, workspaceId);
    if (rules[rule]) return 'always';
    return also !== undefined && rules[also] ? 'if also' : 'never';
  }

  async function ask(
    db: Db,
    caller: Caller,
    { step, input, run }: { step: StepName; input: object; run: StepRun<unknown> },
  ): Promise<{ asked: Asked; writes: Write[] }> {
    const { workspaceId, actor } = caller;
    await keepRequests(db, workspaceId);
    const at = now();
    for (const over of await takeExpired(db, { now: at, limit: mostOpen, workspaceId })) {
      await expire(db, over);
    }
    // Each new key is another one, also if it gets the same name.
    const id = newId('apr');
    const same = run.subjectId === null ? id : null;
    const digest = digestOf([actor.kind, actor.id, step, input, run.effect, same]);
    const open = await findSame(db, { workspaceId, digest, now: at });
    if (open) return { asked: open, writes: [] };
    if ((await countOpen(db, workspaceId)) >= mostOpen) {
      throw new AppError(
        'conflict',
        `${mostOpen} requests of this workspace already wait for a second person. Approve, refuse or withdraw some first.`,
      );
    }
    const { expiresAfterHours } = await readApprovalRules(db, workspaceId);
    const expiresAt = new Date(at.getTime() + expiresAfterHours * hourMs);
    const effect = run.effect ?? {};
    return {
      asked: { id, expiresAt },
      writes: [
        {
          table: 'approvals',
          row: {
            workspace_id: workspaceId,
            id,
            step,
            subject_id: run.subjectId,
            input: input as Record<string, unknown>,
            effect,
            role: run.role ?? stepKinds[step].role,
            digest,
            requested_kind: actor.kind === 'api_key' ? 'api_key' : 'user',
            requested_by: actor.id,
            requested_person: caller.person?.userId ?? (await findMaker(db, caller)),
            requested_at: at,
            expires_at: expiresAt,
          },
        },
        auditWrite(caller, {
          action: 'approval.request',
          targetId: id,
          details: { step, subjectId: run.subjectId, effect, expiresAt: expiresAt.toISOString() },
        }),
        eventWrite({
          workspaceId,
          type: 'approval.requested',
          at,
          data: {
            approval_id: id,
            step,
            subject_id: run.subjectId ?? '',
            requested_by: actor.id,
            requested_at: at.toISOString(),
            expires_at: expiresAt.toISOString(),
          },
        }),
      ],
    };
  }

  /** With the approval locked, and the member, whose role can then not change before the commit. */
  async function lockOpen(db: Db, caller: Caller, id: string): Promise<Approval> {
    const approval = await lockApproval(db, { workspaceId: caller.workspaceId, id, now });
    if (approval.status === 'open') return approval;
    throw new AppError(
      'conflict',
      approval.status === 'expired'
        ? `${id} expired at ${approval.expiresAt.toISOString()}. Ask again.`
        : `${id} was ${approval.status} before. Nothing was done.`,
    );
  }

  /** The other person, with the role that the step needs at this moment. */
  async function requireSecond(db: Db, caller: Caller, { id, role, ...approval }: Approval): Promise<void> {
    if (!caller.person) throw new AppError('forbidden', 'Only people who are signed in decide.');
    if (isBehind(caller, approval)) {
      throw new AppError(
        'second_person_required',
        'You asked for this yourself, or an API key did that you made. Another person has to decide; you can withdraw it.',
      );
    }
    const present = await roleNow(db, caller.workspaceId, caller.person.userId);
    if (present !== null && isAtLeast(present, role)) return;
    throw new AppError('forbidden', `To decide on ${id} you need the role ${role} in the workspace.`);
  }

  async function decide(
    caller: Caller,
    { id, also }: Decided,
    work: (db: Db, approval: Approval) => Promise<Outcome>,
  ): Promise<Approval> {
    const { workspaceId } = caller;
    const { approval, settle } = await db.transaction().execute(async (db) => {
      const open = await lockOpen(db, caller, id);
      const { status, reason, run } = await work(db, open);
      const at = now();
      const hasSecret = run?.secret !== undefined;
      const decision = { status, by: caller.actor, at, reason, hasSecret };
      await saveDecision(db, { workspaceId, id }, { ...decision, ...(run && { result: run.answer }) });
      const approval = await findApproval(db, { workspaceId, id, now: at });
      const secret = run?.secret && keyring.seal(secretRef(workspaceId, id), Buffer.from(run.secret));
      await insertAll(db, [
        ...decisionWrites(caller, approval),
        ...(secret ? [secret] : []),
        ...also(approval),
      ]);
      return { approval, settle: run?.settle };
    });
    await settle?.();
    return approval;
  }

  return {
    define(step, run) {
      if (steps.has(step)) throw new Error(`the step ${step} is defined twice`);
      steps.set(step, run as unknown as RunStep<object, unknown>);
      return async (caller, input, also) => {
        const { outcome, settle } = await db.transaction().execute(async (db) => {
          const needed = await whenNeeded(db, caller, step);
          if (needed !== 'never') await sql`savepoint trial`.execute(db);
          const made = await run(db, caller, input);
          const isAsked = needed === 'always' || (needed === 'if also' && made.isAlso === true);
          if (!isAsked || made.effect === null) {
            await insertAll(db, also?.done(made.result) ?? []);
            return { outcome: { done: made.result }, settle: made.settle };
          }
          await sql`rollback to savepoint trial`.execute(db);
          const { asked, writes } = await ask(db, caller, { step, input, run: made });
          await insertAll(db, [...writes, ...(also?.asked(asked) ?? [])]);
          return { outcome: { asked }, settle: undefined };
        });
        await settle?.();
        return outcome;
      };
    },

    list: (workspaceId, page) => listApprovals(db, { workspaceId, ...page, now: now() }),

    get: (workspaceId, id) => findApproval(db, { workspaceId, id, now: now() }),

    approve: (caller, of) =>
      decide(caller, of, async (db, approval) => {
        const { step, role } = approval;
        await requireSecond(db, caller, approval);
        const run = steps.get(step);
        if (!run) throw new Error(`nobody has defined the step ${step}`);
        const asker = await findActor(db, caller.workspaceId, approval.requestedBy);
        if (!asker || !mayTake(asker, step, role)) {
          throw new AppError(
            'conflict',
            'Who asked for this may not do it any more: the API key is revoked or expired, or the person has left or has another role. Nothing was done; refuse it.',
          );
        }
        const made = await run(db, { ...asker, requestId: caller.requestId }, approval.input);
        if (!isDeepStrictEqual(viaJson(made.effect), approval.effect)) {
          throw new AppError(
            'conflict',
            'What this would change is not what it was when it was asked for. Nothing was done; refuse it, and ask again.',
          );
        }
        return { status: 'approved', reason: of.reason ?? null, run: made };
      }),

    refuse: (caller, of) =>
      decide(caller, of, async (db, approval) => {
        await requireSecond(db, caller, approval);
        return { status: 'refused', reason: of.reason };
      }),

    withdraw: (caller, of) =>
      decide(caller, of, async (_db, approval) => {
        if (isBehind(caller, approval)) return { status: 'withdrawn', reason: of.reason ?? null };
        throw new AppError('forbidden', 'Only who asked for it can withdraw it. Refuse it instead.');
      }),

    collect: (caller, { id, also }) =>
      db.transaction().execute(async (db) => {
        const { workspaceId } = caller;
        const approval = await lockApproval(db, { workspaceId, id, now });
        const { requestedBy, result, hasSecret } = approval;
        if (!isSame(caller.actor, requestedBy)) {
          throw new AppError('forbidden', 'Only who asked for it can collect what was made.');
        }
        const opened = hasSecret ? await keyring.open(secretRef(workspaceId, id), db) : null;
        if (!opened || !result) {
          throw new AppError(
            'conflict',
            `There is nothing to collect of ${id}: it is not approved, it made no secret, or the secret was collected or has been deleted.`,
          );
        }
        const collected = { result, secret: opened.toString() };
        await forgetSecret(db, { workspaceId, id });
        await insertAll(db, [
          auditWrite(caller, { action: 'approval.collect', targetId: id }),
          ...also(collected),
        ]);
        return collected;
      }),

    mayDecide: (caller, approval) =>
      approval.status === 'open' &&
      caller.person !== undefined &&
      isAtLeast(caller.person.role, approval.role) &&
      !isBehind(caller, approval),
  };
}

interface Outcome {
  status: 'approved' | 'refused' | 'withdrawn';
  reason: string | null;
  run?: StepRun<unknown>;
}

/** Whether the caller asked, or is the person behind the key that asked. */
function isBehind(
  { actor, person }: Caller,
  { requestedBy, requestedPerson }: Pick<Approval, 'requestedBy' | 'requestedPerson'>,
): boolean {
  return isSame(actor, requestedBy) || (person !== undefined && person.userId === requestedPerson);
}

function isSame(one: Actor, other: Actor): boolean {
  return one.kind === other.kind && one.id === other.id;
}

function secretRef(workspaceId: string, id: string) {
  return { workspaceId, purpose: secretPurpose, id };
}

function digestOf(asked: unknown): Buffer {
  return createHash('sha256')
    .update(canonicalize(viaJson(asked)) ?? '')
    .digest();
}

/** As it comes back from the database. */
function viaJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
