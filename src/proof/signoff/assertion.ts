/**
 * Verifies the assertion of a passkey by WebAuthn level 2, section 7.2, as far as it can be verified later and elsewhere:
 * everything except the counter and whether the passkey is still registered. Pure, so that the service, browsers and the
 * command line judge alike.
 */
import type { Hex } from 'viem';
import { parseJsonText } from '../../runtime/json-text.ts';
import { fromHex, toHex } from '../hex.ts';
import { digestOf, isSignedBy, keyOf } from '../rfc3161/algorithms.ts';
import { readDer } from '../rfc3161/der.ts';

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

export interface AssertionFault {
  reason: 'form' | 'challenge' | 'origin' | 'user-verification' | 'signature';
  /** Continues "the assertion". */
  message: string;
}

export type SignedAssertion = Pick<
  PasskeyAssertion,
  'publicKey' | 'rpId' | 'authenticatorData' | 'clientDataJSON'
> & { signature: Hex };

/** Null if the passkey signed this challenge for this host name, and verified its user. */
export async function assertionFault(
  assertion: SignedAssertion,
  challenge: Uint8Array,
): Promise<AssertionFault | null> {
  const { rpId, clientDataJSON } = assertion;
  const [authenticatorData, signature] = [fromHex(assertion.authenticatorData), fromHex(assertion.signature)];
  const clientData = readClientData(clientDataJSON);
  if (clientData === null) return form('has no readable client data');
  if (clientData.type !== 'webauthn.get') return form('is none of a signature: its type is not webauthn.get');
  if (clientData.challenge !== base64url(challenge)) {
    return { reason: 'challenge', message: 'was made for another challenge, so for something else' };
  }
  if (!isOriginOf(clientData, rpId)) {
    return {
      reason: 'origin',
      message: `was made for ${JSON.stringify(clientData.origin)}, which is not ${rpId}`,
    };
  }
  const fault = await authenticatorFault(authenticatorData, rpId);
  if (fault !== null) return fault;
  const publicKey = fromHex(assertion.publicKey);
  const kind = keyOf(publicKey);
  if (kind !== 'P-256' && kind !== 'RSA') return form('names a public key that is neither P-256 nor RSA');
  const bytes = new TextEncoder().encode(clientDataJSON);
  const signed = {
    algorithm: readDer(kind === 'RSA' ? rs256 : es256, ''),
    signature,
    data: joined(authenticatorData, await digestOf('SHA-256', bytes)),
  };
  if (await isSignedBy(publicKey, signed)) return null;
  return { reason: 'signature', message: 'was not signed by that passkey, or over other data' };
}

/** The signature counter; always 0 in passkeys that do not count. */
export function counterOf(authenticatorData: Uint8Array): number {
  return new DataView(authenticatorData.buffer, authenticatorData.byteOffset).getUint32(33);
}

/** Without padding, as WebAuthn writes it. */
export function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** The hash of the host name, the flags, and nothing where no flag announces more. */
async function authenticatorFault(data: Uint8Array, rpId: string): Promise<AssertionFault | null> {
  const flags = data[32] ?? 0;
  const hasMore = (flags & (flagBits.attested | flagBits.extensions)) !== 0;
  if (data.length < 37 || (data.length > 37 && !hasMore)) {
    return form('has authenticator data of a wrong length');
  }
  const expected = await digestOf('SHA-256', new TextEncoder().encode(rpId));
  if (toHex(data.subarray(0, 32)) !== toHex(expected)) {
    return { reason: 'origin', message: `was made for another host name than ${rpId}` };
  }
  if ((flags & flagBits.present) === 0 || (flags & flagBits.verified) === 0) {
    return {
      reason: 'user-verification',
      message: 'does not say that the passkey verified its user, by PIN, finger or face',
    };
  }
  return null;
}

const flagBits = { present: 0x01, verified: 0x04, attested: 0x40, extensions: 0x80 };

interface ClientData {
  type?: unknown;
  challenge?: unknown;
  origin?: unknown;
  crossOrigin?: unknown;
}

function readClientData(text: string): ClientData | null {
  try {
    const value = parseJsonText(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** Https on that host name or one below it; on localhost also http. A page inside another site's page is none of ours. */
function isOriginOf({ origin, crossOrigin }: ClientData, rpId: string): boolean {
  if (crossOrigin !== undefined && crossOrigin !== false) return false;
  // A list of one origin has the same text.
  if (typeof origin !== 'string') return false;
  const [, scheme, host = ''] = /^(https?):\/\/([a-z0-9.-]+)(?::\d{1,5})?$/.exec(origin) ?? [];
  if (host !== rpId && !host.endsWith(`.${rpId}`)) return false;
  return scheme === 'https' || (scheme === 'http' && rpId === 'localhost');
}

function form(message: string): AssertionFault {
  return { reason: 'form', message };
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(one.length + other.length);
  bytes.set(one);
  bytes.set(other, one.length);
  return bytes;
}

/** AlgorithmIdentifiers: ECDSA with SHA-256, and RSASSA-PKCS1-v1_5 with SHA-256. */
const es256 = fromHex('0x300a06082a8648ce3d040302');
const rs256 = fromHex('0x300d06092a864886f70d01010b0500');
