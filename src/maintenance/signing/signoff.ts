/**
 * A sign-off: the typed data that a worker signs, and its verification. Pure, and safe in browsers, so that dossiers can be
 * checked without the service.
 */
import type { Hex } from 'viem';
import { hashTypedData, recoverAddress } from 'viem/utils';
import { signatureFault } from '../../proof/seal.ts';
import type { Licence } from './licence.ts';
import { type MaintenanceEntry, scopeOf } from './maintenance-entry.ts';
import {
  isExpired,
  judgeSignoff,
  type SignoffRole,
  signingTimeFault,
  signoffRoles,
} from './signoff-rules.ts';

/** What the worker signs. */
export interface SignoffFields {
  workspaceId: string;
  assetId: string;
  maintenanceId: string;
  maintenanceHash: Hex;
  role: SignoffRole;
  worker: string;
  /** Empty when no licence is used. */
  licenceScope: string;
  licenceNumber: string;
  /** Seconds since 1970. */
  signedAt: number;
}

/** The sign-off as it is hashed and anchored, in its RFC 8785 form with a salt. */
export interface SignoffDocument {
  format: typeof signoffFormat;
  workspaceId: string;
  assetId: string;
  maintenanceId: string;
  maintenanceHash: Hex;
  role: SignoffRole;
  /** EIP-55, with the name at that time. */
  workerAddress: string;
  workerName: string;
  /** As it was when it was checked; null when no licence was needed. */
  licence: Licence | null;
  /** ISO 8601 in UTC, in whole seconds. */
  signedAt: string;
  signature: Hex;
}

/** The entry that is signed. */
export type SignedEntry = Pick<
  SignoffDocument,
  'workspaceId' | 'assetId' | 'maintenanceId' | 'maintenanceHash'
>;

export const signoffFormat = 'holdfast/signoff@1';

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

/** Why this is not the worker's signature over these fields, or null. */
export async function signoffSignatureFault(
  fields: SignoffFields,
  signature: string,
): Promise<string | null> {
  const given = signature.toLowerCase() as Hex;
  const form = signatureFault(given);
  if (form !== null) return form;
  try {
    const hash = hashTypedData(makeSignoffTypedData(fields));
    const signer = await recoverAddress({ hash, signature: given });
    if (signer.toLowerCase() === fields.worker.toLowerCase()) return null;
    return `it was made by ${signer}, or over other data`;
  } catch {
    return 'no signer can be recovered from it';
  }
}

/**
 * Verifies a sign-off on its own against its entry: the signature, what was signed, and that the licence was valid then.
 * Returns all faults; an empty list when there are none. Rules across several sign-offs, such as who may certify after whom,
 * are in `signoffsFault`.
 */
export async function verifySignoff(document: SignoffDocument, entry: SignedEntry): Promise<string[]> {
  const faults: string[] = [];
  for (const name of ['workspaceId', 'assetId', 'maintenanceId', 'maintenanceHash'] as const) {
    if (document[name] !== entry[name]) faults.push(`${name} does not match the entry`);
  }
  if (document.format !== signoffFormat) faults.push(`format is not ${signoffFormat}`);
  if (!signoffRoles.includes(document.role)) faults.push('role is not known');
  const signedAt = Date.parse(document.signedAt);
  if (Number.isNaN(signedAt) || signedAt < 0) return [...faults, 'signedAt is not a time'];
  const { licence } = document;
  if (licence === null ? document.role !== 'performed' : isExpired(licence, new Date(signedAt))) {
    faults.push(licence === null ? 'it needs a licence and has none' : 'the licence had expired');
  }
  const fault = await signoffSignatureFault(fieldsOf(document), document.signature);
  if (fault !== null) faults.push(`the signature is refused: ${fault}`);
  return faults;
}

/** What is wrong with the sign-offs of one entry taken together, in order: roles, independence, scope, times; or null. */
export function signoffsFault(
  entry: Pick<MaintenanceEntry, 'type' | 'data' | 'workerAddress' | 'recordedAt'>,
  documents: SignoffDocument[],
): string | null {
  const performers = [{ address: entry.workerAddress, licenceNumbers: [] as string[] }];
  for (const { role, workerAddress, licence } of documents) {
    if (role !== 'performed') continue;
    performers.push({ address: workerAddress, licenceNumbers: licence ? [licence.number] : [] });
  }
  for (const [place, document] of documents.entries()) {
    const { role, workerAddress, licence, signedAt } = document;
    const judged = judgeSignoff({
      role,
      workerAddress,
      licences: licence ? [licence] : [],
      licenceScope: licence?.scope,
      at: new Date(signedAt),
      scope: scopeOf(entry),
      earlier: documents.slice(0, place),
      performers,
    });
    if (typeof judged === 'string') return judged;
    const { recordedAt } = entry;
    const untimely = signingTimeFault({ signedAt, recordedAt, earlier: documents.slice(0, place) });
    if (untimely !== null) return untimely;
  }
  return null;
}

/** The signed fields, from the stored document. */
export function fieldsOf(document: Omit<SignoffDocument, 'signature' | 'format'>): SignoffFields {
  const { workspaceId, assetId, maintenanceId, maintenanceHash, role, licence } = document;
  return {
    workspaceId,
    assetId,
    maintenanceId,
    maintenanceHash,
    role,
    worker: document.workerAddress,
    licenceScope: licence?.scope ?? '',
    licenceNumber: licence?.number ?? '',
    signedAt: Math.floor(Date.parse(document.signedAt) / 1000),
  };
}
