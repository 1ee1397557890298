/** /platform/files/{fileId}: transfer, history and proof */

import { Type } from 'typebox';
import type { DefineStep } from '../../access/approvals/steps.ts';
import { anchorFields, anchorToJson, notAnchoredYet } from '../../anchoring/anchored.ts';
import { ProofSchema, proofOf } from '../../anchoring/proof-schema.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { needsApproval } from '../../http/api/approval-answer.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import { mostProofs, sendHistoryPage } from '../../http/api/history-page.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { fetchPage, pageParameters } from '../../http/api/page.ts';
import { bytesOf } from '../../runtime/page-budget.ts';
import { address, dateTime, like, named, orNull, sample, text } from '../../runtime/schemas.ts';
import type { Transfer } from '../transfers/transfers.store.ts';
import { transferStep } from '../transfers/transfers.ts';
import type { FileHistoryItem } from './file-history.ts';
import { transferableFile } from './file-transfer.ts';
import { filePath, fileVersion } from './files.routes.ts';
import type { Files } from './files.ts';

const TransferSchema = named(
  { title: 'FileTransfer', description: 'A transfer of a file from one vault to another' },
  Type.Object({
    id: text(sample.transferId),
    fileId: text(sample.fileId),
    fromVaultAddress: text(sample.vaultAddress, { description: 'EIP-55' }),
    toVaultAddress: text(sample.otherVaultAddress, { description: 'EIP-55' }),
    status: anchorFields.status,
    anchor: anchorFields.anchor,
  }),
);

const HistoryItemSchema = named(
  { title: 'FileHistoryItem', description: 'A version, a transfer or a validation in the history of a file' },
  Type.Object({
    type: Type.Unsafe<FileHistoryItem['type']>(Type.String({ enum: ['version', 'transfer', 'validation'] })),
    at: dateTime,
    id: orNull(Type.String({ description: 'Id of the transfer or validation; null for a version' })),
    version: Type.Integer({ description: 'Version of the file' }),
    vaultAddress: text(sample.vaultAddress, {
      description: 'The vault that owned it, gave it away, or was claimed to own it',
    }),
    toVaultAddress: orNull(Type.String({ description: 'The receiving vault of a transfer' })),
    contentHash: text(sample.contentHash, {
      description: 'Hash of the version, or of the content presented for validation',
    }),
    name: orNull(text(sample.fileName, { description: 'Name of a version' })),
    result: Type.Unsafe<FileHistoryItem['result']>({
      type: ['string', 'null'],
      enum: ['valid', 'invalid', null],
      description: 'Result of a validation; null until it is completed',
    }),
    status: anchorFields.status,
    anchor: anchorFields.anchor,
    proof: orNull(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: 'With `proofs=true`: the proof, once confirmed',
          examples: [null],
        },
      ),
    ),
  }),
);

const provedFile = {
  ...{ kind: 'file', id: sample.fileId, digest: sample.contentHash, raw: true },
  claims: {
    name: sample.fileName,
    mediaType: 'application/pdf',
    size: 482_133,
    expirationDate: '2036-12-31',
  },
};

const url = `${apiBase}/platform/files/:fileId`;
const tags = ['files'];
const read = { scope: 'files:read', tellsOfChain: true } as const;

export interface FileCustodyRoutesDeps {
  files: Files;
  defineStep: DefineStep;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function fileCustodyRoutes(app: Api, deps: FileCustodyRoutesDeps): void {
  const { files, defineStep, cursors, idempotency } = deps;
  const transferFile = transferStep(defineStep, transferableFile, transferJson);
  app.post(
    `${url}/transfer`,
    {
      config: {
        scope: 'files:write',
        tellsOfChain: true,
        idempotent: true,
        mayNeedApproval: true,
        freshSession: true,
      },
      schema: {
        operationId: 'transferFile',
        summary: 'Transfer a file to another vault',
        description:
          'Sealed by the sending vault. The file belongs to the receiving vault once the transfer is confirmed, and `file.transfer.completed` is sent. Until then, other transfers and new versions are refused. 409 if the receiving vault is deactivated; the sending vault may be.',
        tags,
        params: filePath,
        body: Type.Object(
          { destinationVaultAddress: like(address, sample.otherVaultAddress) },
          { additionalProperties: false },
        ),
        response: { 202: notAnchoredYet(TransferSchema) },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply.code(202));
      const transfer = { subjectId: request.params.fileId, ...request.body };
      await transferFile(callerOf(request), transfer, {
        done: (made) => answer.remember(transferJson(made)),
        asked: (asked) => answer.remember(needsApproval(reply, asked)),
      });
      return answer.send();
    },
  );

  app.get(
    `${url}/history`,
    {
      config: read,
      schema: {
        operationId: 'getFileHistory',
        summary: 'Get the history of a file',
        description:
          'Every version, transfer and validation with the state of its anchor, oldest first. With `format=proof` the response is one document, `holdfast/history@1`, with the proofs of the versions and transfers up to the first one that is not confirmed. They verify as one chain of custody without this service. 409 while nothing is confirmed. A long history comes in pages, each a document of this format with the next `proofs`; put them all in one list to get the whole history.',
        tags,
        params: filePath,
        querystring: Type.Object(
          {
            format: Type.Unsafe<'list' | 'proof'>(Type.String({ enum: ['list', 'proof'], default: 'list' })),
            proofs: Type.Boolean({ default: false, description: 'Include the proof in each item' }),
            cursor: pageParameters.cursor,
            limit: Type.Optional(
              Type.Integer({
                minimum: 1,
                maximum: 1000,
                description: 'Items per page. Defaults to 100, or to 1000 proofs with `format=proof`.',
              }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          200: Type.Unsafe<object>({
            description: 'A page of the history, or with `format=proof` one document that proves it',
            anyOf: [Type.Array(HistoryItemSchema), ProofSchema],
          }),
        },
      },
    },
    async (request, reply) => {
      const { fileId } = request.params;
      const { format, proofs, cursor, limit } = request.query;
      if (format === 'proof') {
        return sendHistoryPage(
          { name: 'file-history-proof', filters: { fileId }, request, reply, cursors, cursor },
          (after) =>
            files.historyProof(callerOf(request).workspaceId, fileId, { after, limit: limit ?? mostProofs }),
        );
      }
      const items = await fetchPage<FileHistoryItem>(
        {
          name: 'file-history',
          filters: { fileId },
          fetch: (workspaceId, after, limit) =>
            files.history(workspaceId, fileId, {
              after: after as FileHistoryItem['position'] | undefined,
              limit,
              proofs,
            }),
          positionOf: ({ position }) => position,
          ...(proofs && { bytesOf }),
        },
        { request, reply, cursors, cursor, limit: limit ?? 100 },
      );
      return items.map(historyJson);
    },
  );

  app.get(
    `${url}/proof`,
    {
      config: read,
      schema: {
        operationId: 'getFileProof',
        summary: 'Get the proof of a file',
        description:
          'One JSON document, `holdfast/proof@1`, that can be verified without this service. 409 until the version is confirmed.',
        tags,
        params: filePath,
        querystring: Type.Object({ version: fileVersion }, { additionalProperties: false }),
        response: { 200: proofOf(provedFile) },
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request);
      return { ...(await files.proof(workspaceId, request.params.fileId, request.query.version)) };
    },
  );
}

function transferJson({ subjectId, number, ...transfer }: Transfer) {
  return { ...transfer, fileId: subjectId, ...anchorToJson(transfer) };
}

function historyJson({ at, anchor, position: _, ...rest }: FileHistoryItem) {
  return { ...rest, at: at.toISOString(), ...anchorToJson({ status: rest.status, anchor }) };
}
