/** /platform/webhooks/endpoints/{endpointId}/replay and /platform/webhooks/replays */
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { dateTime, like, named, orNull, sample, text, unshown } from '../../runtime/schemas.ts';
import { endpointPath, eventTypesSchema } from '../endpoints/endpoint-schemas.ts';
import { type Replay, type ReplayedStatus, type Replays, replayedStatuses } from './replays.ts';

const status = Type.Unsafe<ReplayedStatus>(
  Type.String({
    enum: [...replayedStatuses],
    description: 'Only events whose last delivery to this endpoint ended with this status.',
  }),
);
const sampleRange = { from: '2026-03-02T00:00:00.000Z', to: '2026-03-03T00:00:00.000Z' };
const from = text(sampleRange.from, { ...dateTime, description: 'Events from this time on' });
const to = text(sampleRange.to, { ...dateTime, description: 'Events before this time' });

const count = Type.Integer({ description: 'How many events would be sent', examples: [12] });
const ReplaySchema = named(
  { title: 'Replay', description: 'A replay of past events to an endpoint, and its progress' },
  Type.Object({
    id: text(sample.replayId),
    endpointId: text(sample.endpointId),
    status: text('completed', {
      enum: ['running', 'paused', 'completed', 'cancelled'],
      description: 'paused: the endpoint is disabled; completed: every delivery has finished',
    }),
    range: Type.Object({
      from: like(dateTime, sampleRange.from),
      to: like(dateTime, sampleRange.to),
      status: orNull(text('failed')),
      types: Type.Array(Type.String(), { examples: [['record.anchor.confirmed']] }),
    }),
    total: Type.Integer({ description: 'Events to send', examples: [12] }),
    enqueued: Type.Integer({ description: 'Events that already have a new delivery', examples: [12] }),
    succeeded: Type.Integer({ examples: [12] }),
    failed: Type.Integer({ examples: [0] }),
    skipped: Type.Integer({ examples: [0] }),
    createdAt: like(dateTime, '2026-03-03T10:00:00.000Z'),
    finishedAt: orNull(like(dateTime, '2026-03-03T10:00:04.000Z')),
  }),
);

const url = `${apiBase}/platform/webhooks/replays`;
const replayPath = Type.Object({ replayId: text(sample.replayId) });
const tags = ['webhooks'];

export interface ReplayRoutesDeps {
  replays: Replays;
  idempotency: Idempotency;
}

export function replayRoutes(app: Api, { replays, idempotency }: ReplayRoutesDeps): void {
  app.post(
    `${apiBase}/platform/webhooks/endpoints/:endpointId/replay`,
    {
      config: { scope: 'webhooks:write', idempotent: true, freshSession: true },
      schema: {
        operationId: 'createReplay',
        summary: 'Replay past events',
        description:
          'Creates a new delivery for every event in the range. New events go first, and the endpoint gets no more than it can take. With dryRun nothing is sent and the response is the number of events.',
        tags,
        params: endpointPath,
        body: Type.Object(
          {
            from,
            to,
            status: Type.Optional(like(status, 'failed')),
            types: Type.Optional(like(eventTypesSchema, ['record.anchor.confirmed'])),
            dryRun: unshown(Type.Boolean({ description: 'Only count the events' })),
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Object({ count }, { description: 'What a replay would send; nothing was sent' }),
          202: like(ReplaySchema, { status: 'running', enqueued: 0, succeeded: 0, finishedAt: null }),
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { endpointId } = request.params;
      const { dryRun = false, from, to, ...rest } = request.body;
      const range = { from: new Date(from), to: new Date(to), ...rest };
      if (dryRun) return reply.send({ count: await replays.count(caller.workspaceId, endpointId, range) });
      const answer = idempotency.answer(request, reply.code(202));
      await replays.start(caller, { endpointId, range }, (replay) => answer.remember(toJson(replay)));
      return answer.send();
    },
  );

  app.get(
    `${url}/:replayId`,
    {
      config: { scope: 'webhooks:read' },
      schema: {
        operationId: 'getReplay',
        summary: 'Get a replay',
        tags,
        params: replayPath,
        response: { 200: ReplaySchema },
      },
    },
    async (request) => toJson(await replays.get(callerOf(request).workspaceId, request.params.replayId)),
  );

  app.delete(
    `${url}/:replayId`,
    {
      config: { scope: 'webhooks:write', freshSession: false },
      schema: {
        operationId: 'cancelReplay',
        summary: 'Cancel a replay',
        description: 'Deliveries that were not sent yet are marked as skipped.',
        tags,
        params: replayPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await replays.cancel(callerOf(request), request.params.replayId);
      return reply.code(204).send(null);
    },
  );
}

function toJson({ range, createdAt, finishedAt, ...rest }: Replay) {
  return {
    ...rest,
    range: { ...range, from: range.from.toISOString(), to: range.to.toISOString() },
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}
