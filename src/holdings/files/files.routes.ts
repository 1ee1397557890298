/** /platform/files: create, list, get, versions and erasure */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { anchorFields, anchorToJson, notAnchoredYet } from '../../anchoring/anchored.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
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
      description: '0x and the SHA-256 of the bytes, as sha256sum prints it',
    }),
    size: orNull(
      Type.Integer({ description: 'In bytes; null where only the hash was given', examples: [482_133] }),
    ),
    mediaType: text(sampleMediaType),
    status: anchorFields.status,
    expirationDate: orNull(text(sampleExpirationDate, { description: 'As it was given' })),
    expired: Type.Boolean({ description: 'Whether that time is over; nothing is deleted because of it' }),
    erased: Type.Boolean({ description: 'Whether its content was erased, so that it is not given out' }),
    createdAt: dateTime,
    anchor: anchorFields.anchor,
  }),
);

const name = plainText({
  maxLength: 255,
  description: 'At most 255 bytes in UTF-8; not a path, and without control characters',
  examples: [sample.fileName],
});
const mediaType = plainText({
  maxLength: 255,
  description: 'Such as application/pdf',
  examples: [sampleMediaType],
});
const expirationDate = plainText({
  maxLength: 64,
  examples: [sampleExpirationDate],
  description: 'A day, meant to its end in UTC, or a date and time with a time zone; not in the past',
});
const canonicalization = Type.Unsafe<FileCanonicalization>(
  Type.String({
    enum: ['raw', 'hmac-sha256'],
    description:
      'What the hash is: of the bytes, which it is when not given, or their HMAC-SHA256 under 32 bytes that you keep, for content that could be guessed',
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
  name: Type.Optional(
    Type.String({ ...name, description: 'The name that the form gives the file when not given' }),
  ),
  expirationDate: Type.Optional(expirationDate),
};

export const filePath = Type.Object({ fileId: text(sample.fileId) });
export const fileVersion = Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }));

export const filesUrl = `${apiBase}/platform/files`;
/** Of versions whose bytes stay when content is erased; the message counts them all. */
const mostKeptVersions = 1000;
const tags = ['files'];
const write = { scope: 'files:write', tellsOfChain: true, idempotent: true, upload: 'store' } as const;
const read = { scope: 'files:read', tellsOfChain: true } as const;

export interface FileRoutesDeps {
  files: Files;
  /** For routes that take files. */
  uploads: Api;
  cursors: Cursors;
  idempotency: Idempotency;
}

export function fileRoutes(app: Api, { files, uploads, cursors, idempotency }: FileRoutesDeps): void {
  uploads.post(
    filesUrl,
    {
      config: write,
      schema: {
        operationId: 'createFile',
        summary: 'Create a file',
        description:
          'As a form, whose bytes are stored encrypted, or as JSON with the hash alone, so that the bytes never leave you. Anchored with the next batch; `file.anchor.confirmed` tells when.',
        tags,
        body: jsonOrForm(
          Type.Object(
            { vaultAddress: address, name: Type.String({ ...name, minLength: 1 }), ...hashOnly },
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
          'Newest first, each at its newest version, with the vault that owns it today. With `status` a page may be shorter than `limit` although another follows: go by X-Next-Cursor.',
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
        description: 'At its newest version, with the vault that owns it today.',
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
        description: 'Newest first, each with the vault that owned it then.',
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
      // Before the bytes are read, which may take minutes. A repeat is answered, whatever became of the file since.
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
          'As a form or as JSON, as a file is created. Without a name it keeps that of the version before. Its leaf names that of the version or transfer before; nothing of older versions changes. 409 while a transfer is under way.',
        tags,
        params: filePath,
        body: jsonOrForm(
          Type.Object(
            { vaultAddress: unshown(address), name: Type.Optional(name), ...hashOnly },
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
      config: { scope: 'files:write' },
      schema: {
        operationId: 'eraseFileContent',
        summary: 'Erase the content of a file',
        description:
          'Of all its versions, or of one. The content is no longer given out. 204: the key to the bytes was dropped, and nobody can read them again. 200: some of the bytes stay, because another file of the vault has the same ones; erase that one as well. Hashes and proofs stay. A repeat changes nothing and answers the same.',
        tags,
        params: filePath,
        querystring: Type.Object({ version: fileVersion }, { additionalProperties: false }),
        response: {
          200: Type.Object(
            {
              message: text(keptMessage(sample.fileId, 2)),
              keptVersions: Type.Array(Type.Integer(), {
                examples: [[1, 2]],
                description: `Versions whose bytes stay: the first ${mostKeptVersions}, if there are more`,
              }),
            },
            { description: 'No longer given out, but another file has the same bytes, so they stay' },
          ),
          204: Type.Null(),
        },
      },
    },
    async (request, reply) => {
      const { version } = request.query;
      const { fileId: id } = request.params;
      const keptVersions = await files.eraseContent(callerOf(request), { id, version });
      if (keptVersions.length === 0) return reply.code(204).send(null);
      const message = keptMessage(id, keptVersions.length);
      return reply.code(200).send({ message, keptVersions: keptVersions.slice(0, mostKeptVersions) });
    },
  );
}

function keptMessage(id: string, versions: number): string {
  return `The content is no longer given out as ${id}, but bytes of it stay, of ${versions} versions: another file of the vault has the same ones. Erase that one as well.`;
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
