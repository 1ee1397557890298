/** /platform/webhooks/endpoints/{endpointId}/portal-links */
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { dateTime, like, named, orNull, plainText, sample, text } from '../../runtime/schemas.ts';
import type { PortalLink } from './portal-links.store.ts';
import { type PortalLinks, portalLinkLimits } from './portal-links.ts';

const sampleLinkId = 'ptl_01KJPWF480N9D3RJ7Q1V5C8T2M';
const sampleDescription = 'For the crane operator';
const sampleEnd = '2026-03-09T09:00:00.000Z';

const description = plainText({
  maxLength: portalLinkLimits.descriptionLength,
  description: 'For whom it is; the holder of the link does not see it',
});
const mayChangeUrl = Type.Boolean({ description: 'The holder may change the URL of the endpoint' });
const mayManageSecret = Type.Boolean({ description: 'The holder may see and rotate the signing secret' });

const fields = {
  id: text(sampleLinkId),
  description: like(description, sampleDescription),
  mayChangeUrl: like(mayChangeUrl, false),
  mayManageSecret: like(mayManageSecret, true),
  createdAt: like(dateTime, '2026-03-02T09:00:00.000Z'),
  expiresAt: like(dateTime, sampleEnd),
};
const lastUsedAt = orNull(like(dateTime, '2026-03-02T09:30:00.000Z'));
const LinkSchema = named(
  { title: 'PortalLink', description: 'A link that shows one endpoint to somebody without an account' },
  Type.Object({ ...fields, lastUsedAt }),
);
const MadeSchema = named(
  { title: 'MadePortalLink', description: 'A new portal link, which is shown only once' },
  Type.Object({
    ...fields,
    lastUsedAt: like(lastUsedAt, null),
    link: text('https://holdfast.example.com/portal/portal_YW4gZXhhbXBsZSwgYW5kIG5vIHRva2Vu'),
  }),
);

const url = `${apiBase}/platform/webhooks/endpoints/:endpointId/portal-links`;
const tags = ['webhooks'];
const endpointId = text(sample.endpointId);

export interface PortalLinkRoutesDeps {
  portalLinks: PortalLinks;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function portalLinkRoutes(
  app: Api,
  { portalLinks, cursors, idempotency }: PortalLinkRoutesDeps,
): void {
  app.post(
    url,
    {
      config: { scope: 'webhooks:write', idempotent: 'own', freshSession: true },
      schema: {
        operationId: 'createPortalLink',
        summary: 'Make a portal link of an endpoint',
        description:
          'Whoever has the link sees this endpoint and its deliveries, sends tests and retries deliveries, without an account, until it expires: after seven days, or `validDays`. An endpoint has at most 20 of them. Also needs the scope webhooks:read.',
        tags,
        params: Type.Object({ endpointId }),
        body: Type.Object(
          {
            description: Type.Optional(like(description, sampleDescription)),
            validDays: Type.Optional(
              Type.Integer({
                minimum: 1,
                maximum: portalLinkLimits.days,
                description: 'Seven if left out, or until the key that makes it expires',
                examples: [7],
              }),
            ),
            mayChangeUrl: Type.Optional(like(mayChangeUrl, false)),
            mayManageSecret: Type.Optional(like(mayManageSecret, true)),
          },
          { additionalProperties: false },
        ),
        response: { 201: MadeSchema },
      },
    },
    async (request, reply) => {
      const unset = { description: '', mayChangeUrl: false, mayManageSecret: false, validDays: null };
      const answer = idempotency.answer(request, reply.code(201), { secret: true });
      await portalLinks.create(
        callerOf(request),
        { endpointId: request.params.endpointId, ...unset, ...request.body },
        ({ link, ...made }) => answer.remember({ ...toJson(made), link }),
      );
      return answer.send();
    },
  );

  app.get(
    url,
    {
      config: { scope: 'webhooks:read' },
      schema: {
        operationId: 'listPortalLinks',
        summary: 'List the portal links of an endpoint',
        description: 'Newest first, those that have expired too until another one is made.',
        tags,
        params: Type.Object({ endpointId }),
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: Type.Array(LinkSchema) },
      },
    },
    async (request, reply) => {
      const { endpointId } = request.params;
      const links = await fetchPage<PortalLink>(
        {
          name: 'portal links',
          filters: { endpointId },
          fetch: (workspaceId, after, limit) =>
            portalLinks.list({ workspaceId, endpointId }, { before: after?.[0] as string, limit }),
          positionOf: ({ id }) => [id],
        },
        { request, reply, cursors, ...request.query },
      );
      return links.map(toJson);
    },
  );

  app.delete(
    `${url}/:portalLinkId`,
    {
      config: { scope: 'webhooks:write', freshSession: true },
      schema: {
        operationId: 'revokePortalLink',
        summary: 'Revoke a portal link',
        description: 'It ends with the next request of its holder.',
        tags,
        params: Type.Object({ endpointId, portalLinkId: text(sampleLinkId) }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { endpointId, portalLinkId } = request.params;
      await portalLinks.revoke(callerOf(request), endpointId, portalLinkId);
      return reply.code(204).send(null);
    },
  );
}

function toJson({ createdAt, expiresAt, lastUsedAt, ...rest }: PortalLink) {
  return {
    ...rest,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  };
}
