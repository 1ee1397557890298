/** /platform/files/{fileId}/evidence and /platform/records/{recordId}/evidence */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { attachment, attachmentPolicy } from '../../http/bodies/attachment.ts';
import { sample, text } from '../../runtime/schemas.ts';
import type { EvidencePackages, PackageRequest } from './evidence-packages.ts';

/** A client that has read nothing for this long is gone: its connection is closed. */
const longestStallMs = 120_000;

const version = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: 'Defaults to the newest version' }),
);
const querystring = Type.Object({ version }, { additionalProperties: false });
const response = {
  200: {
    description: 'The evidence package',
    content: { 'application/zip': { schema: Type.String({ format: 'binary' }) } },
  },
};

export interface EvidencePackageRoutesDeps {
  packages: EvidencePackages;
  publicUrl(): string;
}

export function evidencePackageRoutes(app: Api, { packages, publicUrl }: EvidencePackageRoutesDeps): void {
  app.get(
    `${apiBase}/platform/files/:fileId/evidence`,
    {
      config: { scope: 'files:read', tellsOfChain: true },
      schema: {
        operationId: 'getFileEvidence',
        summary: 'Get the evidence package of a file',
        description:
          'A ZIP archive with everything that shows what was anchored and when, in forms that common tools read: the content if it is stored, the proof, timestamps as `.tst` and `.ots` with their certificates, the certificate, whom the operator trusts, and a README with the commands to check each part. It is written while it is downloaded, so it has no Content-Length. 409 until the version is confirmed.',
        tags: ['files'],
        params: Type.Object({ fileId: text(sample.fileId) }),
        querystring,
        response,
      },
    },
    (request, reply) =>
      send(request, reply, {
        ...{ kind: 'file', id: request.params.fileId, version: request.query.version },
      }),
  );

  app.get(
    `${apiBase}/platform/records/:recordId/evidence`,
    {
      config: { scope: 'records:read', tellsOfChain: true },
      schema: {
        operationId: 'getRecordEvidence',
        summary: 'Get the evidence package of a record',
        description:
          'A ZIP archive with everything that shows what was anchored and when, in forms that common tools read: the data and its salt, the proof, timestamps as `.tst` and `.ots` with their certificates, whom the operator trusts, and a README with the commands to check each part. It is written while it is downloaded, so it has no Content-Length. 409 until the version is confirmed.',
        tags: ['records'],
        params: Type.Object({ recordId: text(sample.recordId) }),
        querystring,
        response,
      },
    },
    (request, reply) =>
      send(request, reply, {
        ...{ kind: 'record', id: request.params.recordId, version: request.query.version },
      }),
  );

  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    asked: Pick<PackageRequest, 'kind' | 'id' | 'version'>,
  ): Promise<never> {
    const { workspaceId } = callerOf(request);
    const { version, stream } = await packages.open({
      ...{ workspaceId, verifyUrl: `${publicUrl()}/verify`, ...asked },
    });
    const isHead = request.method === 'HEAD';
    if (isHead) stream.destroy();
    stream.on('error', (error) => {
      request.log.error({ requestId: request.id, err: error }, 'could not write all of an evidence package');
    });
    reply.raw.setTimeout(longestStallMs, () => reply.raw.destroy());
    return reply
      .headers({
        'content-disposition': attachment(`evidence-${asked.id}-v${version}.zip`),
        'content-security-policy': attachmentPolicy,
        'cross-origin-resource-policy': 'same-origin',
      })
      .type('application/zip')
      .send(isHead ? Readable.from([]) : stream) as never;
  }
}
