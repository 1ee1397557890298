/** /platform/files/{fileId}/content */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { attachment, attachmentPolicy, safeMediaType } from '../../http/bodies/attachment.ts';
import { contentRange, isUnchanged, rangeOf } from '../../http/bodies/range.ts';
import { AppError } from '../../runtime/errors.ts';
import { sample, text } from '../../runtime/schemas.ts';
import type { FileContents } from './file-content.ts';

const version = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: 'Defaults to the newest version' }),
);

const bytes = { 'application/octet-stream': { schema: Type.String({ format: 'binary' }) } };

/** A client that has read nothing for this long is gone: its connection is closed. */
const longestStallMs = 120_000;

export function fileContentRoutes(app: Api, { fileContents }: { fileContents: FileContents }): void {
  app.get(
    `${apiBase}/platform/files/:fileId/content`,
    {
      config: { scope: 'files:read' },
      schema: {
        operationId: 'downloadFileContent',
        summary: 'Download the content of a file',
        description:
          'The bytes as uploaded, sent as an attachment with the name and media type of the version. ETag is the content hash. Range and If-Range return a part. X-Expired holds the expirationDate once it has passed. 404 if only a hash was given or the content was erased.',
        tags: ['files'],
        params: Type.Object({ fileId: text(sample.fileId) }),
        querystring: Type.Object({ version }, { additionalProperties: false }),
        headers: Type.Object({
          range: Type.Optional(Type.String({ description: 'One range of bytes, such as `bytes=0-499`' })),
          'if-range': Type.Optional(Type.String({ description: 'The ETag that the range belongs to' })),
          'if-none-match': Type.Optional(
            Type.String({ description: 'ETags of content that you already have' }),
          ),
        }),
        response: {
          200: { description: 'The content', content: bytes },
          206: { description: 'The requested part', content: bytes },
          304: { description: 'You already have this content', type: 'null' },
        },
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request);
      const { headers, params, query } = request;
      const content = await fileContents.find(workspaceId, params.fileId, query.version);
      const { size, contentHash } = content;
      const etag = `"${contentHash.toString('hex')}"`;
      reply.headers({ etag, 'accept-ranges': 'bytes' });
      if (isUnchanged(headers['if-none-match'], etag)) return reply.code(304).send(undefined as never);
      // RFC 9110 defines ranges only for GET.
      const range = request.method === 'GET' ? rangeOf(headers, { size, etag }) : 'whole';
      if (range === 'none') {
        reply.header('content-range', `bytes */${size}`);
        throw new AppError(
          'range_not_satisfiable',
          `The content has ${size} bytes, and the requested range contains none of them.`,
        );
      }
      const part = range === 'whole' ? undefined : range;
      const stream = request.method === 'GET' ? Readable.from(await content.read(part)) : Readable.from([]);
      reply.headers({
        'content-type': safeMediaType(content.mediaType),
        'content-length': part ? part.end - part.start : size,
        'content-disposition': attachment(content.name),
        'content-security-policy': attachmentPolicy,
        'cross-origin-resource-policy': 'same-origin',
        // RFC 9530: the digest of the whole content, even when only a part is sent.
        'repr-digest': `sha-256=:${contentHash.toString('base64')}:`,
        ...(content.expired !== null && { 'x-expired': content.expired }),
        ...(part && { 'content-range': contentRange(part, size) }),
      });
      return sendStream(request, reply.code(part ? 206 : 200), stream);
    },
  );
}

/** Reads on only when the client has taken the previous bytes. An error while sending breaks the connection. */
function sendStream(request: FastifyRequest, reply: FastifyReply, stream: Readable): never {
  stream.on('error', (error) =>
    request.log.error({ requestId: request.id, err: error }, 'could not send all of the content'),
  );
  reply.raw.setTimeout(longestStallMs, () => reply.raw.destroy());
  return reply.send(stream) as never;
}
