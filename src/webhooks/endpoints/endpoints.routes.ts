/** /platform/webhooks/endpoints */

import { Type } from 'typebox';
import { eventTypes } from '../../events/catalogue.ts';
import { typePatterns } from '../../events/type-patterns.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { type Caller, may } from '../../runtime/caller.ts';
import { bytesOf } from '../../runtime/page-budget.ts';
import { dateTime, like, named, orNull, plainText, sample, text } from '../../runtime/schemas.ts';
import type { Endpoint } from './endpoints.store.ts';
import { type EndpointInput, type Endpoints, endpointLimits, statusOf } from './endpoints.ts';
import { filterLimits } from './filter-syntax.ts';
import { maskUrl } from './masked-url.ts';

const sampleTypes = ['file.*', 'record.anchor.confirmed'];
const sampleFilter = `data.vault_id == "${sample.vaultId}" and data.version > 1`;
const sampleSecret = 'whsec_YW4gZXhhbXBsZSwgYW5kIG5vIHNlY3JldCBhdCBhbGw=';
const sampleDescription = 'Tells the terminal what is anchored';
const sampleCreatedAt = '2026-03-02T08:45:00.000Z';

export const eventTypesSchema = Type.Array(Type.String({ enum: typePatterns }), {
  minItems: 1,
  uniqueItems: true,
  maxItems: eventTypes.length,
  description: 'Types, all types with a prefix such as `record.*`, or `*` for all, also future ones',
  examples: [sampleTypes],
});
const filter = orNull(
  like(
    plainText({
      minLength: 1,
      maxLength: filterLimits.length,
      description: 'Only events that fulfil this expression are sent; see the guide of webhooks',
    }),
    sampleFilter,
  ),
);
const target = text(sample.endpointUrl, {
  minLength: 1,
  maxLength: endpointLimits.urlLength,
  description: 'Public https address that accepts POST',
});
const description = like(plainText({ maxLength: endpointLimits.descriptionLength }), sampleDescription);
const rateLimit = orNull(
  Type.Integer({
    minimum: 1,
    maximum: endpointLimits.requestsPerSecond,
    description: 'Requests per second',
    examples: [50],
  }),
);

const enabled = Type.Boolean({ examples: [true] });

const fields = {
  id: text(sample.endpointId),
  url: text(sample.endpointUrl, {
    description: 'Path and query are shown only to callers who may change the endpoint',
  }),
  eventTypes: Type.Array(Type.String(), { examples: [sampleTypes] }),
  filter: orNull(text(sampleFilter, { description: 'Only events that fulfil it are sent; null: all' })),
  description: text(sampleDescription),
  enabled,
  status: Type.String({ enum: ['active', 'failing', 'disabled'] }),
  disabledReason: orNull(
    Type.String({
      enum: ['owner', 'gone', 'failing'],
      description: 'owner, gone (it answered 410) or failing (for five days)',
    }),
  ),
  rateLimit: orNull(Type.Integer({ examples: [50] })),
  createdAt: like(dateTime, sampleCreatedAt),
  updatedAt: like(dateTime, sampleCreatedAt),
};
const test = named(
  { title: 'EndpointTest', description: 'The result of a test event' },
  Type.Object({
    delivered: Type.Boolean({ examples: [true] }),
    statusCode: orNull(Type.Integer({ examples: [204] })),
    error: orNull(Type.String()),
    durationMs: Type.Integer({ examples: [184] }),
  }),
);
const EndpointSchema = named(
  { title: 'Endpoint', description: 'A URL to which events are sent' },
  Type.Object(fields),
);
const SavedSchema = named(
  { title: 'SavedEndpoint', description: 'The endpoint, and the result of the test event if one was sent' },
  Type.Object({ ...fields, test: orNull(test) }),
);
const CreatedSchema = named(
  {
    title: 'CreatedEndpoint',
    description: 'The new endpoint with its signing secret, and the result of the test event',
  },
  Type.Object({ ...fields, secret: text(sampleSecret), test }),
);

const url = `${apiBase}/platform/webhooks/endpoints`;
export const endpointPath = Type.Object({ endpointId: text(sample.endpointId) });
const tags = ['webhooks'];

export interface EndpointRoutesDeps {
  endpoints: Endpoints;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function endpointRoutes(app: Api, { endpoints, cursors, idempotency }: EndpointRoutesDeps): void {
  app.post(
    url,
    {
      config: { scope: 'webhooks:write', idempotent: 'own' },
      schema: {
        operationId: 'createEndpoint',
        summary: 'Create a webhook endpoint',
        description:
          'Sends webhook.test and reports the result; the endpoint is saved even if the test fails.',
        tags,
        body: Type.Object(
          {
            url: target,
            eventTypes: eventTypesSchema,
            filter: Type.Optional(filter),
            description: Type.Optional(description),
            enabled: Type.Optional(enabled),
            rateLimit: Type.Optional(rateLimit),
          },
          { additionalProperties: false },
        ),
        response: { 201: CreatedSchema },
      },
    },
    async (request, reply) => {
      const {
        url,
        eventTypes,
        filter = null,
        description = '',
        enabled = true,
        rateLimit = null,
      } = request.body;
      const answer = idempotency.answer(request, reply.code(201), { secret: true });
      await endpoints.create(
        callerOf(request),
        { url, eventTypes, filter, description, enabled, rateLimit },
        ({ endpoint, secret, test }) => answer.remember({ ...toJson(endpoint), secret, test }),
      );
      return answer.send();
    },
  );

  app.get(
    url,
    {
      config: { scope: 'webhooks:read' },
      schema: {
        operationId: 'listEndpoints',
        summary: 'List webhook endpoints',
        description: 'Newest first.',
        tags,
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: Type.Array(EndpointSchema) },
      },
    },
    async (request, reply) => {
      const items = await fetchPage<Endpoint>(
        {
          name: 'endpoints',
          filters: {},
          fetch: (workspaceId, after, limit) =>
            endpoints.list(workspaceId, { before: after?.[0] as string, limit }),
          positionOf: ({ id }) => [id],
          bytesOf,
        },
        { request, reply, cursors, ...request.query },
      );
      const caller = callerOf(request);
      return items.map((endpoint) => toShown(endpoint, caller));
    },
  );

  app.get(
    `${url}/:endpointId`,
    {
      config: { scope: 'webhooks:read' },
      schema: {
        operationId: 'getEndpoint',
        summary: 'Get a webhook endpoint',
        tags,
        params: endpointPath,
        response: { 200: EndpointSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      return toShown(await endpoints.get(caller.workspaceId, request.params.endpointId), caller);
    },
  );

  app.patch(
    `${url}/:endpointId`,
    {
      config: { scope: 'webhooks:write' },
      schema: {
        operationId: 'updateEndpoint',
        summary: 'Update a webhook endpoint',
        description:
          'Sends webhook.test and reports the result; the endpoint is saved even if the test fails. Disabling sends no test, and `test` is null.',
        tags,
        params: endpointPath,
        body: Type.Object(
          {
            url: Type.Optional(target),
            eventTypes: Type.Optional(eventTypesSchema),
            filter: Type.Optional(filter),
            description: Type.Optional(description),
            enabled: Type.Optional(enabled),
            rateLimit: Type.Optional(rateLimit),
          },
          { additionalProperties: false },
        ),
        response: { 200: SavedSchema },
      },
    },
    async (request) => {
      const change = request.body as Partial<EndpointInput>;
      const { endpoint, test } = await endpoints.update(callerOf(request), request.params.endpointId, change);
      return { ...toJson(endpoint), test };
    },
  );

  app.delete(
    `${url}/:endpointId`,
    {
      config: { scope: 'webhooks:write' },
      schema: {
        operationId: 'deleteEndpoint',
        summary: 'Delete a webhook endpoint',
        tags,
        params: endpointPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await endpoints.remove(callerOf(request), request.params.endpointId);
      return reply.code(204).send(null);
    },
  );

  app.get(
    `${url}/:endpointId/secret`,
    {
      config: { scope: 'webhooks:write', freshSession: true },
      schema: {
        operationId: 'getEndpointSecret',
        summary: 'Show the signing secret',
        tags,
        params: endpointPath,
        response: { 200: Type.Object({ secret: text(sampleSecret) }, { description: 'The signing secret' }) },
      },
    },
    async (request) => ({
      secret: await endpoints.secret(callerOf(request), request.params.endpointId),
    }),
  );

  app.post(
    `${url}/:endpointId/rotate-secret`,
    {
      config: { scope: 'webhooks:write', idempotent: 'own', freshSession: true },
      schema: {
        operationId: 'rotateEndpointSecret',
        summary: 'Rotate the signing secret',
        description:
          'The old secret keeps signing the Standard Webhooks header for 24 hours, even if the new one is rotated again; the sha256= header changes at once. With an Idempotency-Key, a repeat returns the same secret.',
        tags,
        params: endpointPath,
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
      const answer = idempotency.answer(request, reply, { secret: true });
      await endpoints.rotateSecret(
        callerOf(request),
        request.params.endpointId,
        ({ secret, previousSecretUntil }) =>
          answer.remember({ secret, previousSecretUntil: previousSecretUntil.toISOString() }),
      );
      return answer.send();
    },
  );

  app.post(
    `${url}/:endpointId/test`,
    {
      config: { scope: 'webhooks:write' },
      schema: {
        operationId: 'testEndpoint',
        summary: 'Send a test event',
        tags,
        params: endpointPath,
        response: { 200: test },
      },
    },
    async (request) => endpoints.test(callerOf(request), request.params.endpointId),
  );
}

/** The full URL only for callers who may change it. */
function toShown(endpoint: Endpoint, caller: Caller) {
  const shown = toJson(endpoint);
  return may(caller, 'webhooks:write') ? shown : { ...shown, url: maskUrl(shown.url) };
}

function toJson(endpoint: Endpoint) {
  const { failingSince: _, createdAt, updatedAt, ...rest } = endpoint;
  return {
    ...rest,
    status: statusOf(endpoint),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
