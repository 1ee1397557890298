/**
 * A sign-off: the typed data that a worker signs, and its verification. Pure, and safe in browsers, so that dossiers can be
 * checked without the service.
 */
import type { Hex } from 'viem';
import {
  isSignoffFormat,
  type SignoffDocument,
  type SignoffFields,
  signoffFaults,
} from '../../proof/signoff/signoff-document.ts';
import { documentSignatureFault } from '../../proof/signoff/signoff-signature.ts';
import { licenceFault, licenceKey, wholeLicence } from './licence.ts';
import { type MaintenanceEntry, requirementOf } from './maintenance-entry.ts';
import { judgeSignoff, type Performer, signingTimeFault } from './signoff-rules.ts';

/** The entry that is signed. */
export type SignedEntry = Pick<
  SignoffDocument,
  'workspaceId' | 'assetId' | 'maintenanceId' | 'maintenanceHash'
>;

/** No chain and no contract: the worker's statement is independent of where it is anchored. */
export const signoffDomain = { name: 'Holdfast', version: '1' } as const;

export const signoffTypes = {
  Signoff: [
    { name: 'workspaceId', type: 'string' },
    { name: 'assetId', type: 'string' },
    { name: 'maintenanceId', type: 'string' },
    { name: 'maintenanceHash', type: 'bytes32' },
    { name: 'role', type: 'string' },
    { name: 'worker', type: 'address' },
    { name: 'licenceScope', type: 'string' },
    { name: 'licenceNumber', type: 'string' },
    { name: 'signedAt', type: 'uint64' },
  ],
} as const;

/** The argument of a signer's signTypedData. */
export function makeSignoffTypedData(fields: SignoffFields) {
  return {
    domain: signoffDomain,
    types: signoffTypes,
    primaryType: 'Signoff',
    message: { ...fields, worker: fields.worker as Hex, signedAt: BigInt(fields.signedAt) },
  } as const;
}

/**
 * Verifies a sign-off on its own against its entry: the signature, what was signed, and that the licence was valid then.
 * Returns all faults; an empty list when there are none. Rules across several sign-offs, such as who may certify after whom,
 * are in `signoffsFault`.
 */
export async function verifySignoff(document: SignoffDocument, entry: SignedEntry): Promise<string[]> {
  if (!isSignoffFormat(document)) return ['its format is not known to this version'];
  const [malformed] = signoffFaults(document);
  if (malformed) return [`${malformed.path} ${malformed.message}`];
  const faults: string[] = [];
  for (const name of ['workspaceId', 'assetId', 'maintenanceId', 'maintenanceHash'] as const) {
    if (document[name] !== entry[name]) faults.push(`${name} does not match the entry`);
  }
  const signedAt = Date.parse(document.signedAt);
  if (Number.isNaN(signedAt) || signedAt < 0) return [...faults, 'signedAt is not a time'];
  const { licence } = document;
  if (licence === null && document.role !== 'performed') faults.push('it needs a licence and has none');
  const invalid = licence && licenceFault(wholeLicence(licence), new Date(signedAt));
  if (invalid) faults.push(`the licence ${invalid.message}`);
  const fault = await documentSignatureFault(document);
  if (fault !== null) faults.push(`the signature is refused: ${fault}`);
  return faults;
}

/** What is wrong with the sign-offs of one entry taken together, in order: roles, independence, scope, times; or null. */
export function signoffsFault(
  entry: Pick<MaintenanceEntry, 'type' | 'data' | 'requires' | 'workerAddress' | 'recordedAt'>,
  documents: SignoffDocument[],
): string | null {
  const performers = performersOf(entry, documents);
  for (const [place, document] of documents.entries()) {
    const { role, workerAddress, licence, signedAt, receivedAt } = document;
    const judged = judgeSignoff({
      role,
      workerAddress,
      identity: null,
      licences: licence ? [wholeLicence(licence)] : [],
      licenceScope: licence?.scope,
      at: new Date(signedAt),
      requires: requirementOf(entry),
      earlier: documents.slice(0, place),
      performers,
    });
    if ('code' in judged) return judged.message;
    const { recordedAt } = entry;
    const untimely = signingTimeFault({
      ...{ role, signedAt, recordedAt, earlier: documents.slice(0, place) },
      ...(receivedAt !== undefined && { receivedAt }),
    });
    if (untimely !== null) return untimely;
  }
  return null;
}

/** Those who did the work, as far as the documents say. */
export function performersOf(
  { workerAddress: address }: Pick<MaintenanceEntry, 'workerAddress'>,
  documents: SignoffDocument[],
): Performer[] {
  const by = { identities: [], inherited: false };
  return [
    { ...by, address, licences: [] },
    ...documents
      .filter(({ role }) => role === 'performed')
      .map(({ workerAddress, licence }) => ({
        ...by,
        address: workerAddress,
        licences: licence ? [licenceKey(licence)] : [],
      })),
  ];
}
