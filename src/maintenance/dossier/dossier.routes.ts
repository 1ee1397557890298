/** /damc/assets/{assetId}/dossier/, the proofs of dossiers that were downloaded, and single release certificates */
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { proofOf } from '../../anchoring/proof-schema.ts';
import { callerOf } from '../../http/admission/authentication.ts';
import type { Api } from '../../http/api/api.ts';
import { attachment, attachmentPolicy } from '../../http/bodies/attachment.ts';
import { may } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { address, sample, text } from '../../runtime/schemas.ts';
import { assetPath, assetUrl } from '../assets/assets.routes.ts';
import { maintenancesUrl } from '../entries/maintenances.routes.ts';
import type { Dossiers } from './dossier.ts';

/** A client that has read nothing for this long is gone. */
const longestStallMs = 120_000;

const sampleDossier = {
  id: 'dos_01KJPWDTVG5YQ3W8M1R0ZC7N4E',
  digest: '0x9d1f4c0e6a7b35829ce4f05d1b7a8c63e2f94d0b5a61c8e7f3290d4b6e8a1c57',
} as const;

const viewerAddress = Type.String({
  ...address,
  description: 'The address of the viewer: the owner, an assigned worker, or someone with a grant',
});

export function dossierRoutes(app: Api, { dossiers }: { dossiers: Dossiers }): void {
  app.get(
    `${assetUrl}dossier/`,
    {
      config: { scope: 'assets:read', tellsOfChain: true },
      schema: {
        operationId: 'downloadAssetDossier',
        summary: 'Download the dossier of an asset',
        description:
          'A ZIP archive that can be read and verified without this service: the asset with its owners and installations, every entry with its sign-offs and proofs, a logbook and release certificates as PDF, and a page that verifies all of it in a browser. It is written while it is downloaded, so it has no Content-Length, and a download that breaks off is incomplete. The vault that owns the asset seals `dossier.json`, which lists every other file, and the seal is anchored: it counts as an anchor of the workspace.',
        tags: ['assets'],
        params: assetPath,
        querystring: Type.Object(
          {
            viewerAddress,
            attachments: Type.Boolean({
              default: false,
              description: 'Include the bytes of attached files; also needs the scope files:read',
            }),
            wait: Type.Integer({
              minimum: 0,
              maximum: 60,
              default: 5,
              description:
                'For how many seconds the archive may wait before its end for the anchor of `dossier.json`, to contain its proof',
            }),
          },
          { additionalProperties: false },
        ),
        response: {
          200: {
            description: 'The dossier',
            headers: {
              'X-Dossier-Id': text(sampleDossier.id, { description: 'The id of the dossier, for its proof' }),
            },
            content: { 'application/zip': { schema: Type.String({ format: 'binary' }) } },
          },
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { assetId } = request.params;
      const { viewerAddress, attachments: withFiles, wait } = request.query;
      if (withFiles && !may(caller, 'files:read')) {
        throw new AppError('forbidden', 'attachments=true also needs the scope files:read.');
      }
      const { dossierId, stream: opened } = await dossiers.open(
        { caller, assetId, viewerAddress },
        { withFiles, longestWaitMs: wait * 1000 },
      );
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
          'x-dossier-id': dossierId,
        })
        .type('application/zip')
        .send(stream as never);
    },
  );

  app.get(
    `${assetUrl}dossiers/:dossierId/proof/`,
    {
      config: { scope: 'assets:read', tellsOfChain: true },
      schema: {
        operationId: 'getDossierProof',
        summary: 'Get the proof of a dossier',
        description:
          'One JSON document, `holdfast/proof@1`, whose content is the file `dossier.json` of the downloaded archive. Needed only if the archive does not contain it as `dossier-proof.json`. 409 until it is confirmed.',
        tags: ['assets'],
        params: Type.Object({ assetId: text(sample.assetId), dossierId: text(sampleDossier.id) }),
        querystring: Type.Object({ viewerAddress }, { additionalProperties: false }),
        response: {
          200: proofOf({
            ...{ kind: 'dossier', ...sampleDossier, raw: true },
            claims: { assetId: sample.assetId },
          }),
        },
      },
    },
    async (request) => {
      const view = { caller: callerOf(request), ...request.params, ...request.query };
      return { ...(await dossiers.proof(view)) };
    },
  );

  app.get(
    `${maintenancesUrl}:maintenanceId/release-certificate/`,
    {
      config: { scope: 'assets:read', tellsOfChain: true },
      schema: {
        operationId: 'getReleaseCertificate',
        summary: 'Get the release certificate of a maintenance entry',
        description:
          'A PDF for people: the release in the boxes of an EASA Form 1 or of a certificate of release to service, where `data.release` of the entry says so; who performed, inspected and certified the work; and its anchor. The dossier has the same. 409 until the entry is certified.',
        tags: ['maintenances'],
        params: Type.Object({ assetId: text(sample.assetId), maintenanceId: text(sample.maintenanceId) }),
        querystring: Type.Object({ viewerAddress }, { additionalProperties: false }),
        response: {
          200: {
            description: 'The release certificate',
            content: { 'application/pdf': { schema: Type.String({ format: 'binary' }) } },
          },
        },
      },
    },
    async (request, reply) => {
      const { maintenanceId } = request.params;
      const pdf = await dossiers.certificate({
        caller: callerOf(request),
        ...request.params,
        ...request.query,
      });
      return reply
        .headers({
          'content-disposition': attachment(`release-certificate-${maintenanceId}.pdf`),
          'content-security-policy': attachmentPolicy,
        })
        .type('application/pdf')
        .send(pdf as never);
    },
  );
}
