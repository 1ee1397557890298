/** /platform/approvals: what waits for a second person, and what they decided. */
import { type Static, Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import type { Caller } from '../../runtime/caller.ts';
import { bytesOf } from '../../runtime/page-budget.ts';
import { dateTime, like, named, orNull, plainText, sample, text } from '../../runtime/schemas.ts';
import { visible } from '../../runtime/visible-text.ts';
import { type Approval, type ApprovalStatus, approvalStatuses } from './approvals.store.ts';
import type { Approvals } from './approvals.ts';
import { stepNames } from './steps.ts';

const sampleReason = 'Retained for the audit until June';
const status = Type.Unsafe<ApprovalStatus>(Type.String({ enum: [...approvalStatuses] }));
const ApprovalSchema = named(
  { title: 'Approval', description: 'A step that needs a second person' },
  Type.Object({
    id: text(sample.approvalId),
    step: Type.String({ enum: stepNames, examples: ['file.erase_content'] }),
    subjectId: orNull(text(sample.fileId, { description: 'What the step is about; null for a new API key' })),
    effect: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'What the step would have done when it was asked for. It is done only if it still does just that.',
      examples: [{ version: null, newest: 1, erased: 1, bytes: 482_133 }],
    }),
    status: like(status, 'open'),
    role: text('developer', { description: 'The role that the second person needs' }),
    requestedBy: Type.Object({
      kind: text('api_key', { description: '`api_key` or `user`' }),
      id: text(sample.keyId),
      personId: orNull(
        text(sample.userId, {
          description:
            'The person who asked, or who made the API key that did; null: made on the command line',
        }),
      ),
    }),
    requestedAt: dateTime,
    expiresAt: like(dateTime, '2026-03-05T09:00:00.000Z'),
    decidedBy: orNull(Type.Object({ kind: text('user'), id: text(sample.userId) })),
    decidedAt: orNull(dateTime),
    reason: orNull(Type.String({ description: 'What the second person said about it' })),
    result: Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'What the step answered, once it is approved; without a secret',
    }),
    canDecide: Type.Boolean({ description: 'Whether you can approve or refuse it' }),
    canCollect: Type.Boolean({
      description: 'Whether you asked for it, and it made an API key that you have not collected yet',
    }),
  }),
);

const url = `${apiBase}/platform/approvals`;
const params = Type.Object({ approvalId: text(sample.approvalId) });
const reasonText = plainText({ minLength: 1, maxLength: 500, pattern: visible });
const MayReason = Type.Object(
  { reason: Type.Optional(like(reasonText, 'Agreed by telephone')) },
  { additionalProperties: false },
);
const tags = ['approvals'];

export interface ApprovalRoutesDeps {
  approvals: Approvals;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function approvalRoutes(app: Api, { approvals, cursors, idempotency }: ApprovalRoutesDeps): void {
  const toJson = (caller: Caller, approval: Approval): Static<typeof ApprovalSchema> => {
    const { requestedBy, requestedPerson, requestedAt, expiresAt, decidedAt, hasSecret } = approval;
    const { id, step, subjectId, effect, status, role, decidedBy, reason, result } = approval;
    const isOwn = caller.actor.kind === requestedBy.kind && caller.actor.id === requestedBy.id;
    return {
      ...{ id, step, subjectId, effect, status, role, decidedBy, reason, result },
      requestedBy: { ...requestedBy, personId: requestedPerson },
      requestedAt: requestedAt.toISOString(),
      expiresAt: expiresAt.toISOString(),
      decidedAt: decidedAt?.toISOString() ?? null,
      canDecide: approvals.mayDecide(caller, approval),
      canCollect: hasSecret && isOwn,
    };
  };

  app.get(
    url,
    {
      config: { scope: 'approvals:read' },
      schema: {
        operationId: 'listApprovals',
        summary: 'List approvals',
        description: 'What waits for a second person, and what was decided in the last year, newest first.',
        tags,
        querystring: Type.Object(
          { status: Type.Optional(status), ...pageParameters },
          { additionalProperties: false },
        ),
        response: { 200: Type.Array(ApprovalSchema) },
      },
    },
    async (request, reply) => {
      const { status, cursor, limit } = request.query;
      const items = await fetchPage<Approval>(
        {
          name: 'approvals',
          filters: { status },
          fetch: (workspaceId, after, limit) =>
            approvals.list(workspaceId, { status, before: after?.[0] as string | undefined, limit }),
          positionOf: ({ id }) => [id],
          bytesOf,
        },
        { request, reply, cursors, cursor, limit },
      );
      return items.map((one) => toJson(callerOf(request), one));
    },
  );

  app.get(
    `${url}/:approvalId`,
    {
      config: { scope: 'approvals:read' },
      schema: {
        operationId: 'getApproval',
        summary: 'Get an approval',
        tags,
        params,
        response: { 200: ApprovalSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      return toJson(caller, await approvals.get(caller.workspaceId, request.params.approvalId));
    },
  );

  app.post(
    `${url}/:approvalId/approve`,
    {
      config: { role: 'developer', idempotent: true, freshSession: true },
      schema: {
        operationId: 'approveStep',
        summary: 'Approve what somebody asked for',
        description:
          'Takes the step in the same commit, as who asked for it. You need the role that the approval names. 403 `second_person_required` if you asked for it yourself, or an API key that you made did. 409 if it was decided before or has expired, if who asked may not do it any more, or if it would not do what it would have done when it was asked for. If the step is refused by now, so is the approval, with the same error.',
        tags,
        params,
        body: MayReason,
        response: { 200: like(ApprovalSchema, { status: 'approved', canDecide: false }) },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const answer = idempotency.answer(request, reply.code(200));
      await approvals.approve(caller, {
        id: request.params.approvalId,
        reason: request.body.reason,
        also: (approval) => answer.remember(toJson(caller, approval)),
      });
      return answer.send();
    },
  );

  app.post(
    `${url}/:approvalId/refuse`,
    {
      config: { role: 'developer', idempotent: true, freshSession: false },
      schema: {
        operationId: 'refuseStep',
        summary: 'Refuse what somebody asked for',
        description: 'You need the role that the approval names. Who asked withdraws it instead.',
        tags,
        params,
        body: Type.Object({ reason: like(reasonText, sampleReason) }, { additionalProperties: false }),
        response: {
          200: like(ApprovalSchema, { status: 'refused', reason: sampleReason, canDecide: false }),
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const answer = idempotency.answer(request, reply.code(200));
      await approvals.refuse(caller, {
        id: request.params.approvalId,
        reason: request.body.reason,
        also: (approval) => answer.remember(toJson(caller, approval)),
      });
      return answer.send();
    },
  );

  app.post(
    `${url}/:approvalId/withdraw`,
    {
      config: { scope: 'approvals:write', idempotent: true, freshSession: false },
      schema: {
        operationId: 'withdrawStep',
        summary: 'Withdraw what you asked for',
        description: 'For who asked, and for the person who made the API key that did.',
        tags,
        params,
        body: MayReason,
        response: { 200: like(ApprovalSchema, { status: 'withdrawn', canDecide: false }) },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const answer = idempotency.answer(request, reply.code(200));
      await approvals.withdraw(caller, {
        id: request.params.approvalId,
        reason: request.body.reason,
        also: (approval) => answer.remember(toJson(caller, approval)),
      });
      return answer.send();
    },
  );

  app.post(
    `${url}/:approvalId/collect`,
    {
      config: { scope: 'approvals:write', idempotent: 'own', freshSession: true },
      schema: {
        operationId: 'collectApprovedKey',
        summary: 'Collect an approved API key',
        description:
          'Shows the key once, and only to who asked for it, within seven days of the approval. The second person never sees it.',
        tags,
        params,
        response: { 200: CollectedSchema },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply.code(200), { secret: true });
      await approvals.collect(callerOf(request), {
        id: request.params.approvalId,
        also: ({ result, secret }) => answer.remember({ id: result.id, name: result.name, key: secret }),
      });
      return answer.send();
    },
  );
}

const CollectedSchema = named(
  { title: 'CollectedApiKey', description: 'The secret of an approved API key, which is shown only once' },
  Type.Object({
    id: text(sample.keyId),
    name: text('Crane terminal'),
    key: text('hf_live_ExampleExampleExampleExample003t4Voi', {
      description: 'The key itself; it is not shown again',
    }),
  }),
);
