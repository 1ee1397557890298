/** /platform/webhooks/endpoints */

import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { type Caller, may } from '../../runtime/caller.ts';
import { bytesOf } from '../../runtime/page-budget.ts';
import {
  CreatedSchema,
  EndpointSchema,
  endpointPath,
  eventTypesSchema,
  optionalInput,
  SavedSchema,
  target,
  testSchema,
} from './endpoint-schemas.ts';
import type { Endpoint } from './endpoints.store.ts';
import { type EndpointInput, type Endpoints, statusOf } from './endpoints.ts';
import { maskUrl } from './masked-url.ts';

const url = `${apiBase}/platform/webhooks/endpoints`;
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
      config: { scope: 'webhooks:write', idempotent: 'own', freshSession: true },
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
            ...optionalInput,
          },
          { additionalProperties: false },
        ),
        response: { 201: CreatedSchema },
      },
    },
    async (request, reply) => {
      const { url, eventTypes, ...given } = request.body;
      const unset = { filter: null, description: '', enabled: true, rateLimit: null };
      const plain = { ordering: 'none' as const, ed25519: false, headers: [], clientCertificate: null };
      const answer = idempotency.answer(request, reply.code(201), { secret: true });
      await endpoints.create(
        callerOf(request),
        { url, eventTypes, ...unset, ...plain, ...given },
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
      config: { scope: 'webhooks:write', freshSession: true },
      schema: {
        operationId: 'updateEndpoint',
        summary: 'Update a webhook endpoint',
        description:
          'Sends webhook.test and reports the result; the endpoint is saved even if the test fails. Disabling sends no test, and `test` is null. If the endpoint sends headers of its own, a `url` on another host, port or scheme must come with `headers`: their values belong to the receiver at the old address.',
        tags,
        params: endpointPath,
        body: Type.Object(
          {
            url: Type.Optional(target),
            eventTypes: Type.Optional(eventTypesSchema),
            ...optionalInput,
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
      config: { scope: 'webhooks:write', freshSession: true },
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

  app.post(
    `${url}/:endpointId/test`,
    {
      config: { scope: 'webhooks:write', freshSession: false },
      schema: {
        operationId: 'testEndpoint',
        summary: 'Send a test event',
        tags,
        params: endpointPath,
        response: { 200: testSchema },
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
