/** /platform/records */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { TakeStep } from '../../access/approvals/steps.ts';
import { anchorFields, anchorToJson, notAnchoredYet } from '../../anchoring/anchored.ts';
import { proofOf } from '../../anchoring/proof-schema.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { sendNeedsApproval } from '../../http/api/approval-answer.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import type { Idempotency, Remake } from '../../http/api/idempotency.ts';
import { fetchPage, linkNextPage, pageParameters } from '../../http/api/page.ts';
import { bodyBytes } from '../../http/bodies/body-limits.ts';
import { sendJson, withStored } from '../../http/bodies/stored-json.ts';
import { requestLimits } from '../../input/request-limits.ts';
import { AppError } from '../../runtime/errors.ts';
import { packIds, unpackIds } from '../../runtime/ids.ts';
import { address, dateTime, like, named, plainText, sample, text } from '../../runtime/schemas.ts';
import { type GoneFromBackups, goneFromBackups as goneField } from '../holds/holds.routes.ts';
import { type RecordErasure, type RecordErasureInput, recordErasureJson } from './record-erasure.ts';
import type { RecordVersion } from './records.store.ts';
import type { Records } from './records.ts';

const { status, anchor } = anchorFields;

const sampleExternalId = 'DN-20417';
const sampleData = { deliveryNote: sampleExternalId, pallets: 12, seal: 'intact' };
const sampleDataHash = '0xf05a41f476befdb38e50d49be2f67e43385cdf11c04b49a32844b81961f17395';

const sampleSecond = {
  version: 2,
  dataHash: '0x64bff1519be7d786f3d5d150fa18949bec6141fca4b8e9c1d0b276647271727f',
  createdAt: '2026-03-02T11:30:00.000Z',
};

const fields = {
  id: text(sample.recordId),
  externalId: text(sampleExternalId, { description: 'Empty if not set' }),
  vaultId: text(sample.vaultId),
  vaultAddress: text(sample.vaultAddress, { description: 'EIP-55' }),
  version: Type.Integer(),
  dataHash: text(sampleDataHash, {
    description: 'SHA-256 of a random salt and the data in its RFC 8785 form; the salt is in the proof',
  }),
  erased: Type.Boolean({ description: 'Whether its data was erased' }),
  status,
  createdAt: dateTime,
  anchor,
};
const RecordSchema = named(
  { title: 'Record', description: 'A version of a record, without its data' },
  Type.Object(fields),
);
const data = Type.Object(
  {},
  {
    additionalProperties: true,
    description: 'Any JSON object',
    examples: [sampleData],
  },
);
const WholeRecordSchema = named(
  { title: 'RecordWithData', description: 'A version of a record, with its data' },
  Type.Object({
    ...fields,
    data: { ...data, description: 'As it was sent; an empty object once it was erased' },
  }),
);

const RecordErasureSchema = named(
  { title: 'RecordErasure', description: 'What was erased of a record, and when the last copy is gone' },
  Type.Object({
    recordId: text(sample.recordId),
    versions: Type.Array(Type.Integer(), {
      examples: [[1]],
      description: 'Erased now or before; at most the first 1000',
    }),
    bytes: Type.Integer({ examples: [51], description: 'Bytes of data that were erased now' }),
    erasedAt: dateTime,
    goneFromBackupsAt: goneField(),
  }),
);

const externalId = like(
  plainText({
    maxLength: requestLimits.externalIdLength,
    description: 'Your own id for the record; need not be unique',
  }),
  sampleExternalId,
);
const newRecord = { data, externalId: Type.Optional(externalId) };
const recordPath = Type.Object({ recordId: text(sample.recordId) });
const version = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: 'Defaults to the newest version' }),
);

const url = `${apiBase}/platform/records`;
const tags = ['records'];

const write = { scope: 'records:write', tellsOfChain: true, idempotent: true, freshSession: false } as const;
const read = { scope: 'records:read', tellsOfChain: true } as const;

export interface RecordRoutesDeps {
  records: Records;
  eraseRecord: TakeStep<RecordErasureInput, RecordErasure>;
  goneFromBackups: GoneFromBackups;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function recordRoutes(app: Api, deps: RecordRoutesDeps): void {
  const { records, eraseRecord, goneFromBackups, cursors, idempotency } = deps;

  /** A first version and its vault's address never change, and none is ever deleted. */
  const remake = async (request: FastifyRequest, made: Buffer) =>
    (await records.created(callerOf(request).workspaceId, unpackIds('rec', made))).map(toJson);
  const remakeOne: Remake = async (request, made) => (await remake(request, made))[0];

  app.post(
    url,
    {
      config: { ...write, oneCommit: true, remake: remakeOne },
      bodyLimit: bodyBytes.data,
      schema: {
        operationId: 'createRecord',
        summary: 'Create a record',
        description:
          'Anchored in the next batch; `record.anchor.confirmed` is sent once the anchor is confirmed.',
        tags,
        body: Type.Object({ vaultAddress: address, ...newRecord }, { additionalProperties: false }),
        response: { 202: notAnchoredYet(RecordSchema) },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply.code(202));
      const canonicalData = idempotency.canonicalMember(request, 'data');
      await records.create(callerOf(request), { ...request.body, canonicalData }, (record) =>
        answer.remember(toJson(record), () => packIds('rec', [record.id])),
      );
      return answer.send();
    },
  );

  app.post(
    `${url}/batch`,
    {
      config: { ...write, oneCommit: true, remake },
      bodyLimit: bodyBytes.data,
      schema: {
        operationId: 'createRecords',
        summary: 'Create many records',
        description:
          'Creates all of them, or none if one is refused. The response lists them in the same order.',
        tags,
        body: Type.Object(
          {
            vaultAddress: address,
            records: Type.Array(Type.Object(newRecord, { additionalProperties: false }), {
              minItems: 1,
              maxItems: requestLimits.recordsInBatch,
            }),
          },
          { additionalProperties: false },
        ),
        response: {
          202: Type.Array(notAnchoredYet(RecordSchema), {
            description: 'The new records, in the order in which they were sent',
          }),
        },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply.code(202));
      await records.createBatch(callerOf(request), request.body, (made) =>
        answer.remember(made.map(toJson), () =>
          packIds(
            'rec',
            made.map(({ id }) => id),
          ),
        ),
      );
      return answer.send();
    },
  );

  async function tellArchived(
    reply: FastifyReply,
    { workspaceId, from }: { workspaceId: string; from: string | undefined },
  ): Promise<void> {
    const before = await records.archivedBefore(workspaceId);
    if (before && (from === undefined || new Date(from) < before))
      reply.header('x-archived-before', before.toISOString());
  }

  app.get(
    url,
    {
      config: read,
      schema: {
        operationId: 'listRecords',
        summary: 'List records',
        description:
          'Newest first, each at its newest version, without its data. With `status` a page may be shorter than `limit` although more follow: check X-Next-Cursor. Archived records are not listed: if there are any in the time asked for, the last page has the header X-Archived-Before, and every archived record is older than that. They are read by their id.',
        tags,
        querystring: Type.Object(
          {
            vaultAddress: Type.Optional(address),
            externalId: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
            status: Type.Optional(status),
            from: Type.Optional(
              Type.String({ ...dateTime, description: 'First version created at this time or later' }),
            ),
            to: Type.Optional(
              Type.String({ ...dateTime, description: 'First version created before this time' }),
            ),
            ...pageParameters,
          },
          { additionalProperties: false },
        ),
        response: { 200: Type.Array(RecordSchema) },
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request);
      const { cursor, limit, ...filters } = request.query;
      const { from, to, ...rest } = filters;
      if (from !== undefined && to !== undefined && new Date(from) > new Date(to)) {
        throw new AppError('invalid_date_range', `from must not be after to, but ${from} is after ${to}.`);
      }
      const vaultAddress = filters.vaultAddress?.toLowerCase();
      const list = { name: 'records', workspaceId, filters: { ...filters, vaultAddress } };
      const before = cursor === undefined ? undefined : String(cursors.read(list, cursor)[0]);
      const { items, next } = await records.list(workspaceId, {
        ...rest,
        from: from === undefined ? undefined : new Date(from),
        to: to === undefined ? undefined : new Date(to),
        before,
        limit,
      });
      if (next !== null) linkNextPage(request, reply, cursors.write(list, [next]));
      else await tellArchived(reply, { workspaceId, from });
      return items.map(toJson);
    },
  );

  app.get(
    `${url}/:recordId`,
    {
      config: read,
      schema: {
        operationId: 'getRecord',
        summary: 'Get a record with its data',
        tags,
        params: recordPath,
        querystring: Type.Object({ version }, { additionalProperties: false }),
        response: { 200: WholeRecordSchema },
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request);
      const { record, content } = await records.get(
        workspaceId,
        request.params.recordId,
        request.query.version,
      );
      if (!content) return sendJson(reply, withStored(toJson(record), { name: 'data', text: '{}' }));
      // Sends the data as exactly the text that was hashed.
      return sendJson(reply, withStored(toJson(record), { name: 'data', text: content.data }));
    },
  );

  app.get(
    `${url}/:recordId/versions`,
    {
      config: read,
      schema: {
        operationId: 'listRecordVersions',
        summary: 'List the versions of a record',
        description: 'Newest first, without their data.',
        tags,
        params: recordPath,
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: Type.Array(RecordSchema) },
      },
    },
    async (request, reply) => {
      const { recordId } = request.params;
      const items = await fetchPage<RecordVersion>(
        {
          name: 'record-versions',
          filters: { recordId },
          fetch: (workspaceId, after, limit) =>
            records.versions(workspaceId, recordId, { before: after?.[0] as number, limit }),
          positionOf: ({ version }) => [version],
        },
        { request, reply, cursors, ...request.query },
      );
      return items.map(toJson);
    },
  );

  app.post(
    `${url}/:recordId/versions`,
    {
      config: write,
      bodyLimit: bodyBytes.data,
      schema: {
        operationId: 'createRecordVersion',
        summary: 'Add a version to a record',
        description: 'Its leaf names the leaf of the previous version. Older versions do not change.',
        tags,
        params: recordPath,
        body: Type.Object(
          { data: like(data, { ...sampleData, pallets: 11 }) },
          { additionalProperties: false },
        ),
        response: { 202: notAnchoredYet(RecordSchema, sampleSecond) },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply.code(202));
      const input = { id: request.params.recordId, data: request.body.data };
      await records.addVersion(callerOf(request), input, (record) => answer.remember(toJson(record)));
      return answer.send();
    },
  );

  app.get(
    `${url}/:recordId/proof`,
    {
      config: read,
      schema: {
        operationId: 'getRecordProof',
        summary: 'Get the proof of a record',
        description:
          'One JSON document, `holdfast/proof@1`, that can be verified without this service. 409 until the version is confirmed.',
        tags,
        params: recordPath,
        querystring: Type.Object({ version }, { additionalProperties: false }),
        response: {
          200: proofOf({
            kind: 'record',
            id: sample.recordId,
            digest: sampleDataHash,
            claims: { externalId: sampleExternalId },
          }),
        },
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request);
      return { ...(await records.proof(workspaceId, request.params.recordId, request.query.version)) };
    },
  );

  app.delete(
    `${url}/:recordId/data`,
    {
      config: { scope: 'records:write', freshSession: true, mayNeedApproval: true },
      schema: {
        operationId: 'eraseRecordData',
        summary: 'Erase the data of a record',
        description:
          'Erases all versions, or one of them: the data, its salt, and what the proof stated beside it. Hashes and proofs remain; externalId remains, too. The answer says when the last backup with the data is gone. Repeating the request changes nothing. 409 `on_hold` while the record or its vault is held.',
        tags,
        params: recordPath,
        querystring: Type.Object(
          {
            version: Type.Optional(
              Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: 'Defaults to all versions' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          200: RecordErasureSchema,
        },
      },
    },
    async (request, reply) => {
      const of = { id: request.params.recordId, version: request.query.version };
      const { done, asked } = await eraseRecord(callerOf(request), of);
      if (asked) return sendNeedsApproval(reply, asked);
      return recordErasureJson(done, goneFromBackups);
    },
  );
}

function toJson({ createdAt, ...rest }: RecordVersion) {
  return { ...rest, createdAt: createdAt.toISOString(), ...anchorToJson(rest) };
}
