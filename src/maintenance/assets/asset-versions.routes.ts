/** /damc/assets/{assetId}/versions/, proof/ and history/ */

import { Type } from 'typebox';
import { ProofSchema, proofOf, sampleProof } from '../../anchoring/proof-schema.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import type { Api } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import { historyParameters, sendHistoryPage } from '../../http/api/history-page.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { sendJson, withStored } from '../../http/bodies/stored-json.ts';
import { historyFormat } from '../../proof/verify/history.ts';
import type { Caller } from '../../runtime/caller.ts';
import { bytesOf } from '../../runtime/page-budget.ts';
import { dateTime, like, named, sample, text } from '../../runtime/schemas.ts';
import { sampleAsset, sampleCreatedAt } from '../signing/sample-work.ts';
import type { AssetAccess } from './asset-access.ts';
import type { AssetVersion } from './asset-versions.ts';
import { assetPath, assetUrl, viewerQuery } from './assets.routes.ts';
import type { AssetKey } from './assets.store.ts';
import type { Assets } from './assets.ts';

const tags = ['assets'];
const read = { scope: 'assets:read', tellsOfChain: true } as const;

const sampleDocument = { assetId: sample.assetId, ...sampleAsset, installation: null };
const sampleDigest = '0x2b0c476447beeff25123a21ebf9500dcc5807ec09b065897fd89b5ec2e0ce960';
const proved = { kind: 'asset', id: sample.assetId, digest: sampleDigest } as const;
const sampleHistory = () => ({
  format: historyFormat,
  subject: { workspaceId: sample.workspaceId, id: sample.assetId },
  proofs: [sampleProof(proved)],
});

const VersionSchema = named(
  { title: 'AssetVersion', description: 'A version of an asset, with the document that was hashed' },
  Type.Object({
    version: Type.Integer(),
    document: Type.Object(
      { assetId: text(sample.assetId) },
      {
        additionalProperties: true,
        description: 'The document that was hashed; it is the content of the proof',
        examples: [sampleDocument],
      },
    ),
    digest: text(sampleDigest, { description: 'SHA-256 of the salt and the document in its RFC 8785 form' }),
    salt: text(sample.salt),
    createdAt: like(dateTime, sampleCreatedAt),
  }),
);
const version = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: 'Defaults to the newest version' }),
);

export interface AssetVersionRoutesDeps {
  assets: Pick<Assets, 'versions' | 'proof' | 'history'>;
  assetAccess: Pick<AssetAccess, 'require'>;
  cursors: Cursors;
}

export function assetVersionRoutes(app: Api, { assets, assetAccess, cursors }: AssetVersionRoutesDeps): void {
  /** Checks and logs the access, and returns the key of the asset. */
  async function look(
    caller: Caller,
    { assetId, viewerAddress }: { assetId: string; viewerAddress?: string },
    what: string,
  ): Promise<AssetKey> {
    await assetAccess.require({ caller, assetId, viewerAddress, what });
    return { workspaceId: caller.workspaceId, assetId };
  }

  app.get(
    `${assetUrl}versions/`,
    {
      config: read,
      schema: {
        operationId: 'listAssetVersions',
        summary: 'List the versions of an asset',
        description: 'Newest first, each with the document that was anchored.',
        tags,
        params: assetPath,
        querystring: Type.Object(
          { ...viewerQuery.properties, ...pageParameters },
          { additionalProperties: false },
        ),
        response: { 200: Type.Array(VersionSchema) },
      },
    },
    async (request, reply) => {
      const { assetId } = request.params;
      const { cursor, limit, ...viewer } = request.query;
      let looked: Promise<AssetKey> | undefined;
      const items = await fetchPage<AssetVersion>(
        {
          name: 'asset-versions',
          filters: { assetId },
          // Once per page, and only after the cursor was accepted: a refused request is not a look.
          async fetch(_workspaceId, after, limit) {
            looked ??= look(callerOf(request), { assetId, ...viewer }, 'asset versions');
            return assets.versions(await looked, { before: after?.[0] as number, limit });
          },
          positionOf: ({ version }) => [version],
          bytesOf: ({ document, ...rest }) => bytesOf(rest, document),
        },
        { request, reply, cursors, cursor, limit },
      );
      return sendJson(reply, `[${items.map(versionToJson).join()}]`);
    },
  );

  app.get(
    `${assetUrl}proof/`,
    {
      config: read,
      schema: {
        operationId: 'getAssetProof',
        summary: 'Get the proof of an asset',
        description:
          'One JSON document, `holdfast/proof@1`, that can be verified without this service. 409 until the version is confirmed.',
        tags,
        params: assetPath,
        querystring: Type.Object({ ...viewerQuery.properties, version }, { additionalProperties: false }),
        response: { 200: proofOf(proved) },
      },
    },
    async (request) => {
      const key = await look(callerOf(request), { ...request.params, ...request.query }, 'asset proof');
      return { ...(await assets.proof(key, request.query.version)) };
    },
  );

  app.get(
    `${assetUrl}history/`,
    {
      config: read,
      schema: {
        operationId: 'getAssetHistory',
        summary: 'Get the history of an asset',
        description:
          'One JSON document, `holdfast/history@1`, with the proofs of the confirmed versions and transfers in order. 409 until the first is confirmed. A long history comes in pages (see X-Next-Cursor), each a document of this format with the next `proofs`; put them all in one list to get the whole history.',
        tags,
        params: assetPath,
        querystring: Type.Object(
          { ...viewerQuery.properties, ...historyParameters },
          { additionalProperties: false },
        ),
        response: { 200: like(ProofSchema, sampleHistory) },
      },
    },
    async (request, reply) => {
      const { assetId } = request.params;
      const { cursor, limit, ...viewer } = request.query;
      return sendHistoryPage(
        { name: 'asset-history', filters: { assetId }, request, reply, cursors, cursor },
        async (after) => {
          const key = await look(callerOf(request), { assetId, ...viewer }, 'asset history');
          return assets.history(key, { after, limit });
        },
      );
    },
  );
}

function versionToJson({ version, document: text, salt, digest, createdAt }: AssetVersion): string {
  const rest = {
    version,
    digest: `0x${digest.toString('hex')}`,
    salt: `0x${salt.toString('hex')}`,
    createdAt: createdAt.toISOString(),
  };
  return withStored(rest, { name: 'document', text });
}
