/** /platform/files: create, list, get, versions and erasure */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { TakeStep } from '../../access/approvals/steps.ts';
import { anchorFields, anchorToJson, notAnchoredYet } from '../../anchoring/anchored.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { sendNeedsApproval } from '../../http/api/approval-answer.ts';
import type { Cursors } from '../../http/api/cursor.ts';
import type { Idempotency } from '../../http/api/idempotency.ts';
import { fetchPage, linkNextPage, pageParameters } from '../../http/api/page.ts';
import { jsonOrForm, takeUpload, type UploadedFile, uploadedFile } from '../../http/api/uploads.ts';
import {
  address,
  contentHash,
  dateTime,
  named,
  orNull,
  plainText,
  sample,
  text,
  unshown,
} from '../../runtime/schemas.ts';
import { visible } from '../../runtime/visible-text.ts';
import { type FileErasureInput, type KeptVersions, keptMessage, mostKeptVersions } from './file-erasure.ts';
import { hashBytes } from './file-input.ts';
import type { HashOnly, StoredContent } from './file-versions.ts';
import type { FileCanonicalization, FileVersion } from './files.store.ts';
import type { Files } from './files.ts';

const sampleMediaType = 'application/pdf';
const sampleExpirationDate = '2036-12-31';

const FileSchema = named(
  { title: 'File', description: 'A version of a file' },
  Type.Object({
    id: text(sample.fileId),
    vaultId: text(sample.vaultId),
    vaultAddress: text(sample.vaultAddress, { description: 'EIP-55' }),
    name: text(sample.fileName),
    version: Type.Integer(),
    contentHash: text(sample.contentHash, {
      description: '0x followed by the SHA-256 of the bytes, as printed by sha256sum',
    }),
    size: orNull(
      Type.Integer({ description: 'In bytes; null if only the hash was given', examples: [482_133] }),
    ),
    mediaType: text(sampleMediaType),
    status: anchorFields.status,
    expirationDate: orNull(text(sampleExpirationDate, { description: 'As given in the request' })),
    expired: Type.Boolean({
      description: 'Whether expirationDate has passed; nothing is deleted because of it',
    }),
    erased: Type.Boolean({ description: 'Whether the content was erased and can no longer be downloaded' }),
    createdAt: dateTime,
    anchor: anchorFields.anchor,
  }),
);

const name = plainText({
  maxLength: 255,
  description: 'At most 255 bytes in UTF-8; at least one visible character, no path, no control characters',
  examples: [sample.fileName],
});
const requiredName = { ...name, minLength: 1, pattern: visible };
/** An empty name is none. */
const nextName = { ...name, pattern: `^$|${visible}` };
const mediaType = plainText({
  maxLength: 255,
  description: 'Such as application/pdf',
  examples: [sampleMediaType],
});
const expirationDate = plainText({
  maxLength: 64,
  examples: [sampleExpirationDate],
  description: 'A day, which includes all of it in UTC, or a date and time with a time zone; not in the past',
});
const canonicalization = Type.Unsafe<FileCanonicalization>(
  Type.String({
    enum: ['raw', 'hmac-sha256'],
    description:
      'What contentHash is: the SHA-256 of the bytes (raw, the default), or their HMAC-SHA256 under a 32-byte key that you keep, for content that could be guessed',
  }),
);

const hashOnly = {
  contentHash,
  canonicalization: Type.Optional(canonicalization),
  mediaType: Type.Optional(mediaType),
  expirationDate: Type.Optional(expirationDate),
};
const withBytes = {
  file: uploadedFile,
  name: Type.Optional(Type.String({ ...nextName, description: 'Defaults to the file name in the form' })),
  expirationDate: Type.Optional(expirationDate),
};

export const filePath = Type.Object({ fileId: text(sample.fileId) });
export const fileVersion = Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }));

export const filesUrl = `${apiBase}/platform/files`;
const tags = ['files'];
const write = {
  scope: 'files:write',
  tellsOfChain: true,
  idempotent: true,
  upload: 'store',
  freshSession: false,
} as const;
const read = { scope: 'files:read', tellsOfChain: true } as const;

export interface FileRoutesDeps {
  files: Files;
  eraseFile: TakeStep<FileErasureInput, KeptVersions | null>;
  /** For routes that accept uploads. */
  uploads: Api;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function fileRoutes(app: Api, deps: FileRoutesDeps): void {
  const { files, eraseFile, uploads, cursors, idempotency } = deps;
  uploads.post(
    filesUrl,
    {
      config: write,
      schema: {
        operationId: 'createFile',
        summary: 'Create a file',
        description:
          'Send a form to store the bytes, encrypted, or JSON with only the hash, so that the bytes never leave you. Anchored in the next batch; `file.anchor.confirmed` is sent once the anchor is confirmed.',
        tags,
        body: jsonOrForm(
          Type.Object(
            { vaultAddress: address, name: Type.String(requiredName), ...hashOnly },
            { additionalProperties: false },
          ),
          Type.Object({ vaultAddress: address, ...withBytes }, { additionalProperties: false }),
        ),
        response: { 202: notAnchoredYet(FileSchema) },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply.code(202));
      const input = { vaultAddress: request.body.vaultAddress, ...inputOf(request, request.body) };
      await files.create(callerOf(request), input, (file) => answer.remember(toJson(file)));
      return answer.send();
    },
  );

  app.get(
    filesUrl,
    {
      config: read,
      schema: {
        operationId: 'listFiles',
        summary: 'List files',
        description:
          'Newest first, each at its newest version, with the vault that owns it now. With `status` a page may be shorter than `limit` although more follow: check X-Next-Cursor.',
        tags,
        querystring: Type.Object(
          {
            vaultAddress: Type.Optional(address),
            status: Type.Optional(anchorFields.status),
            name: Type.Optional(
              Type.String({ minLength: 1, maxLength: 255, description: 'Exactly this name' }),
            ),
            ...pageParameters,
          },
          { additionalProperties: false },
        ),
        response: { 200: Type.Array(FileSchema) },
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request);
      const { cursor, limit, ...filters } = request.query;
      const vaultAddress = filters.vaultAddress?.toLowerCase();
      const list = { name: 'files', workspaceId, filters: { ...filters, vaultAddress } };
      const before = cursor === undefined ? undefined : String(cursors.read(list, cursor)[0]);
      const { items, next } = await files.list(workspaceId, { ...filters, before, limit });
      if (next !== null) linkNextPage(request, reply, cursors.write(list, [next]));
      return items.map(toJson);
    },
  );

  app.get(
    `${filesUrl}/:fileId`,
    {
      config: read,
      schema: {
        operationId: 'getFile',
        summary: 'Get a file',
        description: 'The newest version, with the vault that owns the file now.',
        tags,
        params: filePath,
        response: { 200: FileSchema },
      },
    },
    async (request) => toJson(await files.get(callerOf(request).workspaceId, request.params.fileId)),
  );

  app.get(
    `${filesUrl}/:fileId/versions`,
    {
      config: read,
      schema: {
        operationId: 'listFileVersions',
        summary: 'List the versions of a file',
        description: 'Newest first, each with the vault that owned the file at that time.',
        tags,
        params: filePath,
        querystring: Type.Object(pageParameters, { additionalProperties: false }),
        response: { 200: Type.Array(FileSchema) },
      },
    },
    async (request, reply) => {
      const { fileId } = request.params;
      const items = await fetchPage<FileVersion>(
        {
          name: 'file-versions',
          filters: { fileId },
          fetch: (workspaceId, after, limit) =>
            files.versions(workspaceId, fileId, { before: after?.[0] as number, limit }),
          positionOf: ({ version }) => [version],
        },
        { request, reply, cursors, ...request.query },
      );
      return items.map(toJson);
    },
  );

  uploads.post(
    `${filesUrl}/:fileId/versions`,
    {
      config: write,
      // Before the bytes are read, which may take minutes. A repeated request gets its stored answer, whatever happened to
      // the file since.
      preValidation: async (request) => {
        if (await idempotency.isAnswered(request)) return;
        await files.expectVersion(
          callerOf(request).workspaceId,
          (request.params as { fileId: string }).fileId,
        );
      },
      schema: {
        operationId: 'createFileVersion',
        summary: 'Add a version to a file',
        description:
          'Send a form or JSON, as when creating a file. Without a name, the new version keeps the previous one. Its leaf names the leaf of the previous version or transfer; older versions do not change. 409 while a transfer is in progress.',
        tags,
        params: filePath,
        body: jsonOrForm(
          Type.Object(
            { vaultAddress: unshown(address), name: Type.Optional(Type.String(nextName)), ...hashOnly },
            { additionalProperties: false },
          ),
          Type.Object(
            { vaultAddress: Type.Optional(address), ...withBytes },
            { additionalProperties: false },
          ),
        ),
        response: { 202: notAnchoredYet(FileSchema, { version: 2, createdAt: '2026-03-02T11:30:00.000Z' }) },
      },
    },
    async (request, reply) => {
      const answer = idempotency.answer(request, reply.code(202));
      const { vaultAddress } = request.body;
      const input = { id: request.params.fileId, vaultAddress, ...inputOf(request, request.body) };
      await files.addVersion(callerOf(request), input, (file) => answer.remember(toJson(file)));
      return answer.send();
    },
  );

  app.delete(
    `${filesUrl}/:fileId/content`,
    {
      config: { scope: 'files:write', freshSession: true, mayNeedApproval: true },
      schema: {
        operationId: 'eraseFileContent',
        summary: 'Erase the content of a file',
        description:
          'Erases all versions, or one of them. The content can no longer be downloaded. 204: the encryption key was deleted, and nobody can read the bytes again. 200: some of the bytes remain because another file of the vault has the same content; erase that file too. Hashes and proofs remain. Repeating the request changes nothing and returns the same response.',
        tags,
        params: filePath,
        querystring: Type.Object({ version: fileVersion }, { additionalProperties: false }),
        response: {
          200: Type.Object(
            {
              message: text(keptMessage(sample.fileId, 2)),
              keptVersions: Type.Array(Type.Integer(), {
                examples: [[1, 2]],
                description: `Versions whose bytes remain; at most the first ${mostKeptVersions}`,
              }),
            },
            {
              description:
                'The content can no longer be downloaded, but its bytes remain because another file has the same content',
            },
          ),
          204: Type.Null(),
        },
      },
    },
    async (request, reply) => {
      const of = { id: request.params.fileId, version: request.query.version };
      const { done, asked } = await eraseFile(callerOf(request), of);
      if (asked) return sendNeedsApproval(reply, asked);
      return done ? reply.code(200).send(done) : reply.code(204).send(null);
    },
  );
}

interface GivenFile {
  file?: UploadedFile;
  contentHash?: string;
  canonicalization?: FileCanonicalization;
  name?: string;
  mediaType?: string;
  expirationDate?: string;
}

function inputOf(
  request: FastifyRequest,
  { file, contentHash = '', canonicalization = 'raw', name, mediaType, expirationDate }: GivenFile,
): {
  name: string | undefined;
  mediaType: string | undefined;
  expirationDate: string | undefined;
  content: StoredContent | HashOnly;
} {
  if (!file) {
    return {
      name,
      mediaType,
      expirationDate,
      content: { contentHash: hashBytes(contentHash), canonicalization },
    };
  }
  return {
    name: name || file.name,
    mediaType: file.mediaType,
    expirationDate,
    content: { blob: takeUpload(request) },
  };
}

function toJson({ createdAt, ...rest }: FileVersion) {
  return { ...rest, createdAt: createdAt.toISOString(), ...anchorToJson(rest) };
}
