/** A sign-off as it is hashed and anchored: its form, the typed data that a worker signs, and how it was signed. */
import type { Hex } from 'viem';
import {
  type Check,
  exactly,
  type Fault,
  hexOf,
  integerUpTo,
  matching,
  nullOr,
  objectOf,
  oneOf,
} from '../json-shape.ts';

/** In its RFC 8785 form, with a salt, it is what a proof of kind `signoff` proves. */
export interface SignoffDocument {
  /** `@1` does not say how it was signed. */
  format: 'holdfast/signoff@1' | typeof signoffFormat;
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
   * In `@2` only: when the service got a signature that was made elsewhere. Then `signedAt`, which is signed, is a statement of
   * the signer's device. The same form.
   */
  receivedAt?: string;
  /** In `@2` only. */
  signedWith?: SignedWith;
  /** In `@2` and as `certified` only; sign-offs of earlier versions lack it. */
  release?: Release;
  /** 65 bytes of secp256k1; of a passkey, the signature in its assertion. */
  signature: Hex;
}

export interface UsedLicence {
  scope: string;
  number: string;
  authority: string;
  expiresAt: string | null;
  /** All of these, or none in sign-offs of earlier versions. */
  category?: string | null;
  validFrom?: string | null;
  suspendedAt?: string | null;
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
  | ({ method: 'passkey' } & PasskeyAssertion);

/** What a passkey signed beside the challenge, and which passkey it was. */
export interface PasskeyAssertion {
  /** The document that registered it: its number among those of the worker, and its salted hash. */
  registration: { number: number; hash: Hex };
  credentialId: Hex;
  /** A SubjectPublicKeyInfo. */
  publicKey: Hex;
  /** The host name that the passkey is bound to. */
  rpId: string;
  authenticatorData: Hex;
  /** Exactly the text that the browser made. */
  clientDataJSON: string;
}

/** What the worker signs. */
export interface SignoffFields {
  workspaceId: string;
  assetId: string;
  maintenanceId: string;
  maintenanceHash: Hex;
  role: SignoffDocument['role'];
  worker: string;
  /** Empty when no licence is used. */
  licenceScope: string;
  licenceNumber: string;
  /** Seconds since 1970. */
  signedAt: number;
}

export const signoffFormat = 'holdfast/signoff@2';
const formats = ['holdfast/signoff@1', signoffFormat] as const;

/** More than this between signing and receipt is told to people: the signature waited on a device. */
const laterMs = 5 * 60_000;

/** Whether it was signed well before the service got it, as its signer's device states. */
export function isSentLater({
  signedAt,
  receivedAt,
}: Pick<SignoffDocument, 'signedAt' | 'receivedAt'>): boolean {
  return receivedAt !== undefined && Date.parse(receivedAt) - Date.parse(signedAt) > laterMs;
}

/** The signed fields, from the stored document. */
export function fieldsOf(
  document: Omit<SignoffDocument, 'signature' | 'format' | 'signedWith'>,
): SignoffFields {
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

/** For people: who signed with what, and that the time is a statement if it was sent later. */
export function signedInWords(document: SignoffDocument): string {
  const { receivedAt } = document;
  if (receivedAt === undefined || !isSentLater(document)) return methodInWords(document);
  const received = `${receivedAt.slice(0, 10)} at ${receivedAt.slice(11, 16)} UTC`;
  return `${methodInWords(document)} The time of signing is a statement of the signer's device; the service received the signature on ${received}.`;
}

function methodInWords({ workerName, workerAddress, signedWith }: SignoffDocument): string {
  const worker = workerName || workerAddress;
  switch (signedWith?.method) {
    case 'own-key':
      return `Signed by ${worker} with their own key.`;
    case 'passkey':
      return `Signed by ${worker} with a passkey.`;
    case 'held-key':
      return signedWith.apiKeyId === null
        ? `Signed by ${worker}, in their own session, with a key that the service holds for them.`
        : `Signed by the service on behalf of ${worker}, at the request of the API key ${signedWith.apiKeyId}.`;
    default:
      return `Signed with the key of ${worker}. Who held that key was not recorded.`;
  }
}

/** Whether this version knows the format. */
export function isSignoffFormat(document: unknown): document is { format: string } {
  const format = (document as { format?: unknown } | null)?.format;
  return formats.some((known) => known === format);
}

/** What is wrong with the form of a document of a known format. */
export function signoffFaults(document: { format: string }): Fault[] {
  const released = Object.hasOwn(document, 'release') ? { role: exactly('certified'), release } : {};
  const received = Object.hasOwn(document, 'receivedAt') ? { receivedAt: realSecond } : {};
  const later = { ...common, signedWith, ...released, ...received };
  const members = document.format === signoffFormat ? later : common;
  return objectOf({ format: oneOf(formats), ...members })(document, '');
}

const text = matching(/^/u, 'a text');
const anyHex = matching(/^0x(?:[0-9a-f]{2})+$/u, '0x and lower-case hex digits');
const wholeSecond = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/u, 'a time in whole seconds');
const common = {
  workspaceId: text,
  assetId: text,
  maintenanceId: text,
  maintenanceHash: hexOf(32),
  role: oneOf(['performed', 'inspected', 'certified']),
  workerAddress: matching(/^0x[0-9a-fA-F]{40}$/u, 'an address'),
  workerName: text,
  licence: nullOr(usedLicence),
  signedAt: wholeSecond,
  signature: anyHex,
};

const release = objectOf({
  organisation: nullOr(
    objectOf({ name: text, address: text, authority: text, approvalNumber: text, regulation: text }),
  ),
  asset: objectOf({
    version: integerUpTo(2 ** 31 - 1),
    name: text,
    partNumber: text,
    serialNumber: text,
  }),
});

/** Also none that is only written like a time. */
function realSecond(value: unknown, path: string): Fault[] {
  const faults = wholeSecond(value, path);
  const time = faults.length === 0 ? Date.parse(String(value)) : Number.NaN;
  const isReal = time >= 0 && new Date(time).toISOString() === value;
  return faults.length > 0 || isReal ? faults : [{ path, message: 'is not a time since 1970' }];
}

const methods: Record<string, Check> = {
  'own-key': objectOf({ method: exactly('own-key') }),
  'held-key': objectOf({ method: exactly('held-key'), apiKeyId: nullOr(text) }),
  passkey: objectOf({
    method: exactly('passkey'),
    registration: objectOf({ number: integerUpTo(2 ** 31 - 1), hash: hexOf(32) }),
    credentialId: anyHex,
    publicKey: anyHex,
    rpId: text,
    authenticatorData: anyHex,
    clientDataJSON: text,
  }),
};

function signedWith(value: unknown, path: string): Fault[] {
  const { method } = (value ?? {}) as { method?: unknown };
  const check = Object.hasOwn(methods, String(method)) ? methods[String(method)] : undefined;
  if (check) return check(value, path);
  return [{ path: `${path}.method`, message: `is not one of ${Object.keys(methods).join(', ')}` }];
}

function usedLicence(value: unknown, path: string): Fault[] {
  const members = { scope: text, number: text, authority: text, expiresAt: nullOr(text) };
  const limits = { category: nullOr(text), validFrom: nullOr(text), suspendedAt: nullOr(text) };
  const isWhole = Object.hasOwn(Object(value), 'category');
  return objectOf(isWhole ? { ...members, ...limits } : members)(value, path);
}
