/** /damc/assets/{assetId}/maintenances/ */
import { type TSchema, Type } from 'typebox';
import { anchorFields, anchorToJson } from '../../anchoring/anchored.ts';
import { proofOf } from '../../anchoring/proof-schema.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { linkNextPage, pageParameters } from '../../http/api/page.ts';
import { bodyBytes } from '../../http/bodies/body-limits.ts';
import { sendJson, withStored } from '../../http/bodies/stored-json.ts';
import { type AnchorStatus, anchorStatuses } from '../../proof/anchor-status.ts';
import { may } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import {
  address,
  dateTime,
  like,
  named,
  orNull,
  plainText,
  sample,
  text,
  unshown,
} from '../../runtime/schemas.ts';
import { visible } from '../../runtime/visible-text.ts';
import type { MaintenanceEntry } from '../signing/maintenance-entry.ts';
import { sampleEntry, sampleFile, sampleWork } from '../signing/sample-work.ts';
import { SignoffSchema, signoffToJson } from './entry-signoffs.routes.ts';
import { type Maintenance, type ReleaseState, releaseStates } from './maintenances.store.ts';
import type { Maintenances } from './maintenances.ts';

export const maintenancesUrl = `${apiBase}/damc/assets/:assetId/maintenances/`;
const url = maintenancesUrl;
const tags = ['maintenances'];
const read = { scope: 'assets:read', tellsOfChain: true } as const;

const assetPath = Type.Object({ assetId: text(sample.assetId) });
const entryPath = Type.Object({
  assetId: text(sample.assetId),
  maintenanceId: text(sample.maintenanceId),
});
const type = plainText({
  examples: [sampleWork.type],
  minLength: 1,
  maxLength: 100,
  pattern: visible,
  description:
    'The kind of work, as your organisation names it; also the licence scope it needs, unless a rule says otherwise',
});
const givenFile = Type.Object(
  {
    fileId: Type.String(),
    version: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })),
    share: Type.Optional(
      Type.Boolean({
        description:
          'Allows a file of another vault: everyone who may see the asset may see it too. Needs the scope files:write',
      }),
    ),
  },
  { additionalProperties: false },
);
const maintenanceHash = text(sample.maintenanceHash, {
  description:
    'SHA-256 of a random salt and the entry in its RFC 8785 form, with the hashes of its files; the salt is in the proof',
});
const viewerAddress = Type.String({
  ...address,
  description: 'The address of the viewer: the owner, an assigned worker, or someone with a grant',
});
const givenData = (description: string) =>
  Type.Unsafe<Record<string, unknown>>(
    Type.Object({}, { additionalProperties: true, description, examples: [sampleWork.data] }),
  );

const entryIds = {
  assetId: text(sample.assetId),
  maintenanceId: text(sample.maintenanceId),
  maintenanceHash,
};
const itemFields = {
  ...entryIds,
  number: Type.Integer({
    description: 'Counted from 1 for each asset without a gap, in the order of recording; part of the proof',
    examples: [17],
  }),
  type: text(sampleWork.type),
  summary: text(sampleWork.summary),
  performedAt: text(sample.performedAt, { ...dateTime, description: 'When the work was done' }),
  recordedAt: Type.String({ ...dateTime, description: 'When it was recorded' }),
  workerAddress: text(sample.workerAddress, { description: 'Who did the work, EIP-55' }),
  workerName: text(sample.workerName, { description: 'The name at that time' }),
  ...anchorFields,
  signoffs: Type.Array(SignoffSchema),
  supersedes: orNull(Type.String({ description: 'The entry that this one corrects' })),
  supersededBy: orNull(Type.String({ description: 'The entry that corrects this one' })),
  release: Type.Unsafe<ReleaseState>(
    Type.String({
      enum: [...releaseStates],
      description:
        'Whether the entry releases anything: `released` once it is certified, `withdrawn` once a certified entry is corrected',
      examples: ['none'],
    }),
  ),
};
const ItemSchema = named(
  { title: 'Maintenance', description: 'A maintenance entry, without its data' },
  Type.Object(itemFields),
);
const DetailsSchema = named(
  { title: 'MaintenanceDetails', description: 'A maintenance entry with all its details' },
  Type.Object({
    ...itemFields,
    data: givenData('As given in the request'),
    files: Type.Array(
      Type.Object({
        fileId: Type.String(),
        version: Type.Integer(),
        name: Type.String(),
        contentHash: Type.String(),
        canonicalization: Type.String(),
      }),
      { description: 'The attached files, at the versions that the hash covers', examples: [[sampleFile]] },
    ),
    entry: Type.Object(
      { format: Type.String() },
      {
        additionalProperties: true,
        description: 'The document that was hashed; it is the content of the proof',
        examples: [sampleEntry],
      },
    ),
  }),
);

const filters = {
  type: Type.Optional(type),
  from: Type.Optional(Type.String({ ...dateTime, description: 'Work done at this time or later' })),
  to: Type.Optional(Type.String({ ...dateTime, description: 'Work done before this time' })),
};

export interface MaintenanceRoutesDeps {
  maintenances: Maintenances;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function maintenanceRoutes(app: Api, deps: MaintenanceRoutesDeps): void {
  const { maintenances, cursors, idempotency } = deps;

  app.post(
    url,
    {
      config: { scope: 'assets:write', tellsOfChain: true, idempotent: true, freshSession: false },
      bodyLimit: bodyBytes.document,
      schema: {
        operationId: 'createMaintenance',
        summary: 'Create a maintenance entry',
        description:
          'Anchored in the next batch; `maintenance.anchor.confirmed` is sent once the anchor is confirmed. An entry is never changed: to correct one, create another that `supersedes` it.',
        tags,
        params: assetPath,
        body: Type.Object(
          {
            workerAddress: like(address, sample.workerAddress),
            type,
            summary: plainText({
              minLength: 1,
              maxLength: 10_000,
              pattern: visible,
              examples: [sampleWork.summary],
            }),
            performedAt: text(sample.performedAt, {
              ...dateTime,
              description: 'When the work was done; not in the future',
            }),
            data: Type.Optional(
              givenData('Any JSON object. `usage: {hours, cycles}` raises the usage of the asset.'),
            ),
            fileIds: Type.Optional(
              Type.Array(Type.String(), {
                maxItems: 100,
                uniqueItems: true,
                examples: [[sample.fileId]],
                description:
                  'Files of the vault that owns the asset. The hash covers their newest versions; in a correction, the versions of the corrected entry',
              }),
            ),
            files: unshown(
              Type.Array(givenFile, {
                maxItems: 100,
                description: 'Like fileIds, but at versions of your choice',
              }),
            ),
            supersedes: unshown(
              Type.String({ description: 'The entry of this asset that this one corrects' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          202: named(
            { title: 'CreatedMaintenance', description: 'The new entry, stored and waiting to be anchored' },
            Type.Object({ ...entryIds, status: like(anchorFields.status, 'pending') }),
          ),
        },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply.code(202));
      const caller = callerOf(request);
      const { performedAt, fileIds = [], files: given = [], ...body } = request.body;
      const files = [...fileIds.map((fileId) => ({ fileId })), ...given];
      if (given.some(({ share }) => share) && !may(caller, 'files:write')) {
        throw new AppError('forbidden', 'Sharing a file of another vault also needs the scope files:write.');
      }
      const input = { ...body, files, assetId: request.params.assetId, performedAt: new Date(performedAt) };
      await maintenances.create(caller, input, answer.remember);
      return answer.send();
    },
  );

  app.get(
    url,
    {
      config: read,
      schema: {
        operationId: 'listMaintenances',
        summary: 'List maintenance entries',
        description:
          'Most recent work first. With `status` a page may be shorter than `limit` although more follow: check X-Next-Cursor.',
        tags,
        params: assetPath,
        querystring: Type.Object(
          {
            viewerAddress,
            ...filters,
            status: Type.Optional(Type.Unsafe<AnchorStatus>(Type.String({ enum: [...anchorStatuses] }))),
            ...pageParameters,
          },
          { additionalProperties: false },
        ),
        response: { 200: Type.Array(ItemSchema) },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { assetId } = request.params;
      const { viewerAddress, cursor, limit, status, ...given } = request.query;
      const list = {
        name: 'maintenances',
        workspaceId: caller.workspaceId,
        filters: { ...given, assetId, status },
      };
      const range = rangeOf(given);
      const [performedAt, maintenanceId] = cursor === undefined ? [] : cursors.read(list, cursor);
      const { items, next } = await maintenances.list(
        { caller, assetId, viewerAddress },
        {
          ...range,
          status,
          limit,
          ...(performedAt !== undefined && {
            after: { performedAt: new Date(performedAt), maintenanceId: String(maintenanceId) },
          }),
        },
      );
      if (next) {
        const place = [next.performedAt.toISOString(), next.maintenanceId];
        linkNextPage(request, reply, cursors.write(list, place));
      }
      return items.map(toJson);
    },
  );

  app.get(
    `${url}count/`,
    {
      config: { scope: 'assets:read' },
      schema: {
        operationId: 'countMaintenances',
        summary: 'Count maintenance entries',
        tags,
        params: assetPath,
        querystring: Type.Object({ viewerAddress, ...filters }, { additionalProperties: false }),
        response: {
          200: Type.Object(
            { count: Type.Integer({ examples: [17] }) },
            { description: 'The number of entries' },
          ),
        },
      },
    },
    async (request) => {
      const { viewerAddress, ...given } = request.query;
      const view = { caller: callerOf(request), assetId: request.params.assetId, viewerAddress };
      return { count: await maintenances.count(view, rangeOf(given)) };
    },
  );

  const viewOne = <Answer extends TSchema>(
    words: { operationId: string; summary: string; description?: string },
    answer: Answer,
  ) => ({
    config: read,
    schema: {
      ...words,
      tags,
      params: entryPath,
      querystring: Type.Object({ viewerAddress }, { additionalProperties: false }),
      response: { 200: answer },
    },
  });

  app.get(
    `${url}:maintenanceId/`,
    viewOne(
      { operationId: 'getMaintenance', summary: 'Get an asset maintenance' },
      named(
        { title: 'FoundMaintenance', description: 'The hash of the entry, and the chain it is anchored on' },
        Type.Object({
          chainId: Type.Integer({
            examples: [sample.chainId],
            description: 'Id of the configured chain, even before the entry is anchored',
          }),
          maintenance: Type.Object(entryIds),
        }),
      ),
    ),
    (request) => maintenances.lookUp({ caller: callerOf(request), ...request.params, ...request.query }),
  );

  app.get(
    `${url}:maintenanceId/details/`,
    viewOne(
      { operationId: 'getMaintenanceDetails', summary: 'Get a maintenance entry with all its details' },
      DetailsSchema,
    ),
    async (request, reply) => {
      const view = { caller: callerOf(request), ...request.params, ...request.query };
      const { maintenance, entry } = await maintenances.get(view);
      const { data, files } = JSON.parse(entry) as MaintenanceEntry;
      // Sends the entry as exactly the text that was hashed.
      const rest = { ...toJson(maintenance), data, files };
      return sendJson(reply, withStored(rest, { name: 'entry', text: entry }));
    },
  );

  app.get(
    `${url}:maintenanceId/proof/`,
    viewOne(
      {
        operationId: 'getMaintenanceProof',
        summary: 'Get the proof of a maintenance entry',
        description:
          'One JSON document, `holdfast/proof@1`, that can be verified without this service; its content is the `entry` of the details. 409 until the entry is confirmed.',
      },
      proofOf({
        ...{ kind: 'maintenance', id: sample.maintenanceId, digest: sample.maintenanceHash },
        claims: { assetId: sample.assetId, number: 17, previousEntry: sample.leaf },
      }),
    ),
    async (request) => ({
      ...(await maintenances.proof({ caller: callerOf(request), ...request.params, ...request.query })),
    }),
  );
}

interface GivenFilters {
  type?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

function rangeOf({ type, from, to }: GivenFilters) {
  if (from !== undefined && to !== undefined && new Date(from) > new Date(to)) {
    throw new AppError('invalid_date_range', `from must not be after to, but ${from} is after ${to}.`);
  }
  return {
    type,
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
  };
}

function toJson({ performedAt, recordedAt, status, anchor, signoffs, ...rest }: Maintenance) {
  return {
    ...rest,
    performedAt: performedAt.toISOString(),
    recordedAt: recordedAt.toISOString(),
    ...anchorToJson({ status, anchor }),
    signoffs: signoffs.map(signoffToJson),
  };
}
