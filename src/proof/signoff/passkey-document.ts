/**
 * What is anchored of a worker's passkeys: that one is theirs, or no longer. A registration is signed by the worker: the first
 * one by the key of their address, each later one by a passkey that they have. Pure, and safe in browsers.
 */
import type { Hex } from 'viem';
import { type Check, exactly, type Fault, hexOf, nullOr, objectOf } from '../json-shape.ts';
import { isUtcTime, utcTime } from '../utc-time.ts';
import {
  anyHex,
  anyText,
  type ByPasskey,
  checksummedAddress,
  hostName,
  placeNumber,
  reference,
  signedWithOneOf,
  someText,
  workerSignatureFault,
} from './signed-with.ts';
import { type TypedData, type TypedDataTypes, typedDataDigest } from './typed-data.ts';

interface PasskeyStatement {
  workspaceId: string;
  workerId: string;
  /** EIP-55, with the name at that time. */
  workerAddress: string;
  workerName: string;
  /** Counts from 1 for each worker, and is the version of the leaf. */
  number: number;
  /** Whose key seals it, in lower case. A revocation is sealed by the vault of its registration. */
  vault: Hex;
  credentialId: Hex;
}

/** Whose doing it was: a person, or an API key. */
export interface StatedActor {
  kind: string;
  id: string;
}

export interface PasskeyRegistration extends PasskeyStatement {
  format: typeof registrationFormat;
  /** A SubjectPublicKeyInfo. */
  publicKey: Hex;
  rpId: string;
  /** As the authenticator made it, with its model and its statement about that, if it made one. */
  attestation: { format: string; aaguid: string; object: Hex; clientDataJSON: string };
  /** The person, also if it was with an API key that they had made. */
  invitedBy: string;
  /** The id of that key, or null. */
  invitedWith: string | null;
  /** ISO 8601 in UTC, as are the others. */
  registeredAt: string;
  /** The second person, who has seen that it is this worker. */
  confirmedBy: string;
  confirmedAt: string;
  /** When the service got the signature: from then on the passkey signs. Nobody signs this, because it comes later. */
  receivedAt: string;
  signedWith: RegisteredWith;
  /** 65 bytes of secp256k1; of a passkey, the signature in its assertion. */
  signature: Hex;
}

/** `held-key`: the service signed with the key that it held, and destroyed it. */
export type RegisteredWith = { method: 'own-key' } | { method: 'held-key' } | ByPasskey;

/** What is signed, as far as it is known before. */
export type UnsignedRegistration = Omit<PasskeyRegistration, 'receivedAt' | 'signature' | 'signedWith'> & {
  signedWith: { method: RegisteredWith['method'] };
};

export interface PasskeyRevocation extends PasskeyStatement {
  format: typeof revocationFormat;
  /** The statement that registered it. */
  registration: { number: number; hash: Hex };
  reason: string;
  revokedBy: StatedActor;
  revokedAt: string;
}

export type PasskeyDocument = PasskeyRegistration | PasskeyRevocation;

export const registrationFormat = 'holdfast/passkey-registration@1';
export const revocationFormat = 'holdfast/passkey-revocation@1';

/** Whether this version knows the format. */
export function isPasskeyFormat(document: unknown): document is { format: string } {
  const format = (document as { format?: unknown } | null)?.format;
  return format === registrationFormat || format === revocationFormat;
}

/** Why a document of a known format is none, or is not signed by whom it should be signed; or null. */
export async function statementFault(document: { format: string }): Promise<string | null> {
  const [malformed] =
    document.format === registrationFormat ? isRegistration(document, '') : isRevocation(document, '');
  if (malformed) return `${malformed.path} ${malformed.message}`;
  if (document.format === revocationFormat) return null;
  const registration = document as PasskeyRegistration;
  const fault = orderFault(registration);
  if (fault !== null) return fault;
  const digest = typedDataDigest(registrationTypedData(registration));
  const refused = await workerSignatureFault(registration, digest);
  return refused && `the signature is refused: ${refused}`;
}

function orderFault(registration: PasskeyRegistration): string | null {
  const { number, signedWith, invitedBy, confirmedBy, registeredAt, confirmedAt, receivedAt } = registration;
  if (invitedBy === confirmedBy) return 'whoever invited the worker confirmed the registration as well';
  if (!(utcTime(registeredAt) <= utcTime(confirmedAt) && utcTime(confirmedAt) <= utcTime(receivedAt))) {
    return 'it was not registered, confirmed and signed in this order';
  }
  if (signedWith.method !== 'passkey')
    return number === 1 ? null : 'only the first registration is signed by a key';
  if (signedWith.registration.number < number) return null;
  return 'it is signed by a passkey that was not registered before';
}

const texts = (...names: string[]) => names.map((name) => ({ name, type: 'string' }));

export const registrationTypes = {
  PasskeyRegistration: [
    ...texts('format', 'workspaceId', 'workerId'),
    { name: 'workerAddress', type: 'address' },
    ...texts('workerName'),
    { name: 'number', type: 'uint32' },
    { name: 'vault', type: 'address' },
    { name: 'credentialId', type: 'bytes' },
    { name: 'publicKey', type: 'bytes' },
    ...texts('rpId'),
    { name: 'attestation', type: 'Attestation' },
    ...texts('invitedBy', 'invitedWith', 'registeredAt', 'confirmedBy', 'confirmedAt', 'signedWith'),
  ],
  Attestation: [...texts('format', 'aaguid'), { name: 'object', type: 'bytes' }, ...texts('clientDataJSON')],
} satisfies TypedDataTypes;

export type RegistrationMessage = Omit<UnsignedRegistration, 'invitedWith' | 'signedWith'> & {
  /** Empty for null. */
  invitedWith: string;
  signedWith: string;
};

export interface RegistrationTypedData extends TypedData {
  types: typeof registrationTypes;
  primaryType: 'PasskeyRegistration';
  message: RegistrationMessage;
}

/** The whole document except the signature itself, when it was received, and the assertion of a passkey. */
export function registrationTypedData(document: UnsignedRegistration): RegistrationTypedData {
  const { format, workspaceId, workerId, workerAddress, workerName, number, vault, credentialId } = document;
  const { publicKey, rpId, attestation, invitedBy, invitedWith, registeredAt, confirmedBy, confirmedAt } =
    document;
  return {
    types: registrationTypes,
    primaryType: 'PasskeyRegistration',
    message: {
      ...{
        format,
        workspaceId,
        workerId,
        workerAddress,
        workerName,
        number,
        vault,
        credentialId,
        publicKey,
        rpId,
      },
      ...{ attestation, invitedBy, invitedWith: invitedWith ?? '', registeredAt, confirmedBy, confirmedAt },
      signedWith: document.signedWith.method,
    },
  };
}

const always: Record<string, Check> = {
  workspaceId: anyText,
  workerId: anyText,
  workerAddress: checksummedAddress,
  workerName: anyText,
  number: placeNumber,
  vault: hexOf(20),
  credentialId: anyHex,
};

const isRegistration: (value: unknown, path: string) => Fault[] = objectOf({
  ...always,
  format: exactly(registrationFormat),
  publicKey: anyHex,
  rpId: hostName,
  attestation: objectOf({ format: anyText, aaguid: anyText, object: anyHex, clientDataJSON: anyText }),
  invitedBy: someText,
  invitedWith: nullOr(someText),
  registeredAt: isUtcTime,
  confirmedBy: someText,
  confirmedAt: isUtcTime,
  receivedAt: isUtcTime,
  signedWith: signedWithOneOf({ 'own-key': {}, 'held-key': {} }),
  signature: anyHex,
});

const isRevocation = objectOf({
  ...always,
  format: exactly(revocationFormat),
  registration: reference,
  reason: anyText,
  revokedBy: objectOf({ kind: anyText, id: anyText }),
  revokedAt: isUtcTime,
});
