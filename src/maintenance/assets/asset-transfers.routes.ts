/** /damc/assets/{assetId}/transfer/ and transfers/ */

import { Type } from 'typebox';
import type { DefineStep } from '../../access/approvals/steps.ts';
import { anchorFields, anchorToJson, notAnchoredYet } from '../../anchoring/anchored.ts';
import type { Db } from '../../db/database.ts';
import { listTransfers, type Transfer } from '../../holdings/transfers/transfers.store.ts';
import { transferStep } from '../../holdings/transfers/transfers.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import type { Api } from '../../http/api/api.ts';
import { needsApproval } from '../../http/api/approval-answer.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { address, like, named, sample, text } from '../../runtime/schemas.ts';
import { transferableAsset } from './asset-transfer.ts';
import { assetPath, assetUrl } from './assets.routes.ts';
import type { Assets } from './assets.ts';

const TransferSchema = named(
  { title: 'AssetTransfer', description: 'A transfer of an asset from one vault to another' },
  Type.Object({
    id: text(sample.transferId),
    assetId: text(sample.assetId),
    fromVaultAddress: text(sample.vaultAddress, { description: 'EIP-55' }),
    toVaultAddress: text(sample.otherVaultAddress, { description: 'EIP-55' }),
    ...anchorFields,
  }),
);

export interface AssetTransferRoutesDeps {
  assets: Pick<Assets, 'get'>;
  db: Db;
  defineStep: DefineStep;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function assetTransferRoutes(app: Api, deps: AssetTransferRoutesDeps): void {
  const { assets, db, defineStep, cursors, idempotency } = deps;
  const transferAsset = transferStep(defineStep, transferableAsset, toJson);

  app.post(
    `${assetUrl}transfer/`,
    {
      config: {
        scope: 'assets:write',
        tellsOfChain: true,
        idempotent: true,
        mayNeedApproval: true,
        freshSession: true,
      },
      schema: {
        operationId: 'transferAsset',
        summary: 'Transfer an asset to another vault',
        description:
          'The owner changes once the chain confirms the transfer, and `asset.transfer.completed` is sent. The whole history stays with the asset; viewer grants and worker assignments end.',
        tags: ['assets'],
        params: assetPath,
        body: Type.Object(
          { destinationVaultAddress: like(address, sample.otherVaultAddress) },
          { additionalProperties: false },
        ),
        response: { 202: notAnchoredYet(TransferSchema) },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply.code(202));
      const transfer = { subjectId: request.params.assetId, ...request.body };
      await transferAsset(callerOf(request), transfer, {
        done: (made) => answer.remember(toJson(made)),
        asked: (asked) => answer.remember(needsApproval(reply, asked)),
      });
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
      const items = await fetchPage<Transfer>(
        {
          name: 'asset-transfers',
          filters: { assetId },
          fetch: (workspaceId, after, limit) =>
            listTransfers(db, { workspaceId, subjectId: assetId }, { before: after?.[0] as number, limit }),
          positionOf: ({ number }) => [number],
        },
        { request, reply, cursors, ...request.query },
      );
      return items.map(toJson);
    },
  );
}

function toJson({ subjectId, number, ...transfer }: Transfer) {
  return { ...transfer, assetId: subjectId, ...anchorToJson(transfer) };
}
