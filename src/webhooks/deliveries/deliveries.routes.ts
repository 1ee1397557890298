/** /platform/webhooks/deliveries */
import { Type } from 'typebox';
import { sampleEventOf } from '../../events/sample-event.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import { linkNextPage, pageParameters } from '../../http/api/page.ts';
import { dateTime, like, named, orNull, sample, text } from '../../runtime/schemas.ts';
import { type Deliveries, type Delivery, type DeliveryStatus, deliveryStatuses } from './deliveries.ts';

export const deliveryStatus = Type.Unsafe<DeliveryStatus>(Type.String({ enum: [...deliveryStatuses] }));

const sampleEvent = sampleEventOf('record.anchor.confirmed');

/** Whatever the endpoint. */
export const deliveryFields = {
  id: text(sample.deliveryId),
  eventId: text(sampleEvent.id),
  type: text(sampleEvent.type),
  status: like(deliveryStatus, 'succeeded'),
  createdAt: like(dateTime, sample.toldAt),
  nextAttemptAt: orNull(dateTime),
};
const { id, eventId, ...otherFields } = deliveryFields;
const fields = {
  id,
  eventId,
  endpointId: text(sample.endpointId),
  ...otherFields,
  replayId: orNull(Type.String({ description: 'The replay that created it; null if the event itself did' })),
};
const DeliverySchema = named(
  { title: 'Delivery', description: 'The delivery of an event to an endpoint' },
  Type.Object(fields),
);
export const attemptFields = {
  envelope: text(JSON.stringify(sampleEvent), { description: 'The exact text that is sent' }),
  attempts: Type.Array(
    Type.Object({
      number: Type.Integer(),
      at: like(dateTime, '2026-03-02T09:00:13.240Z'),
      durationMs: Type.Integer({ examples: [96] }),
      statusCode: orNull(Type.Integer({ examples: [200] })),
      error: orNull(Type.String()),
      responseHeaders: Type.Record(Type.String(), Type.String(), {
        examples: [{ 'content-type': 'text/plain', 'content-length': '2' }],
      }),
      responseBody: text('ok', { description: 'The first 16 KB' }),
    }),
  ),
};
const WholeDeliverySchema = named(
  { title: 'DeliveryWithAttempts', description: 'A delivery with its attempts' },
  Type.Object({ ...fields, ...attemptFields }),
);

const url = `${apiBase}/platform/webhooks/deliveries`;
const deliveryPath = Type.Object({ deliveryId: text(sample.deliveryId) });

export function deliveryRoutes(
  app: Api,
  { deliveries, cursors }: { deliveries: Deliveries; cursors: Cursors },
): void {
  app.get(
    url,
    {
      config: { scope: 'webhooks:read' },
      schema: {
        operationId: 'listDeliveries',
        summary: 'List deliveries',
        description:
          'Newest first: every event that was or will be sent to an endpoint. With `status` or `type` a page may have fewer items than `limit`, or none, although more follow, because each page searches only part of a long log: check X-Next-Cursor.',
        tags: ['webhooks'],
        querystring: Type.Object(
          {
            endpointId: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
            eventId: Type.Optional(
              Type.String({ minLength: 1, maxLength: 100, description: 'Only deliveries of this event' }),
            ),
            status: Type.Optional(deliveryStatus),
            type: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
            from: Type.Optional(dateTime),
            to: Type.Optional(dateTime),
            ...pageParameters,
          },
          { additionalProperties: false },
        ),
        response: { 200: Type.Array(DeliverySchema) },
      },
    },
    async (request, reply) => {
      const { cursor, limit, ...filters } = request.query;
      const { from, to, ...rest } = filters;
      const times = { ...(from && { from: new Date(from) }), ...(to && { to: new Date(to) }) };
      const { workspaceId } = callerOf(request);
      const list = { name: 'deliveries', workspaceId, filters };
      const before = cursor === undefined ? undefined : String(cursors.read(list, cursor)[0]);
      const { items, next } = await deliveries.list(workspaceId, { ...rest, ...times, before, limit });
      if (next !== null) linkNextPage(request, reply, cursors.write(list, [next]));
      return items.map(toJson);
    },
  );

  app.get(
    `${url}/:deliveryId`,
    {
      config: { scope: 'webhooks:read' },
      schema: {
        operationId: 'getDelivery',
        summary: 'Get a delivery with every attempt',
        tags: ['webhooks'],
        params: deliveryPath,
        response: { 200: WholeDeliverySchema },
      },
    },
    async (request) => {
      const delivery = await deliveries.get(callerOf(request).workspaceId, request.params.deliveryId);
      return { ...toJson(delivery), envelope: delivery.envelope, attempts: delivery.attempts };
    },
  );

  app.post(
    `${url}/:deliveryId/retry`,
    {
      config: { scope: 'webhooks:write', freshSession: false },
      schema: {
        operationId: 'retryDelivery',
        summary: 'Retry a delivery now',
        tags: ['webhooks'],
        params: deliveryPath,
        response: {
          202: like(DeliverySchema, { status: 'pending', nextAttemptAt: '2026-03-02T09:40:00.000Z' }),
        },
      },
    },
    async (request, reply) =>
      reply.code(202).send(toJson(await deliveries.retry(callerOf(request), request.params.deliveryId))),
  );
}

function toJson({ id, eventId, endpointId, type, status, createdAt, nextAttemptAt, replayId }: Delivery) {
  return {
    id,
    eventId,
    endpointId,
    type,
    status,
    createdAt: createdAt.toISOString(),
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    replayId,
  };
}
