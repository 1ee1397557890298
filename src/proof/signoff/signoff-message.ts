/**
 * What a worker signs: the whole document, as EIP-712 typed data, except the signature itself, when it was received, and the
 * assertion of a passkey. The service, browsers and verifiers make it from the document; a passkey signs its digest.
 */
import type { Hex } from 'viem';
import type { Organisation, Release, SignoffDocument, UnsignedSignoff } from './signoff-document.ts';
import { type TypedData, type TypedDataTypes, typedDataDigest } from './typed-data.ts';

/** A list has one item, or none where the document has null or nothing; a text is empty where it has null. */
export interface SignoffMessage {
  format: string;
  workspaceId: string;
  assetId: string;
  maintenanceId: string;
  maintenanceHash: Hex;
  role: SignoffDocument['role'];
  workerAddress: Hex;
  workerName: string;
  licence: Record<
    'category' | 'scope' | 'number' | 'authority' | 'validFrom' | 'expiresAt' | 'suspendedAt',
    string
  >[];
  signedAt: string;
  signedWith: { method: string; apiKeyId: string };
  release: { organisation: Organisation[]; asset: Release['asset'] }[];
}

export interface SignoffTypedData extends TypedData {
  types: typeof signoffTypes;
  primaryType: 'Signoff';
  message: SignoffMessage;
}

const texts = (...names: string[]) => names.map((name) => ({ name, type: 'string' }));

export const signoffTypes = {
  Signoff: [
    ...texts('format', 'workspaceId', 'assetId', 'maintenanceId'),
    { name: 'maintenanceHash', type: 'bytes32' },
    ...texts('role'),
    { name: 'workerAddress', type: 'address' },
    ...texts('workerName'),
    { name: 'licence', type: 'Licence[]' },
    ...texts('signedAt'),
    { name: 'signedWith', type: 'SignedWith' },
    { name: 'release', type: 'Release[]' },
  ],
  Licence: texts('category', 'scope', 'number', 'authority', 'validFrom', 'expiresAt', 'suspendedAt'),
  SignedWith: texts('method', 'apiKeyId'),
  Release: [
    { name: 'organisation', type: 'Organisation[]' },
    { name: 'asset', type: 'Asset' },
  ],
  Organisation: texts('name', 'address', 'authority', 'approvalNumber', 'regulation'),
  Asset: [{ name: 'version', type: 'uint32' }, ...texts('name', 'partNumber', 'serialNumber')],
} satisfies TypedDataTypes;

export function signoffTypedData(document: UnsignedSignoff): SignoffTypedData {
  return { types: signoffTypes, primaryType: 'Signoff', message: signoffMessage(document) };
}

export function signoffDigest(message: SignoffMessage): Uint8Array {
  return typedDataDigest({ types: signoffTypes, primaryType: 'Signoff', message });
}

/** `document` has the form of one, but for its signature. */
export function signoffMessage(document: UnsignedSignoff): SignoffMessage {
  const { format, workspaceId, assetId, maintenanceId, maintenanceHash, role, licence, release } = document;
  const { method, apiKeyId = null } = document.signedWith;
  return {
    ...{ format, workspaceId, assetId, maintenanceId, maintenanceHash, role },
    workerAddress: document.workerAddress as Hex,
    workerName: document.workerName,
    licence: licence === null ? [] : [withoutNulls(licence)],
    signedAt: document.signedAt,
    signedWith: { method, apiKeyId: apiKeyId ?? '' },
    release: release
      ? [{ organisation: release.organisation ? [release.organisation] : [], asset: release.asset }]
      : [],
  };
}

function withoutNulls<Name extends string>(members: Record<Name, string | null>): Record<Name, string> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, value ?? ''])) as Record<
    Name,
    string
  >;
}
