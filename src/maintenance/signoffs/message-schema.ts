/** The typed data of a sign-off in the API: what a wallet takes, and what a page makes a challenge of. */
import { Type } from 'typebox';
import { signoffFormat } from '../../proof/signoff/signoff-document.ts';
import { sample, text } from '../../runtime/schemas.ts';
import { role } from '../entries/entry-signoffs.routes.ts';
import { sampleAsset, sampleLicence } from '../signing/sample-work.ts';

const orEmpty = (example: string | null) => text(example ?? '', { description: 'Empty for null' });

const MessageLicence = Type.Object({
  category: orEmpty(sampleLicence.category),
  scope: text(sampleLicence.scope),
  number: text(sampleLicence.number),
  authority: text(sampleLicence.authority),
  validFrom: orEmpty(sampleLicence.validFrom),
  expiresAt: orEmpty(sampleLicence.expiresAt),
  suspendedAt: orEmpty(sampleLicence.suspendedAt),
});

const MessageRelease = Type.Object({
  organisation: Type.Array(
    Type.Object({
      name: text('Northport Lifting Services'),
      address: text('Quay 4, Northport'),
      authority: text('Port Safety Authority'),
      approvalNumber: text('PSA.145.0417'),
      regulation: text('Part-145'),
    }),
    { maxItems: 1, description: 'One, or none if the workspace states none' },
  ),
  asset: Type.Object({
    version: Type.Integer({ examples: [1] }),
    name: text(sampleAsset.name),
    partNumber: text(sampleAsset.partNumber),
    serialNumber: text(sampleAsset.serialNumber),
  }),
});

/** Everything but the time, which the device adds. */
export const askedMembers = {
  format: text(signoffFormat),
  workspaceId: text(sample.workspaceId),
  assetId: text(sample.assetId),
  maintenanceId: text(sample.maintenanceId),
  maintenanceHash: text(sample.maintenanceHash),
  role,
  workerAddress: text(sample.workerAddress),
  workerName: text(sample.workerName),
  licence: Type.Array(MessageLicence, { maxItems: 1, description: 'One, or none if no licence is used' }),
  signedWith: Type.Object({ method: text('own-key'), apiKeyId: text('', { description: 'Empty for null' }) }),
  release: Type.Array(MessageRelease, {
    maxItems: 1,
    description: 'One as certified, otherwise none',
    examples: [[]],
  }),
};

export const messageMembers = {
  ...askedMembers,
  signedAt: text(sample.signedAt, { description: 'In whole seconds' }),
};
