/** The OpenAPI document, made from the routes' own schemas. */
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { errorKinds } from '../errors.ts';
import { apiBase } from './api.ts';
import type { PublicUrl } from './error-reply.ts';

const ErrorObject = Type.Object(
  {
    message: Type.String({ description: 'What is wrong, in words' }),
    errorCode: Type.String({ enum: Object.keys(errorKinds) }),
    docUrl: Type.String({ description: 'A page of this service that explains the code' }),
    timestamp: Type.String({ format: 'date-time' }),
  },
  { description: 'The one shape of every error' },
);

const nothing = Type.Object({}, { additionalProperties: false });

const idempotencyKey = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      // 255 characters and the quotes that may stand around them.
      maxLength: 257,
      description: 'A repeat with the same key within 24 hours gets the first answer and does nothing.',
    }),
  ),
});

/** Call before the routes are added. */
export async function describeApi(
  app: FastifyInstance,
  { version, publicUrl }: { version: string; publicUrl: PublicUrl },
): Promise<void> {
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith(apiBase) || route.schema?.hide) return;
    const schema = { ...route.schema };
    const methods = [route.method].flat();
    schema.querystring ??= nothing;
    if (methods.some((method) => !['GET', 'HEAD'].includes(method))) schema.body ??= nothing;
    if (route.config?.idempotent) schema.headers ??= idempotencyKey;
    schema.security = route.config?.scope ? [{ apiKey: [] }] : [];
    // An event stream takes a cursor too, but has no next page.
    if ('limit' in ((schema.querystring as { properties?: object }).properties ?? {})) {
      const { 200: list, ...rest } = schema.response as Record<string, object>;
      schema.response = {
        ...rest,
        200: {
          ...list,
          headers: { 'X-Next-Cursor': Type.String({ description: 'Leads to the next page' }) },
        },
      };
    }
    schema.response = { ...(schema.response as object), '4xx': ErrorObject, '5xx': ErrorObject };
    if (route.config?.scope) {
      schema.description = [schema.description, `Needs the scope \`${route.config.scope}\`.`]
        .filter(Boolean)
        .join(' ');
    }
    route.schema = schema;
  });

  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Holdfast',
        version,
        description:
          'Custodial vaults, anchored records, maintenance workers, events, webhooks and keys over HTTP. Every error has the same four fields; every list is an array whose next page is named by the X-Next-Cursor header.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'This service' }],
      components: { securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } } },
      tags: [
        { name: 'vaults', description: 'Wallets whose keys the service keeps' },
        { name: 'files', description: 'Bytes or their hash in versions, anchored, handed on and provable' },
        { name: 'records', description: 'JSON data in versions, hashed, anchored and provable' },
        { name: 'workers', description: 'People who sign maintenance work' },
        {
          name: 'maintenances',
          description: 'Maintenance work on assets, anchored, and signed off by workers',
        },
        { name: 'events', description: 'What happened, in an order that a poller can rely on' },
        {
          name: 'webhooks',
          description: 'Where events are sent, every attempt to send them, and sending them again',
        },
        { name: 'keys', description: 'API keys of the workspace' },
        { name: 'audit', description: 'Who did what to which thing' },
        { name: 'operations', description: 'For those who run the service' },
      ],
    },
    hideUntagged: true,
    transformObject: (document) =>
      'openapiObject' in document ? loosen(document.openapiObject) : document.swaggerObject,
  });
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ ...app.swagger(), servers: [{ url: publicUrl() }] })),
  );
}

interface Operation {
  parameters?: { required?: boolean; schema?: { default?: unknown } }[];
  requestBody?: {
    required?: boolean;
    content: Record<string, { schema?: { properties?: Record<string, object>; required?: string[] } }>;
  };
}

/** The generator calls every body required, and every parameter that has a default; of files in forms it knows nothing. */
function loosen<T extends { paths?: object }>(document: T): T {
  const items: Record<string, Operation>[] = Object.values(document.paths ?? {});
  for (const operation of items.flatMap((item) => Object.values(item))) {
    for (const parameter of operation.parameters ?? []) {
      if (parameter.schema?.default !== undefined) parameter.required = false;
    }
    const form = operation.requestBody?.content['multipart/form-data']?.schema?.properties;
    if (form?.file) form.file = { type: 'string', format: 'binary', description: 'One file' };
    const body = operation.requestBody?.content['application/json']?.schema;
    if (!operation.requestBody || !body) continue;
    if (Object.keys(body.properties ?? {}).length === 0) delete operation.requestBody;
    else operation.requestBody.required = (body.required ?? []).length > 0;
  }
  return document;
}
