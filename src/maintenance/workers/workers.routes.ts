/** /damc/workers/ */

import { type Static, Type } from 'typebox';
import { fromBytea, type HexText, toBytea } from '../../db/bytea.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import type { Idempotency, Remake } from '../../http/api/idempotency.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { checksummed } from '../../runtime/address.ts';
import { AppError } from '../../runtime/errors.ts';
import { bytesOf } from '../../runtime/page-budget.ts';
import {
  address,
  dateTime,
  like,
  name,
  named,
  orNull,
  plainText,
  sample,
  text,
  unshown,
} from '../../runtime/schemas.ts';
import type { Licence } from '../signing/licence.ts';
import { sampleCreatedAt, sampleLicence } from '../signing/sample-work.ts';
import type { Worker, Workers } from './workers.ts';

const licenceFields = {
  scope: plainText({
    minLength: 1,
    maxLength: 200,
    description: 'What it allows, as your organisation names it',
    examples: [sampleLicence.scope],
  }),
  number: like(name, sampleLicence.number),
  authority: like(name, sampleLicence.authority),
};
const category = orNull(
  plainText({
    minLength: 1,
    maxLength: 50,
    description: 'Such as B1.1 or C; null for none',
    examples: [sampleLicence.category],
  }),
);
const limits = {
  validFrom: orNull(
    Type.String({
      ...dateTime,
      description: 'From when it is valid; before it expires',
      examples: [sampleLicence.validFrom],
    }),
  ),
  expiresAt: orNull(like(dateTime, sampleLicence.expiresAt)),
  suspendedAt: orNull(
    Type.String({ ...dateTime, description: 'From when it is suspended; null when it is not' }),
  ),
};
const GivenLicence = Type.Object(
  {
    ...licenceFields,
    category: Type.Optional(category),
    validFrom: Type.Optional(limits.validFrom),
    expiresAt: Type.Optional(limits.expiresAt),
    suspendedAt: unshown(limits.suspendedAt),
  },
  { additionalProperties: false },
);

const CreatedWorkerSchema = named(
  { title: 'CreatedWorker', description: 'The new worker' },
  Type.Object({
    name: text(sample.workerName),
    address: text(sample.workerAddress, { description: 'Address of the worker, EIP-55' }),
  }),
);

const WorkerSchema = named(
  { title: 'Worker', description: 'Someone who performs and signs maintenance work' },
  Type.Object({
    id: text('wrk_01KJPV8JR0A12KSGG6EQ9ZTAJ3'),
    name: text(sample.workerName),
    address: text(sample.workerAddress, { description: 'Address of the worker, EIP-55' }),
    keyHolder: Type.String({
      enum: ['service', 'worker', 'passkey'],
      description: 'Who holds the private key; `passkey` if the worker signs with passkeys only',
    }),
    licences: Type.Array(Type.Object({ ...licenceFields, category, ...limits })),
    userId: orNull(
      text(sample.userId, {
        description: 'The member of the workspace whom the worker is; null if not bound',
      }),
    ),
    identity: text('wrk_01KJPV8JR0A12KSGG6EQ9ZTAJ3', {
      description: 'Workers with the same identity are one person under several records',
    }),
    createdAt: like(dateTime, sampleCreatedAt),
    updatedAt: like(dateTime, sampleCreatedAt),
  }),
);

const givenName = like(name, sample.workerName);
const workerPath = Type.Object({ address: like(address, sample.workerAddress) });

const url = `${apiBase}/damc/workers/`;

/** The name is in the payload. */
const remake: Remake = ({ body }, made) => ({
  name: (body as { name: string }).name,
  address: checksummed(fromBytea(made)),
});

export interface WorkerRoutesDeps {
  workers: Workers;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function workerRoutes(app: Api, { workers, cursors, idempotency }: WorkerRoutesDeps): void {
  app.post(
    url,
    {
      config: { scope: 'workers:write', idempotent: true, oneCommit: true, remake, freshSession: false },
      schema: {
        operationId: 'createWorker',
        summary: 'Create a worker',
        description:
          'Without an address, the service creates a key for the worker; with one, the worker holds their own key.',
        tags: ['workers'],
        body: Type.Object({ name: givenName, address: unshown(address) }, { additionalProperties: false }),
        response: { 201: CreatedWorkerSchema },
      },
    },
    async (request, reply) => {
      const { name, address } = request.body;
      const answer = idempotency.answer(request, reply.code(201));
      await workers.create(callerOf(request), { name, address }, ({ name, address }) =>
        answer.remember({ name, address }, () => toBytea(address as HexText)),
      );
      return answer.send();
    },
  );

  app.get(
    url,
    {
      config: { scope: 'workers:read' },
      schema: {
        operationId: 'listWorkers',
        summary: 'List workers',
        description: 'Newest first.',
        tags: ['workers'],
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: Type.Array(WorkerSchema) },
      },
    },
    async (request, reply) => {
      const items = await fetchPage<Worker>(
        {
          name: 'workers',
          filters: {},
          fetch: (workspaceId, after, limit) =>
            workers.list(workspaceId, { before: after?.[0] as string, limit }),
          positionOf: ({ id }) => [id],
          bytesOf,
        },
        { request, reply, cursors, ...request.query },
      );
      return items.map(toJson);
    },
  );

  app.get(
    `${url}:address/`,
    {
      config: { scope: 'workers:read' },
      schema: {
        operationId: 'getWorker',
        summary: 'Get a worker',
        tags: ['workers'],
        params: workerPath,
        response: { 200: WorkerSchema },
      },
    },
    async (request) => toJson(await workers.get(callerOf(request).workspaceId, request.params.address)),
  );

  app.patch(
    `${url}:address/`,
    {
      config: { scope: 'workers:write', freshSession: true },
      schema: {
        operationId: 'updateWorker',
        summary: 'Update a worker',
        tags: ['workers'],
        params: workerPath,
        body: Type.Object(
          {
            name: Type.Optional(givenName),
            licences: Type.Optional(Type.Array(GivenLicence, { maxItems: 100 })),
          },
          { additionalProperties: false },
        ),
        response: { 200: WorkerSchema },
      },
    },
    async (request) => {
      const { name, licences } = request.body;
      const change = {
        ...(name !== undefined && { name }),
        ...(licences && {
          licences: licences.map(toLicence),
        }),
      };
      return toJson(await workers.update(callerOf(request), request.params.address, change));
    },
  );

  app.put(
    `${url}:address/person/`,
    {
      config: { role: 'admin', freshSession: true },
      schema: {
        operationId: 'bindWorker',
        summary: 'Say which person a worker is',
        description:
          'For admins, and not for themselves. The service uses the key that it holds for the worker only in the session of this person.',
        tags: ['workers'],
        params: workerPath,
        body: Type.Object(
          { userId: plainText({ minLength: 1, maxLength: 100, examples: [sample.userId] }) },
          { additionalProperties: false },
        ),
        response: { 200: WorkerSchema },
      },
    },
    async (request) =>
      toJson(await workers.bind(callerOf(request), request.params.address, request.body.userId)),
  );

  app.delete(
    `${url}:address/person/`,
    {
      config: { role: 'admin', freshSession: true },
      schema: {
        operationId: 'unbindWorker',
        summary: 'Say that a worker is no longer that person',
        tags: ['workers'],
        params: workerPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await workers.bind(callerOf(request), request.params.address, null);
      return reply.code(204).send(null);
    },
  );

  app.put(
    `${url}:address/identity/`,
    {
      config: { scope: 'workers:write', freshSession: true },
      schema: {
        operationId: 'joinWorker',
        summary: 'Say that two workers are one person',
        description:
          'From then on, what one of them did counts as done by both. Workers who have or had the same licence, or are the same member, are one person without this.',
        tags: ['workers'],
        params: workerPath,
        body: Type.Object(
          { workerAddress: like(address, sample.viewerAddress) },
          { additionalProperties: false },
        ),
        response: { 200: WorkerSchema },
      },
    },
    async (request) =>
      toJson(await workers.join(callerOf(request), request.params.address, request.body.workerAddress)),
  );

  app.delete(
    `${url}:address/identity/`,
    {
      config: { role: 'admin', freshSession: true },
      schema: {
        operationId: 'separateWorker',
        summary: 'Say that a worker is a person of their own',
        description:
          'For a mistake, such as a licence under the wrong worker. For what was recorded before, they remain one person.',
        tags: ['workers'],
        params: workerPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await workers.separate(callerOf(request), request.params.address);
      return reply.code(204).send(null);
    },
  );
}

/** Times are stored in UTC, whatever their time zone was. */
function toLicence(given: Static<typeof GivenLicence>): Licence {
  const { category = null, scope, number, authority } = given;
  const [validFrom, expiresAt, suspendedAt] = [given.validFrom, given.expiresAt, given.suspendedAt].map(
    (time) => (time == null ? null : new Date(time).toISOString()),
  ) as (string | null)[];
  if (validFrom && expiresAt && Date.parse(validFrom) >= Date.parse(expiresAt)) {
    throw new AppError('invalid_request', `The licence ${number} expires before it is valid.`);
  }
  return {
    ...{ category, scope, number, authority },
    ...{ validFrom: validFrom ?? null, expiresAt: expiresAt ?? null, suspendedAt: suspendedAt ?? null },
  };
}

function toJson({ createdAt, updatedAt, ...rest }: Worker) {
  return { ...rest, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}
