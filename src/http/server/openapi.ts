/** The OpenAPI document, generated from the schemas of the routes. */

import swagger from '@fastify/swagger';
import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { freshMinutes } from '../../runtime/caller.ts';
import { errorKinds } from '../../runtime/errors.ts';
import { named } from '../../runtime/schemas.ts';
import { apiBase } from '../api/api.ts';
import type { PublicUrl } from '../api/error-reply.ts';
import { withComponents } from './openapi-components.ts';
import { corrected } from './openapi-corrections.ts';
import { withExamples } from './openapi-examples.ts';

const ErrorObject = named(
  { title: 'Error', description: 'The format of every error' },
  Type.Object({
    message: Type.String({ description: 'What went wrong, for people to read' }),
    errorCode: Type.String({ enum: Object.keys(errorKinds) }),
    docUrl: Type.String({ description: 'A page of this service that explains the error code' }),
    timestamp: Type.String({ format: 'date-time' }),
  }),
);

const nothing = Type.Object({}, { additionalProperties: false });

const idempotencyKey = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      // 255 characters and optional quotes.
      maxLength: 257,
      description:
        'Repeating the request with the same key within 24 hours returns the first response and does nothing else.',
    }),
  ),
});

/** Call before the routes are added. */
export async function describeApi(
  app: FastifyInstance,
  { version, publicUrl, webhooks }: { version: string; publicUrl: PublicUrl; webhooks: object },
): Promise<void> {
  app.addHook('onRoute', (route) => {
    if (route.schema?.hide) return;
    const schema = { ...route.schema };
    if (!route.url.startsWith(apiBase)) {
      if (route.schema) route.schema.response = { ...(schema.response as object), '4xx': ErrorObject };
      return;
    }
    const methods = [route.method].flat();
    schema.querystring ??= nothing;
    if (methods.some((method) => !['GET', 'HEAD'].includes(method))) schema.body ??= nothing;
    if (route.config?.idempotent) schema.headers ??= idempotencyKey;
    schema.security = securityOf(route.config ?? {});
    // An event stream takes a cursor too, but has no next page.
    if ('limit' in ((schema.querystring as { properties?: object }).properties ?? {})) {
      const { 200: list, ...rest } = schema.response as Record<string, object>;
      schema.response = {
        ...rest,
        200: {
          ...list,
          headers: { 'X-Next-Cursor': Type.String({ description: 'Cursor of the next page' }) },
        },
      };
    }
    schema.response = { ...(schema.response as object), '4xx': ErrorObject, '5xx': ErrorObject };
    const need = needOf(route.config ?? {});
    if (need !== null) schema.description = [schema.description, need].filter(Boolean).join(' ');
    route.schema = schema;
  });

  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Holdfast',
        version,
        description:
          'Custodial vaults, anchored files and records, maintained assets with their workers, events, webhooks, keys and people over HTTP. Every error has the same four fields; every list is an array, and the X-Next-Cursor header holds the cursor of its next page.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'This service' }],
      components: { securitySchemes },
      tags: [
        { name: 'vaults', description: 'Wallets whose private keys the service holds' },
        {
          name: 'files',
          description:
            'Files and their versions, stored here or registered by hash only, anchored and provable',
        },
        { name: 'records', description: 'JSON data and its versions, hashed, anchored and provable' },
        {
          name: 'erasure',
          description:
            'Legal holds, retention, and what was erased; files and records have the routes that erase',
        },
        { name: 'workers', description: 'People who perform and sign maintenance work' },
        { name: 'assets', description: 'Maintained assets: their owner, their parts, and who may see them' },
        {
          name: 'maintenances',
          description: 'Maintenance work on assets, anchored and signed off by workers',
        },
        { name: 'events', description: 'What has happened, in an order that pollers can rely on' },
        {
          name: 'webhooks',
          description: 'Endpoints that events are sent to, the log of deliveries, and replays',
        },
        { name: 'keys', description: 'API keys of the workspace' },
        { name: 'approvals', description: 'Steps that a second person has to approve' },
        { name: 'audit', description: 'Who did what to which resource' },
        { name: 'people', description: 'Members, invitations and sessions: for people, not for API keys' },
        { name: 'operations', description: 'For operators of the service' },
      ],
    },
    hideUntagged: true,
    transformObject: (document) =>
      'openapiObject' in document ? withExamples(corrected(document.openapiObject)) : document.swaggerObject,
  });
  let made: { url: string; body: Buffer } | null = null;
  app.get(
    '/openapi.json',
    { config: { sameBytes: true }, schema: { hide: true } },
    async (_request, reply) => {
      const url = publicUrl();
      if (made?.url !== url) {
        const document = withComponents({ ...app.swagger(), webhooks, servers: [{ url }] });
        made = { url, body: Buffer.from(JSON.stringify(document)) };
      }
      return reply.type('application/json; charset=utf-8').send(made.body);
    },
  );
}

/** The cookie has the prefix of all our cookies, see access/people/sign-in.ts. */
const securitySchemes = {
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-holdfast.session_token',
    description:
      'The session of a person who is signed in. Changes must come from a page of this service, as shown by Origin or Sec-Fetch-Site. X-Workspace-Id selects one of several workspaces.',
  },
} as const;

function securityOf({ scope, role }: FastifyContextConfig): Record<string, string[]>[] {
  if (scope) return [{ apiKey: [] }, { session: [] }];
  return role ? [{ session: [] }] : [];
}

function needOf({ scope, role, freshSession }: FastifyContextConfig): string | null {
  const fresh =
    freshSession === true
      ? `With a session, needs that the person confirmed it in the last ${freshMinutes} minutes (\`step_up_required\`). `
      : '';
  if (scope) return `${fresh}Needs the scope \`${scope}\`.`;
  return role ? `${fresh}Only for people who are signed in. Needs the role \`${role}\`.` : null;
}
