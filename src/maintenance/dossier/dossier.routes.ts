/** /damc/assets/{assetId}/dossier/ */
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { callerOf } from '../../http/admission/authentication.ts';
import type { Api } from '../../http/api/api.ts';
import { attachment, attachmentPolicy } from '../../http/bodies/attachment.ts';
import { may } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { address } from '../../runtime/schemas.ts';
import { assetPath, assetUrl } from '../assets/assets.routes.ts';
import type { Dossiers } from './dossier.ts';

/** A client that has read nothing for this long is gone. */
const longestStallMs = 120_000;

export function dossierRoutes(app: Api, { dossiers }: { dossiers: Dossiers }): void {
  app.get(
    `${assetUrl}dossier/`,
    {
      config: { scope: 'assets:read', tellsOfChain: true },
      schema: {
        operationId: 'downloadAssetDossier',
        summary: 'Download the dossier of an asset',
        description:
          'A ZIP archive that can be read and verified without this service: the asset with its owners and installations, every entry with its sign-offs and proofs, a logbook and release certificates as PDF, and a page that verifies all of it in a browser. It is written while it is downloaded, so it has no Content-Length, and a download that breaks off is incomplete.',
        tags: ['assets'],
        params: assetPath,
        querystring: Type.Object(
          {
            viewerAddress: Type.String({
              ...address,
              description:
                'The address of the viewer: the owner, an assigned worker, or someone with a grant',
            }),
            attachments: Type.Boolean({
              default: false,
              description: 'Include the bytes of attached files; also needs the scope files:read',
            }),
          },
          { additionalProperties: false },
        ),
        response: {
          200: {
            description: 'The dossier',
            content: { 'application/zip': { schema: Type.String({ format: 'binary' }) } },
          },
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { assetId } = request.params;
      const { viewerAddress, attachments: withFiles } = request.query;
      if (withFiles && !may(caller, 'files:read')) {
        throw new AppError('forbidden', 'attachments=true also needs the scope files:read.');
      }
      const opened = await dossiers.open({ caller, assetId, viewerAddress }, { withFiles });
      if (request.method === 'HEAD') opened.destroy();
      const stream = request.method === 'HEAD' ? Readable.from([]) : opened;
      opened.on('error', (error) => {
        request.log.error({ requestId: request.id, err: error }, 'could not write all of a dossier');
      });
      reply.raw.setTimeout(longestStallMs, () => reply.raw.destroy());
      return reply
        .headers({
          'content-disposition': attachment(`dossier-${assetId}.zip`),
          'content-security-policy': attachmentPolicy,
          'cross-origin-resource-policy': 'same-origin',
        })
        .type('application/zip')
        .send(stream as never);
    },
  );
}
