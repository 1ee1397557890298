/** /damc/assets/{assetId}/transfer/ and transfers/ */

import { Type } from 'typebox';
import { anchorFields, anchorToJson } from '../../anchoring/anchor-state.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import type { Api } from '../../http/api/api.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { address, named } from '../../runtime/schemas.ts';
import type { AssetTransfer, AssetTransfers } from './asset-transfers.ts';
import { assetPath, assetUrl } from './assets.routes.ts';
import type { Assets } from './assets.ts';

const TransferSchema = named(
  { title: 'AssetTransfer', description: 'A transfer of an asset from one vault to another' },
  Type.Object({
    id: Type.String(),
    assetId: Type.String(),
    fromVaultAddress: Type.String({ description: 'EIP-55' }),
    toVaultAddress: Type.String({ description: 'EIP-55' }),
    ...anchorFields,
  }),
);

export interface AssetTransferRoutesDeps {
  assets: Pick<Assets, 'get'>;
  assetTransfers: AssetTransfers;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function assetTransferRoutes(app: Api, deps: AssetTransferRoutesDeps): void {
  const { assets, assetTransfers, cursors, idempotency } = deps;

  app.post(
    `${assetUrl}transfer/`,
    {
      config: { scope: 'assets:write', tellsOfChain: true, idempotent: true },
      schema: {
        operationId: 'transferAsset',
        summary: 'Transfer an asset to another vault',
        description:
          'The owner changes once the chain confirms the transfer, and `asset.transfer.completed` is sent. The whole history stays with the asset; viewer grants and worker assignments end.',
        tags: ['assets'],
        params: assetPath,
        body: Type.Object({ destinationVaultAddress: address }, { additionalProperties: false }),
        response: { 202: TransferSchema },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply.code(202));
      const input = { assetId: request.params.assetId, ...request.body };
      await assetTransfers.start(callerOf(request), input, (transfer) => answer.remember(toJson(transfer)));
      return answer.send();
    },
  );

  app.get(
    `${assetUrl}transfers/`,
    {
      config: { scope: 'assets:read', tellsOfChain: true },
      schema: {
        operationId: 'listAssetTransfers',
        summary: 'List the transfers of an asset',
        description: 'Newest first.',
        tags: ['assets'],
        params: assetPath,
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: Type.Array(TransferSchema) },
      },
    },
    async (request, reply) => {
      const { assetId } = request.params;
      await assets.get(callerOf(request).workspaceId, assetId);
      const items = await fetchPage<AssetTransfer>(
        {
          name: 'asset-transfers',
          filters: { assetId },
          fetch: (workspaceId, after, limit) =>
            assetTransfers.list({ workspaceId, assetId }, { before: after?.[0] as number, limit }),
          positionOf: ({ number }) => [number],
        },
        { request, reply, cursors, ...request.query },
      );
      return items.map(toJson);
    },
  );
}

function toJson({ number, status, anchor, ...rest }: AssetTransfer) {
  return { ...rest, ...anchorToJson({ status, anchor }) };
}
