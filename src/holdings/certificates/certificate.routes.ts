/** /platform/files/{fileId}/certificate */
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import { type Api, apiBase } from '../../http/api/api.ts';
import { attachment, attachmentPolicy } from '../../http/bodies/attachment.ts';
import { sample, text } from '../../runtime/schemas.ts';
import type { Certificates } from './certificates.ts';

const version = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: 'Defaults to the newest version' }),
);

export interface CertificateRoutesDeps {
  certificates: Certificates;
  publicUrl(): string;
}

export function certificateRoutes(app: Api, { certificates, publicUrl }: CertificateRoutesDeps): void {
  app.get(
    `${apiBase}/platform/files/:fileId/certificate`,
    {
      config: { scope: 'files:read', tellsOfChain: true },
      schema: {
        operationId: 'getFileCertificate',
        summary: 'Get the certificate of a file',
        description:
          'A PDF for people: what was anchored, when and where, and how to verify it without this service. The proof is attached as `proof.json`. The certificate is marked as provisional until the version is finalized. 409 until the version is confirmed.',
        tags: ['files'],
        params: Type.Object({ fileId: text(sample.fileId) }),
        querystring: Type.Object({ version }, { additionalProperties: false }),
        response: {
          200: {
            description: 'The certificate',
            content: { 'application/pdf': { schema: Type.String({ format: 'binary' }) } },
          },
        },
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request);
      const { fileId } = request.params;
      const made = await certificates.make({
        workspaceId,
        fileId,
        version: request.query.version,
        verifyUrl: `${publicUrl()}/verify`,
      });
      return reply
        .headers({
          'content-disposition': attachment(`certificate-${fileId}-v${made.version}.pdf`),
          'content-security-policy': attachmentPolicy,
        })
        .type('application/pdf')
        .send(made.pdf as never);
    },
  );
}
