/** /platform/api-keys */
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { needsApproval } from '../../http/api/approval-answer.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { type Scope, scopes } from '../../runtime/caller.ts';
import { dateTime, like, name, named, orNull, sample, text } from '../../runtime/schemas.ts';
import type { TakeStep } from '../approvals/steps.ts';
import { hintOf } from './api-key-text.ts';
import type { ApiKey, ApiKeys, MadeKey } from './api-keys.ts';
import { apiKeyJson, type KeyInput } from './wide-keys.ts';

export interface ApiKeyRoutesDeps {
  apiKeys: ApiKeys;
  createKey: TakeStep<KeyInput, MadeKey>;
  cursors: Cursors;
  idempotency: Idempotency;
}

const ScopeSchema = Type.Unsafe<Scope>(Type.String({ enum: [...scopes] }));

const sampleKey = 'hf_live_ExampleExampleExampleExample003t4Voi';
const sampleName = 'Crane terminal';
const sampleScopes = ['files:write', 'assets:write'];
const sampleExpiry = '2036-01-01T00:00:00.000Z';

const keyFields = {
  id: text(sample.keyId),
  name: text(sampleName),
  hint: text(hintOf(sampleKey), { description: 'The first characters of the key' }),
  scopes: Type.Array(Type.String(), {
    description: 'Empty means every scope except `signoffs:on-behalf`, which must be named',
    examples: [sampleScopes],
  }),
  createdAt: like(dateTime, '2026-03-02T08:25:00.000Z'),
  expiresAt: orNull(like(dateTime, sampleExpiry)),
  lastUsedAt: orNull(like(dateTime, sample.at)),
  revokedAt: orNull(dateTime),
};
const ApiKeySchema = named(
  { title: 'ApiKey', description: 'An API key, without its secret' },
  Type.Object(keyFields),
);
const CreatedKeySchema = named(
  { title: 'CreatedApiKey', description: 'The new API key with its secret, which is shown only once' },
  Type.Object({
    ...keyFields,
    key: text(sampleKey, { description: 'The key itself; it is not shown again' }),
  }),
);

const url = `${apiBase}/platform/api-keys`;

export function apiKeyRoutes(app: Api, deps: ApiKeyRoutesDeps): void {
  const { apiKeys, createKey, cursors, idempotency } = deps;
  app.post(
    url,
    {
      config: { scope: 'keys:write', idempotent: 'own', freshSession: true, mayNeedApproval: true },
      schema: {
        operationId: 'createApiKey',
        summary: 'Create an API key',
        description:
          "The key belongs to the caller's workspace and can have at most the caller's scopes. A key that may do more than read can need a second person; who asked then collects it once it is approved.",
        tags: ['keys'],
        body: Type.Object(
          {
            name: like(name, sampleName),
            scopes: Type.Optional(
              Type.Array(ScopeSchema, {
                uniqueItems: true,
                maxItems: scopes.length,
                description:
                  'Empty means every scope except `signoffs:on-behalf`. To grant that one takes an admin who is signed in, or a key that has it',
                examples: [sampleScopes],
              }),
            ),
            expiresAt: Type.Optional(like(dateTime, sampleExpiry)),
          },
          { additionalProperties: false },
        ),
        response: { 201: like(CreatedKeySchema, { lastUsedAt: null }) },
      },
    },
    async (request, reply) => {
      const { name, scopes = [], expiresAt = null } = request.body;
      const answer = idempotency.answer(request, reply.code(201), { secret: true });
      await createKey(
        callerOf(request),
        { name, scopes, expiresAt },
        {
          done: ({ key, apiKey }) => answer.remember({ ...apiKeyJson(apiKey), key }),
          asked: (asked) => answer.remember(needsApproval(reply, asked)),
        },
      );
      return answer.send();
    },
  );

  app.get(
    url,
    {
      config: { scope: 'keys:read' },
      schema: {
        operationId: 'listApiKeys',
        summary: 'List API keys',
        description: 'Newest first, revoked ones included.',
        tags: ['keys'],
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: Type.Array(ApiKeySchema) },
      },
    },
    async (request, reply) => {
      const items = await fetchPage<ApiKey>(
        {
          name: 'api-keys',
          filters: {},
          fetch: (workspaceId, after, limit) =>
            apiKeys.list(workspaceId, { before: after?.[0] as string, limit }),
          positionOf: ({ id }) => [id],
        },
        { request, reply, cursors, ...request.query },
      );
      return items.map(apiKeyJson);
    },
  );

  app.delete(
    `${url}/:keyId`,
    {
      config: { scope: 'keys:write', freshSession: true },
      schema: {
        operationId: 'revokeApiKey',
        summary: 'Revoke an API key',
        description: 'Takes effect on the next request. Revoking it again changes nothing.',
        tags: ['keys'],
        params: Type.Object({ keyId: text(sample.keyId) }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await apiKeys.revoke(callerOf(request), request.params.keyId);
      return reply.code(204).send(null);
    },
  );
}
