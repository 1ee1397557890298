/** /damc/assets/ */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { anchorFields, anchorToJson, notAnchoredYet } from '../../anchoring/anchored.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { fetchPage, linkNextPage, pageParameters } from '../../http/api/page.ts';
import { etagOf, ifMatchHeaders, seenVersions } from '../../http/api/precondition.ts';
import { bodyBytes } from '../../http/bodies/body-limits.ts';
import { sendJson, withStored } from '../../http/bodies/stored-json.ts';
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
import { sampleAsset, sampleCreatedAt } from '../signing/sample-work.ts';
import type { AssetAccess } from './asset-access.ts';
import { maxAssetIdLength } from './asset-id.ts';
import { type Asset, bytesOfAsset, type StoredAsset } from './assets.store.ts';
import type { Assets } from './assets.ts';

export const assetsUrl = `${apiBase}/damc/assets/`;
export const assetUrl = `${assetsUrl}:assetId/`;
export const assetPath = Type.Object({ assetId: text(sample.assetId) });
const tags = ['assets'];

const write = { scope: 'assets:write', tellsOfChain: true, freshSession: false } as const;
const read = { scope: 'assets:read', tellsOfChain: true } as const;

const assetId = plainText({
  minLength: 1,
  maxLength: maxAssetIdLength,
  description:
    'Your own id, unique in the workspace: printable characters, no slashes, and no prefix that the service uses for its own ids',
});
const serialNumber = plainText({ maxLength: 255, examples: [sampleAsset.serialNumber] });
const partNumber = plainText({ maxLength: 255, examples: [sampleAsset.partNumber] });
const metadata = Type.Unsafe<Record<string, unknown>>(
  Type.Object(
    {},
    { additionalProperties: true, description: 'Any JSON object', examples: [sampleAsset.metadata] },
  ),
);
const givenName = like(name, sampleAsset.name);
const counter = { minimum: 0, maximum: 1e12 };
const usage = Type.Object(
  {
    hours: Type.Optional(
      Type.Number({
        ...counter,
        description: 'Total so far; a lower value needs usageCorrection',
        examples: [sampleAsset.usage.hours],
      }),
    ),
    cycles: Type.Optional(
      Type.Integer({
        ...counter,
        description: 'Total so far; a lower value needs usageCorrection',
        examples: [sampleAsset.usage.cycles],
      }),
    ),
  },
  { additionalProperties: false },
);
const given = {
  serialNumber: Type.Optional(serialNumber),
  partNumber: Type.Optional(partNumber),
  metadata: Type.Optional(metadata),
  usage: Type.Optional(usage),
};

export const usageFromParents = Type.Object(
  { hours: Type.Number(), cycles: Type.Integer() },
  {
    description: 'The part of `usage` that is not stated of the asset itself: what its parents ran',
    examples: [{ hours: 0, cycles: 0 }],
  },
);
const AssetSchema = named(
  { title: 'Asset', description: 'An asset under maintenance' },
  Type.Object({
    assetId: text(sample.assetId),
    vaultId: text(sample.vaultId, { description: 'The vault that owns it' }),
    vaultAddress: text(sample.vaultAddress, { description: 'EIP-55' }),
    name: text(sampleAsset.name),
    serialNumber: text(sampleAsset.serialNumber, { description: 'Empty if not set' }),
    partNumber: text(sampleAsset.partNumber, { description: 'Empty if not set' }),
    metadata,
    parentAssetId: orNull(Type.String({ description: 'The asset that it is installed in' })),
    usage: Type.Object(
      { hours: Type.Number(), cycles: Type.Integer() },
      {
        description:
          'The highest value stated here or in an entry that was not superseded, and what its parents ran since then while it was installed in them',
        examples: [sampleAsset.usage],
      },
    ),
    usageFromParents,
    version: Type.Integer({ description: 'Number of the current version; every change is anchored' }),
    ...anchorFields,
    createdAt: like(dateTime, sampleCreatedAt),
    updatedAt: like(dateTime, sampleCreatedAt),
  }),
);
/** Only viewers see the maintenance of an asset; the whole workspace sees the asset itself. */
export const viewerQuery = Type.Object(
  {
    viewerAddress: Type.Optional(
      Type.String({
        ...address,
        description: 'Whose access is checked; refused if they may not see the asset. Defaults to the owner',
      }),
    ),
  },
  { additionalProperties: false },
);

export interface AssetRoutesDeps {
  assets: Assets;
  assetAccess: Pick<AssetAccess, 'require'>;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function assetRoutes(app: Api, { assets, assetAccess, cursors, idempotency }: AssetRoutesDeps): void {
  app.post(
    assetsUrl,
    {
      config: { ...write, idempotent: true },
      bodyLimit: bodyBytes.document,
      schema: {
        operationId: 'createAsset',
        summary: 'Create an asset',
        description: 'Anchored in the next batch. Without an assetId, the service creates one.',
        tags,
        body: Type.Object(
          { vaultAddress: address, name: givenName, assetId: unshown(assetId), ...given },
          { additionalProperties: false },
        ),
        response: { 201: notAnchoredYet(AssetSchema) },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply.code(201));
      await assets.create(callerOf(request), request.body, (asset) => answer.remember(toJson(asset)));
      return answer.send();
    },
  );

  app.get(
    assetsUrl,
    {
      config: read,
      schema: {
        operationId: 'listAssets',
        summary: 'List assets',
        description:
          'Newest first. With `q` a page may be shorter than `limit` although more follow: check X-Next-Cursor.',
        tags,
        querystring: Type.Object(
          {
            q: Type.Optional(
              Type.String({
                minLength: 1,
                maxLength: 100,
                pattern: '\\S',
                description:
                  'Words, or parts of words, that must all occur in the id, name, serial number or part number; case does not matter',
              }),
            ),
            vaultAddress: Type.Optional(address),
            serialNumber: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
            parentAssetId: Type.Optional(
              Type.String({
                minLength: 1,
                maxLength: maxAssetIdLength,
                description: 'Only assets installed in this one',
              }),
            ),
            ...pageParameters,
          },
          { additionalProperties: false },
        ),
        response: { 200: Type.Array(AssetSchema) },
      },
    },
    async (request, reply) => {
      const { q, ...query } = request.query;
      if (q !== undefined) return search(request, reply, { ...query, q });
      const { cursor, limit, ...filters } = query;
      const items = await fetchPage<StoredAsset>(
        {
          name: 'assets',
          filters: { ...filters, vaultAddress: filters.vaultAddress?.toLowerCase() },
          fetch: (workspaceId, after, limit) =>
            assets.list(workspaceId, {
              ...filters,
              before: after && { createdAt: new Date(String(after[0])), assetId: String(after[1]) },
              limit,
            }),
          positionOf: ({ createdAt, assetId }) => [createdAt.toISOString(), assetId],
          bytesOf: bytesOfAsset,
        },
        { request, reply, cursors, cursor, limit },
      );
      return sendJson(reply, listToJson(items));
    },
  );

  /** Many examined assets may not match, so a page ends at the last examined asset, not at the last match. */
  async function search(
    request: FastifyRequest,
    reply: FastifyReply,
    {
      q,
      cursor,
      limit,
      ...filters
    }: {
      q: string;
      vaultAddress?: string;
      serialNumber?: string;
      parentAssetId?: string;
      cursor?: string;
      limit: number;
    },
  ) {
    const { workspaceId } = callerOf(request);
    const list = {
      name: 'asset-search',
      workspaceId,
      filters: { ...filters, q, vaultAddress: filters.vaultAddress?.toLowerCase() },
    };
    const after = cursor === undefined ? undefined : cursors.read(list, cursor);
    const before = after && { createdAt: new Date(String(after[0])), assetId: String(after[1]) };
    const { items, next } = await assets.search(workspaceId, { ...filters, q, before, limit });
    if (next) {
      linkNextPage(request, reply, cursors.write(list, [next.createdAt.toISOString(), next.assetId]));
    }
    return sendJson(reply, listToJson(items));
  }

  app.get(
    assetUrl,
    {
      config: read,
      schema: {
        operationId: 'getAsset',
        summary: 'Get an asset',
        description:
          'The access is recorded in the access log. The ETag is the version in quotes; send it as If-Match when you change the asset.',
        tags,
        params: assetPath,
        querystring: viewerQuery,
        response: { 200: AssetSchema },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { assetId } = request.params;
      await assetAccess.require({ caller, assetId, ...request.query, what: 'asset' });
      const asset = await assets.get(caller.workspaceId, assetId);
      reply.header('etag', etagOf(asset));
      return toJson(asset);
    },
  );

  app.put(
    assetUrl,
    {
      config: write,
      bodyLimit: bodyBytes.document,
      schema: {
        operationId: 'updateAsset',
        summary: 'Update an asset',
        description:
          'Omitted fields stay unchanged. A change creates a new version, anchored in the next batch; repeating it changes nothing. Refused while a transfer is in progress, and with If-Match if the asset has changed since.',
        tags,
        params: assetPath,
        headers: ifMatchHeaders,
        body: Type.Object(
          {
            name: Type.Optional(givenName),
            ...given,
            usageCorrection: unshown(
              Type.String({
                ...name,
                maxLength: 500,
                description: 'Why the usage goes down; kept in the audit log',
              }),
            ),
          },
          { additionalProperties: false },
        ),
        response: { 200: notAnchoredYet(AssetSchema, { version: 2, updatedAt: sample.at }) },
      },
    },
    async (request, reply) => {
      const input = { change: request.body, seen: seenVersions(request.headers) };
      const asset = await assets.update(callerOf(request), request.params.assetId, input);
      reply.header('etag', etagOf(asset));
      return toJson(asset);
    },
  );
}

function toJson({ metadata, ...rest }: Asset) {
  return { ...plainToJson(rest), metadata };
}

function listToJson(assets: StoredAsset[]): string {
  const texts = assets.map(({ metadata: text, ...rest }) =>
    withStored(plainToJson(rest), { name: 'metadata', text }),
  );
  return `[${texts.join()}]`;
}

function plainToJson({ status, anchor, createdAt, updatedAt, ...rest }: Omit<Asset, 'metadata'>) {
  return {
    ...rest,
    ...anchorToJson({ status, anchor }),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
