/** A sign-off as it is hashed and anchored: its form, and how it was signed in words. */
import type { Hex } from 'viem';
import { type Check, exactly, type Fault, hexOf, nullOr, objectOf, oneOf } from '../json-shape.ts';
import { isUtcTime, isWholeSecond, utcTime } from '../utc-time.ts';
import {
  anyHex,
  anyNumber,
  anyText,
  type ByPasskey,
  checksummedAddress,
  signedWithOneOf,
  someText,
} from './signed-with.ts';

/** In its RFC 8785 form, with a salt, it is what a proof of kind `signoff` proves. */
export interface SignoffDocument {
  format: typeof signoffFormat;
  workspaceId: string;
  assetId: string;
  maintenanceId: string;
  maintenanceHash: Hex;
  role: 'performed' | 'inspected' | 'certified';
  /** EIP-55, with the name at that time. */
  workerAddress: string;
  workerName: string;
  /** As it was when it was checked; null when no licence was needed. */
  licence: UsedLicence | null;
  /** ISO 8601 in UTC, in whole seconds. */
  signedAt: string;
  /**
   * When the service got a signature that was made elsewhere. Then `signedAt`, which is signed, is a statement of the signer's
   * device. The same form. Nobody signs this, because it comes later.
   */
  receivedAt?: string;
  signedWith: SignedWith;
  /** As `certified` only, and always then. */
  release?: Release;
  /** 65 bytes of secp256k1; of a passkey, the signature in its assertion. */
  signature: Hex;
}

/** What is signed, as far as it is known before. */
export type UnsignedSignoff = Omit<SignoffDocument, 'receivedAt' | 'signature' | 'signedWith'> & {
  signedWith: { method: SignedWith['method']; apiKeyId?: string | null };
};

export interface UsedLicence {
  category: string | null;
  scope: string;
  number: string;
  authority: string;
  validFrom: string | null;
  expiresAt: string | null;
  suspendedAt: string | null;
}

/** In whose name work is released, and what it was done on, as both were at that time. */
export interface Release {
  /** Null: the workspace had stated none. */
  organisation: Organisation | null;
  asset: { version: number; name: string; partNumber: string; serialNumber: string };
}

/** As it was stated; each may be empty. */
export interface Organisation {
  name: string;
  address: string;
  /** The authority that approved it, and its country. */
  authority: string;
  approvalNumber: string;
  /** What the approval is under, such as Part-145. */
  regulation: string;
}

export type SignedWith =
  | { method: 'own-key' }
  /** The service holds the key. Null: the worker used it in their own session; otherwise it signed on their behalf. */
  | { method: 'held-key'; apiKeyId: string | null }
  | ByPasskey;

export const signoffFormat = 'holdfast/signoff@2';

/** More than this between signing and receipt is told to people: the signature waited on a device. */
const laterMs = 5 * 60_000;

/** Whether it was signed well before the service got it, as its signer's device states. */
export function isSentLater({
  signedAt,
  receivedAt,
}: Pick<SignoffDocument, 'signedAt' | 'receivedAt'>): boolean {
  return receivedAt !== undefined && utcTime(receivedAt) - utcTime(signedAt) > laterMs;
}

/** For people: who signed with what, and that the time is a statement if it was sent later. */
export function signedInWords(document: SignoffDocument): string {
  const { receivedAt } = document;
  if (receivedAt === undefined || !isSentLater(document)) return methodInWords(document);
  const received = `${receivedAt.slice(0, 10)} at ${receivedAt.slice(11, 16)} UTC`;
  return `${methodInWords(document)} The time of signing is a statement of the signer's device; the service received the signature on ${received}.`;
}

function methodInWords({ workerName, workerAddress, signedWith }: SignoffDocument): string {
  const worker = workerName || workerAddress;
  switch (signedWith.method) {
    case 'own-key':
      return `Signed by ${worker} with their own key.`;
    case 'passkey':
      return `Signed by ${worker} with a passkey.`;
    default:
      return signedWith.apiKeyId === null
        ? `Signed by ${worker}, in their own session, with a key that the service holds for them.`
        : `Signed by the service on behalf of ${worker}, at the request of the API key ${signedWith.apiKeyId}.`;
  }
}

/** Whether this version knows the format. */
export function isSignoffFormat(document: unknown): document is { format: string } {
  return (document as { format?: unknown } | null)?.format === signoffFormat;
}

/** What is wrong with the form of a document of that format. */
export function signoffFaults(document: { format: string; role?: unknown }): Fault[] {
  const released = document.role === 'certified' ? { release } : {};
  const received = Object.hasOwn(document, 'receivedAt') ? { receivedAt: isWholeSecond } : {};
  return objectOf({ ...always, ...released, ...received })(document, '');
}

const usedLicence = objectOf({
  category: nullOr(someText),
  ...{ scope: anyText, number: anyText, authority: anyText },
  ...{ validFrom: nullOr(isUtcTime), expiresAt: nullOr(isUtcTime), suspendedAt: nullOr(isUtcTime) },
});

const always: Record<string, Check> = {
  format: exactly(signoffFormat),
  workspaceId: anyText,
  assetId: anyText,
  maintenanceId: anyText,
  maintenanceHash: hexOf(32),
  role: oneOf(['performed', 'inspected', 'certified']),
  workerAddress: checksummedAddress,
  workerName: anyText,
  licence: nullOr(usedLicence),
  signedAt: isWholeSecond,
  signedWith: signedWithOneOf({ 'own-key': {}, 'held-key': { apiKeyId: nullOr(someText) } }),
  signature: anyHex,
};

const release = objectOf({
  organisation: nullOr(
    objectOf({
      name: anyText,
      address: anyText,
      authority: anyText,
      approvalNumber: anyText,
      regulation: anyText,
    }),
  ),
  asset: objectOf({ version: anyNumber, name: anyText, partNumber: anyText, serialNumber: anyText }),
});
