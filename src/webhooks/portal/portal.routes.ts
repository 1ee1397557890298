/** /platform/webhooks/portal/: what the page behind a portal link calls. The token is in the body, so no log has it. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { createRateLimiter } from '../../http/admission/rate-limit.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import { linkNextPage, pageParameters } from '../../http/api/page.ts';
import { dateTime, like, named, orNull, plainText, sample, text, unshown } from '../../runtime/schemas.ts';
import { attemptFields, deliveryFields, deliveryStatus } from '../deliveries/deliveries.routes.ts';
import type { Delivery } from '../deliveries/deliveries.ts';
import { samplePublicKey, sampleSecret, target, testSchema } from '../endpoints/endpoint-schemas.ts';
import type { Endpoint } from '../endpoints/endpoints.store.ts';
import { statusOf } from '../endpoints/endpoints.ts';
import type { Portal } from './portal.ts';
import type { HeldLink } from './portal-links.store.ts';
import type { PortalLinks } from './portal-links.ts';

const token = text('portal_YW4gZXhhbXBsZSwgYW5kIG5vIHRva2Vu', {
  minLength: 1,
  maxLength: 100,
  description: 'The token from the link',
});
const deliveryId = like(plainText({ minLength: 1, maxLength: 100 }), sample.deliveryId);

const endpointFields = {
  url: text(sample.endpointUrl),
  eventTypes: Type.Array(Type.String(), { examples: [['record.anchor.confirmed']] }),
  status: Type.String({ enum: ['active', 'failing', 'disabled'] }),
  disabledReason: orNull(Type.String({ enum: ['owner', 'gone', 'failing'] })),
  publicKey: orNull(text(samplePublicKey, { description: 'Verifies the signatures v1a' })),
};
const OpenSchema = named(
  {
    title: 'OpenPortal',
    description: 'What a portal link shows of its endpoint, and what its holder may do',
  },
  Type.Object({
    ...endpointFields,
    mayChangeUrl: Type.Boolean(),
    mayManageSecret: Type.Boolean(),
    expiresAt: like(dateTime, '2026-03-09T09:00:00.000Z'),
  }),
);
const MovedSchema = named(
  { title: 'MovedEndpoint', description: 'The endpoint with its new URL, and the result of the test event' },
  Type.Object({ ...endpointFields, test: testSchema }),
);
const DeliverySchema = named(
  { title: 'PortalDelivery', description: 'A delivery to the endpoint of a portal link' },
  Type.Object(deliveryFields),
);
const WholeDeliverySchema = named(
  {
    title: 'PortalDeliveryWithAttempts',
    description: 'A delivery to the endpoint of a portal link, with its attempts',
  },
  Type.Object({ ...deliveryFields, ...attemptFields }),
);

/** For each network, and for each link. Tokens cannot be guessed; this only stops futile attempts. */
const lookLimit = { requests: 240, windowSeconds: 60 };
/** For each link: what sends requests to the receiver or changes something. */
const actionLimit = { requests: 20, windowSeconds: 60 };
const url = `${apiBase}/platform/webhooks/portal`;
const tags = ['webhooks'];
const closed = { additionalProperties: false };
const needsLink = 'For whoever has a portal link. Needs no key.';

export interface PortalRoutesDeps {
  portal: Portal;
  portalLinks: PortalLinks;
  cursors: Cursors;
}

export function portalRoutes(app: Api, { portal, portalLinks, cursors }: PortalRoutesDeps): void {
  const looks = createRateLimiter(lookLimit);
  const actions = createRateLimiter(actionLimit);

  type Asked = FastifyRequest<{ Body: { token: string } }>;
  async function linkOf(request: Asked, reply: FastifyReply): Promise<HeldLink> {
    looks.countAddress(request.ip, reply);
    const link = await portalLinks.find(request.body.token);
    looks.count(link.id, reply);
    return link;
  }
  async function actingLink(request: Asked, reply: FastifyReply): Promise<HeldLink> {
    const link = await linkOf(request, reply);
    actions.count(link.id, reply);
    return link;
  }

  app.post(
    `${url}/open`,
    {
      schema: {
        operationId: 'openPortal',
        summary: 'Look at the endpoint of a portal link',
        description: needsLink,
        tags,
        body: Type.Object({ token }, closed),
        response: { 200: OpenSchema },
      },
    },
    async (request, reply) => {
      const link = await linkOf(request, reply);
      const { mayChangeUrl, mayManageSecret, expiresAt } = link;
      const rights = { mayChangeUrl, mayManageSecret, expiresAt: expiresAt.toISOString() };
      return { ...toShown(await portal.endpoint(link)), ...rights };
    },
  );

  app.post(
    `${url}/deliveries`,
    {
      schema: {
        operationId: 'listPortalDeliveries',
        summary: 'List the deliveries to the endpoint of a portal link',
        description: `Newest first. With \`status\` a page may have fewer items than \`limit\`, or none, although more follow: check X-Next-Cursor. ${needsLink}`,
        tags,
        body: Type.Object(
          {
            token,
            status: Type.Optional(deliveryStatus),
            cursor: unshown(pageParameters.cursor),
            limit: Type.Optional(pageParameters.limit),
          },
          closed,
        ),
        response: {
          200: {
            ...Type.Array(DeliverySchema),
            headers: { 'X-Next-Cursor': Type.String({ description: 'Cursor of the next page' }) },
          },
        },
      },
    },
    async (request, reply) => {
      const link = await linkOf(request, reply);
      const { status, cursor, limit = 100 } = request.body;
      const { workspaceId, endpointId } = link;
      const list = { name: 'portal deliveries', workspaceId, filters: { endpointId, status } };
      const before = cursor === undefined ? undefined : String(cursors.read(list, cursor)[0]);
      const { items, next } = await portal.deliveries(link, { status, before, limit });
      if (next !== null) linkNextPage(request, reply, cursors.write(list, [next]));
      return items.map(toJson);
    },
  );

  app.post(
    `${url}/delivery`,
    {
      schema: {
        operationId: 'getPortalDelivery',
        summary: 'Get a delivery to the endpoint of a portal link',
        description: `With every attempt. ${needsLink}`,
        tags,
        body: Type.Object({ token, deliveryId }, closed),
        response: { 200: WholeDeliverySchema },
      },
    },
    async (request, reply) => {
      const link = await linkOf(request, reply);
      const delivery = await portal.delivery(link, request.body.deliveryId);
      return { ...toJson(delivery), envelope: delivery.envelope, attempts: delivery.attempts };
    },
  );

  app.post(
    `${url}/retry`,
    {
      schema: {
        operationId: 'retryPortalDelivery',
        summary: 'Retry a delivery to the endpoint of a portal link',
        description: needsLink,
        tags,
        body: Type.Object({ token, deliveryId }, closed),
        response: {
          202: like(DeliverySchema, { status: 'pending', nextAttemptAt: '2026-03-02T09:40:00.000Z' }),
        },
      },
    },
    async (request, reply) => {
      const link = await actingLink(request, reply);
      return reply.code(202).send(toJson(await portal.retry(link, request.body.deliveryId, request.id)));
    },
  );

  app.post(
    `${url}/test`,
    {
      schema: {
        operationId: 'testPortalEndpoint',
        summary: 'Send a test event to the endpoint of a portal link',
        description: `One at a time. ${needsLink}`,
        tags,
        body: Type.Object({ token }, closed),
        response: { 200: testSchema },
      },
    },
    async (request, reply) => portal.test(await actingLink(request, reply), request.id),
  );

  app.post(
    `${url}/change-url`,
    {
      schema: {
        operationId: 'changePortalUrl',
        summary: 'Change the URL of the endpoint of a portal link',
        description: `Sends webhook.test and reports the result; the URL is saved even if the test fails. Only with a link that includes it. ${needsLink}`,
        tags,
        body: Type.Object({ token, url: target }, closed),
        response: { 200: MovedSchema },
      },
    },
    async (request, reply) => {
      const link = await actingLink(request, reply);
      const { endpoint, test } = await portal.changeUrl(link, request.body.url, request.id);
      return { ...toShown(endpoint), test };
    },
  );

  app.post(
    `${url}/secret`,
    {
      schema: {
        operationId: 'getPortalSecret',
        summary: 'Show the signing secret of the endpoint of a portal link',
        description: `Only with a link that includes it. ${needsLink}`,
        tags,
        body: Type.Object({ token }, closed),
        response: { 200: Type.Object({ secret: text(sampleSecret) }, { description: 'The signing secret' }) },
      },
    },
    async (request, reply) => ({
      secret: await portal.secret(await actingLink(request, reply), request.id),
    }),
  );

  app.post(
    `${url}/rotate-secret`,
    {
      schema: {
        operationId: 'rotatePortalSecret',
        summary: 'Rotate the signing secret of the endpoint of a portal link',
        description: `The old secret keeps signing the Standard Webhooks header for 24 hours. Only with a link that includes it. ${needsLink}`,
        tags,
        body: Type.Object({ token }, closed),
        response: {
          200: Type.Object(
            { secret: text(sampleSecret), previousSecretUntil: like(dateTime, '2026-03-03T09:00:00.000Z') },
            {
              description:
                'The new signing secret, and until when deliveries are also signed with the old one',
            },
          ),
        },
      },
    },
    async (request, reply) => {
      const { secret, previousSecretUntil } = await portal.rotateSecret(
        await actingLink(request, reply),
        request.id,
      );
      return { secret, previousSecretUntil: previousSecretUntil.toISOString() };
    },
  );
}

function toShown(endpoint: Endpoint) {
  const { url, eventTypes, disabledReason, publicKey } = endpoint;
  return { url, eventTypes, status: statusOf(endpoint), disabledReason, publicKey };
}

function toJson({ id, eventId, type, status, createdAt, nextAttemptAt }: Delivery) {
  const times = { createdAt: createdAt.toISOString(), nextAttemptAt: nextAttemptAt?.toISOString() ?? null };
  return { id, eventId, type, status, ...times };
}
