/** /damc/assets/ */

import { Type } from 'typebox';
import { anchorToJson } from '../anchoring/anchor-state.ts';
import { type Api, apiBase } from '../http/api.ts';
import { callerOf } from '../http/authentication.ts';
import { bodyBytes } from '../http/body-limits.ts';
import type { Cursors } from '../http/cursor.ts';
import type { Idempotency } from '../http/idempotency.ts';
import { fetchPage, pageParameters } from '../http/page.ts';
import { etagOf, ifMatchHeaders, seenVersions } from '../http/precondition.ts';
import { address, dateTime, name, orNull, plainText } from '../http/schemas.ts';
import { anchorFields } from '../platform/records.routes.ts';
import { maxAssetIdLength } from './asset-id.ts';
import type { AssetVersion } from './asset-versions.ts';
import type { Asset } from './assets.store.ts';
import type { Assets } from './assets.ts';

export const assetsUrl = `${apiBase}/damc/assets/`;
export const assetUrl = `${assetsUrl}:assetId/`;
export const assetPath = Type.Object({ assetId: Type.String() });
const tags = ['assets'];

const write = { scope: 'assets:write', tellsOfChain: true } as const;
const read = { scope: 'assets:read', tellsOfChain: true } as const;

const assetId = plainText({
  minLength: 1,
  maxLength: maxAssetIdLength,
  description:
    'Your own name for it, unique in the workspace: printable, without slashes, not like an id of the service',
});
const number = plainText({ maxLength: 255 });
const metadata = Type.Unsafe<Record<string, unknown>>(
  Type.Object({}, { additionalProperties: true, description: 'Any JSON object' }),
);
const counter = { minimum: 0, maximum: 1e12 };
const usage = Type.Object(
  {
    hours: Type.Optional(
      Type.Number({ ...counter, description: 'In all; less than before needs usageCorrection' }),
    ),
    cycles: Type.Optional(
      Type.Integer({ ...counter, description: 'In all; less than before needs usageCorrection' }),
    ),
  },
  { additionalProperties: false },
);
const given = {
  serialNumber: Type.Optional(number),
  partNumber: Type.Optional(number),
  metadata: Type.Optional(metadata),
  usage: Type.Optional(usage),
};

const AssetSchema = Type.Object({
  assetId: Type.String(),
  vaultId: Type.String({ description: 'Its owner' }),
  vaultAddress: Type.String({ description: 'EIP-55' }),
  name: Type.String(),
  serialNumber: Type.String({ description: 'Empty when none was given' }),
  partNumber: Type.String({ description: 'Empty when none was given' }),
  metadata,
  parentAssetId: orNull(Type.String({ description: 'What it is installed in' })),
  usage: Type.Object(
    { hours: Type.Number(), cycles: Type.Integer() },
    { description: 'The highest of what was stated here and what entries state that were not superseded' },
  ),
  version: Type.Integer({ description: 'Counts its changes; each is anchored' }),
  ...anchorFields,
  createdAt: dateTime,
  updatedAt: dateTime,
});
const VersionSchema = Type.Object({
  version: Type.Integer(),
  document: Type.Object(
    { assetId: Type.String() },
    {
      additionalProperties: true,
      description: 'The very document that was hashed: the content of the proof',
    },
  ),
  digest: Type.String({ description: 'SHA-256 of the salt and the document in its RFC 8785 form' }),
  salt: Type.String(),
  createdAt: dateTime,
});
const version = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: 'The newest when not given' }),
);

export interface AssetRoutesDeps {
  assets: Assets;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function assetRoutes(app: Api, { assets, cursors, idempotency }: AssetRoutesDeps): void {
  app.post(
    assetsUrl,
    {
      config: { ...write, idempotent: true },
      bodyLimit: bodyBytes.document,
      schema: {
        summary: 'Create an asset',
        description: 'Anchored with the next batch. Without an assetId the service makes one.',
        tags,
        body: Type.Object(
          { vaultAddress: address, name, assetId: Type.Optional(assetId), ...given },
          { additionalProperties: false },
        ),
        response: { 201: AssetSchema },
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
        summary: 'List assets',
        description: 'Newest first.',
        tags,
        querystring: Type.Object(
          {
            vaultAddress: Type.Optional(address),
            serialNumber: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
            parentAssetId: Type.Optional(
              Type.String({
                minLength: 1,
                maxLength: maxAssetIdLength,
                description: 'Those installed in it',
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
      const { cursor, limit, ...filters } = request.query;
      const items = await fetchPage<Asset>(
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
          largeRows: true,
        },
        { request, reply, cursors, cursor, limit },
      );
      return items.map(toJson);
    },
  );

  app.get(
    assetUrl,
    {
      config: read,
      schema: {
        summary: 'Get an asset',
        description: 'The ETag is its version in quotes; If-Match takes it when it is changed.',
        tags,
        params: assetPath,
        response: { 200: AssetSchema },
      },
    },
    async (request, reply) => {
      const asset = await assets.get(callerOf(request).workspaceId, request.params.assetId);
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
        summary: 'Change an asset',
        description:
          'What is not given stays as it is. A change is a new version, anchored with the next batch; a repeat changes nothing. Refused while a transfer is under way, and with If-Match when it was changed since.',
        tags,
        params: assetPath,
        headers: ifMatchHeaders,
        body: Type.Object(
          {
            name: Type.Optional(name),
            ...given,
            usageCorrection: Type.Optional(
              Type.String({
                ...name,
                maxLength: 500,
                description: 'Why usage goes down: what the mistake was; for the audit log',
              }),
            ),
          },
          { additionalProperties: false },
        ),
        response: { 200: AssetSchema },
      },
    },
    async (request, reply) => {
      const input = { change: request.body, seen: seenVersions(request.headers) };
      const asset = await assets.update(callerOf(request), request.params.assetId, input);
      reply.header('etag', etagOf(asset));
      return toJson(asset);
    },
  );

  app.get(
    `${assetUrl}versions/`,
    {
      config: read,
      schema: {
        summary: 'List the versions of an asset',
        description: 'Newest first, each with the document that was anchored.',
        tags,
        params: assetPath,
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: Type.Array(VersionSchema) },
      },
    },
    async (request, reply) => {
      const { assetId } = request.params;
      const items = await fetchPage<AssetVersion>(
        {
          name: 'asset-versions',
          filters: { assetId },
          fetch: (workspaceId, after, limit) =>
            assets.versions({ workspaceId, assetId }, { before: after?.[0] as number, limit }),
          positionOf: ({ version }) => [version],
          largeRows: true,
        },
        { request, reply, cursors, ...request.query },
      );
      return items.map(versionToJson);
    },
  );

  app.get(
    `${assetUrl}proof/`,
    {
      config: read,
      schema: {
        summary: 'Get the proof of an asset',
        description:
          'One JSON document, `holdfast/proof@1`, that verifies without this service. 409 until the version is confirmed.',
        tags,
        params: assetPath,
        querystring: Type.Object({ version }, { additionalProperties: false }),
        response: { 200: Type.Object({ format: Type.String() }, { additionalProperties: true }) },
      },
    },
    async (request) => {
      const key = { workspaceId: callerOf(request).workspaceId, assetId: request.params.assetId };
      return { ...(await assets.proof(key, request.query.version)) };
    },
  );

  app.get(
    `${assetUrl}history/`,
    {
      config: read,
      schema: {
        summary: 'Get the history of an asset',
        description:
          'One JSON document, `holdfast/history@1`: the proofs of its versions and transfers that are confirmed, each followed by the one that names it. 409 until the first is.',
        tags,
        params: assetPath,
        response: { 200: Type.Object({ format: Type.String() }, { additionalProperties: true }) },
      },
    },
    async (request) => ({
      ...(await assets.history(callerOf(request).workspaceId, request.params.assetId)),
    }),
  );
}

function toJson({ status, anchor, createdAt, updatedAt, ...rest }: Asset) {
  return {
    ...rest,
    ...anchorToJson({ status, anchor }),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

function versionToJson({ version, document, salt, digest, createdAt }: AssetVersion) {
  return {
    version,
    document: JSON.parse(document),
    digest: `0x${digest.toString('hex')}`,
    salt: `0x${salt.toString('hex')}`,
    createdAt: createdAt.toISOString(),
  };
}
