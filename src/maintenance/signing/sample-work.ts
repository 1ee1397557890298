/** The story behind the examples of the OpenAPI document: a hoist winch, its inspection, and the workers who sign. */

import { type SignoffDocument, signoffFormat } from '../../proof/signoff/signoff-document.ts';
import { sample } from '../../runtime/schemas.ts';
import type { Licence } from './licence.ts';
import { type AttachedFile, entryFormat, type MaintenanceEntry } from './maintenance-entry.ts';

export const sampleLicence = {
  category: 'B',
  scope: 'hoist inspection',
  number: 'HI-20481',
  authority: 'Port Safety Authority',
  validFrom: '2021-07-01T00:00:00.000Z',
  expiresAt: '2036-06-30T00:00:00.000Z',
  suspendedAt: null,
} satisfies Licence;

const usage = { hours: 12_480.5, cycles: 30_211 };

/** As in the document of its version. */
export const sampleAsset = {
  name: 'Hoist winch 4A',
  serialNumber: 'HW-2019-0417',
  partNumber: 'HW-45',
  metadata: { manufacturer: 'Northern Lifting', built: 2019 },
  usage,
};

/** The asset and its workers are created before the work is done. */
export const sampleCreatedAt = '2026-03-02T08:40:00.000Z';

export const sampleWork = {
  type: 'inspection',
  summary: 'Annual inspection: rope replaced, brake adjusted, load test at 110 % passed',
  data: { usage, loadTestPercent: 110 },
};

export const sampleFile: AttachedFile = {
  fileId: sample.fileId,
  version: 1,
  name: sample.fileName,
  contentHash: sample.contentHash,
  canonicalization: 'raw',
};

const ids = {
  workspaceId: sample.workspaceId,
  assetId: sample.assetId,
  maintenanceId: sample.maintenanceId,
};
const worker = { workerAddress: sample.workerAddress, workerName: sample.workerName };

export const sampleEntry: MaintenanceEntry = {
  format: entryFormat,
  ...ids,
  ...sampleWork,
  performedAt: sample.performedAt,
  recordedAt: sample.at,
  ...worker,
  files: [sampleFile],
  supersedes: null,
  requires: { scope: sampleLicence.scope, categories: [sampleLicence.category], critical: true },
};

export const sampleSignoff: SignoffDocument = {
  format: signoffFormat,
  ...ids,
  maintenanceHash: sample.maintenanceHash,
  role: 'performed',
  ...worker,
  licence: sampleLicence,
  signedAt: sample.signedAt,
  receivedAt: sample.signedAt,
  signedWith: { method: 'own-key' },
  signature: sample.signature,
};
