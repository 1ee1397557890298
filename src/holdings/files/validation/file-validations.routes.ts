/** /platform/files/{fileId}/validate and /validations */

import { Type } from 'typebox';
import { proofOf } from '../../../anchoring/proof-schema.ts';
import { callerOf } from '../../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../../http/api/api.ts';
import type { Cursors } from '../../../http/api/cursor.ts';
import type { Idempotency } from '../../../http/api/idempotency.ts';
import { fetchPage, pageParameters } from '../../../http/api/page.ts';
import { jsonOrForm, uploadedFile } from '../../../http/api/uploads.ts';
import {
  address,
  contentHash,
  dateTime,
  like,
  named,
  orNull,
  sample,
  text,
  unshown,
} from '../../../runtime/schemas.ts';
import type { FileValidation } from './file-validations.store.ts';
import type { FileValidations } from './file-validations.ts';

const finding = (description: string) => orNull(Type.Boolean({ description, examples: [true] }));

const ValidationSchema = named(
  { title: 'FileValidation', description: 'A validation of a file, and its result' },
  Type.Object({
    id: text(sample.validationId),
    fileId: text(sample.fileId),
    version: Type.Integer(),
    status: Type.Unsafe<FileValidation['status']>(
      Type.String({ enum: ['pending', 'completed'], examples: ['completed'] }),
    ),
    result: Type.Unsafe<FileValidation['result']>({
      type: ['string', 'null'],
      enum: ['valid', 'invalid', null],
      examples: ['valid'],
      description: 'Valid when integrity, authenticity and ownership all hold',
    }),
    integrity: finding('The presented content has the anchored digest'),
    authenticity: finding('The proof of the version was verified against the chain'),
    ownership: finding('The vault owned the file at that time'),
    validatedAt: orNull(like(dateTime, sample.toldAt)),
  }),
);

const about = {
  version: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: 'Defaults to the newest version' }),
  ),
  vaultAddress: unshown(address),
};
const filePath = Type.Object({ fileId: text(sample.fileId) });
const validationPath = Type.Object({
  fileId: text(sample.fileId),
  validationId: text(sample.validationId),
});
/** Members of the response before the validation is completed. */
const openValidation = {
  ...{ status: 'pending', result: null, validatedAt: null },
  ...{ integrity: null, authenticity: null, ownership: null },
};

const provedValidation = {
  kind: 'validation',
  ...{ id: sample.fileId, digest: sample.contentHash, raw: true, previousLeaf: sample.leaf },
  claims: {
    ...{ validationId: sample.validationId, fileVersion: 1, vaultAddress: sample.vaultAddress.toLowerCase() },
    ...{ result: 'valid', integrity: true, authenticity: true, ownership: true },
    validatedAt: sample.toldAt,
  },
};

const url = `${apiBase}/platform/files/:fileId`;
const tags = ['files'];
const read = { scope: 'files:read', tellsOfChain: true } as const;

export interface FileValidationRoutesDeps {
  fileValidations: FileValidations;
  /** Where routes that accept uploads are added. */
  uploads: Api;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function fileValidationRoutes(app: Api, deps: FileValidationRoutesDeps): void {
  const { fileValidations, uploads, cursors, idempotency } = deps;

  uploads.post(
    `${url}/validate`,
    {
      config: {
        scope: 'files:write',
        tellsOfChain: true,
        idempotent: true,
        upload: 'hash',
        freshSession: false,
      },
      schema: {
        operationId: 'validateFile',
        summary: 'Validate a file',
        description:
          'Compares the presented content with what is anchored, verifies the proof against the chain, and checks whether the vault (by default the current owner) owns the file. Send the bytes, which are hashed and not stored, or only their hash. `file.validation.completed` is sent with the result. A version that is not confirmed yet is validated once it is.',
        tags,
        params: filePath,
        body: jsonOrForm(
          Type.Object({ contentHash, ...about }, { additionalProperties: false }),
          Type.Object({ file: uploadedFile, ...about }, { additionalProperties: false }),
        ),
        response: { 202: like(ValidationSchema, openValidation) },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply.code(202));
      const { version, vaultAddress, ...given } = request.body;
      const [by, hash] =
        'file' in given
          ? (['bytes', given.file.contentHash] as const)
          : (['hash', given.contentHash] as const);
      await fileValidations.request(
        callerOf(request),
        {
          fileId: request.params.fileId,
          version,
          vaultAddress,
          presented: { by, hash: Buffer.from(hash.slice(2), 'hex') },
        },
        (validation) => answer.remember(toJson(validation)),
      );
      return answer.send();
    },
  );

  app.get(
    `${url}/validations`,
    {
      config: read,
      schema: {
        operationId: 'listFileValidations',
        summary: 'List the validations of a file',
        description: 'Newest first.',
        tags,
        params: filePath,
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: Type.Array(ValidationSchema) },
      },
    },
    async (request, reply) => {
      const { fileId } = request.params;
      const items = await fetchPage<FileValidation>(
        {
          name: 'file-validations',
          filters: { fileId },
          fetch: (workspaceId, after, limit) =>
            fileValidations.list({ workspaceId, fileId }, { before: after?.[0] as string, limit }),
          positionOf: ({ id }) => [id],
        },
        { request, reply, cursors, ...request.query },
      );
      return items.map(toJson);
    },
  );

  app.get(
    `${url}/validations/:validationId`,
    {
      config: read,
      schema: {
        operationId: 'getFileValidation',
        summary: 'Get a validation of a file',
        tags,
        params: validationPath,
        response: { 200: ValidationSchema },
      },
    },
    async (request) => {
      const { fileId, validationId } = request.params;
      const { workspaceId } = callerOf(request);
      return toJson(await fileValidations.get({ workspaceId, fileId }, validationId));
    },
  );

  app.get(
    `${url}/validations/:validationId/proof`,
    {
      config: read,
      schema: {
        operationId: 'getFileValidationProof',
        summary: 'Get the proof of a validation',
        description:
          'The result is anchored too: its proof, `holdfast/proof@1`, contains it in the claims. 409 until there is a result and it is confirmed.',
        tags,
        params: validationPath,
        response: { 200: proofOf(provedValidation) },
      },
    },
    async (request) => {
      const { fileId, validationId } = request.params;
      const { workspaceId } = callerOf(request);
      return { ...(await fileValidations.proof({ workspaceId, fileId }, validationId)) };
    },
  );
}

function toJson({ validatedAt, ...rest }: FileValidation) {
  return { ...rest, validatedAt: validatedAt?.toISOString() ?? null };
}
