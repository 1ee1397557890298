/** What a document says of how it was signed by a worker, and whether that signature holds. Pure, and safe in browsers. */
import type { Hex } from 'viem';
import { fromHex, toHex } from '../hex.ts';
import { type Check, exactly, type Fault, hexOf, integerUpTo, matching, objectOf } from '../json-shape.ts';
import { plainKeccak } from '../keccak.ts';
import { signatureFault } from '../seal.ts';
import { addressOf } from '../secp256k1.ts';
import { assertionFault, type PasskeyAssertion } from './assertion.ts';

export type ByPasskey = { method: 'passkey' } & PasskeyAssertion;

/** By the worker's key, whoever holds it, or by a passkey. */
export interface SignedByWorker {
  /** EIP-55. */
  workerAddress: string;
  signedWith: { method: 'own-key' } | { method: 'held-key' } | ByPasskey;
  /** 65 bytes of secp256k1; of a passkey, the signature in its assertion. */
  signature: Hex;
}

/** Why the signature of the document does not hold, or null. Whose passkey it was is in the document that registered it. */
export async function workerSignatureFault(
  { workerAddress, signedWith, signature }: SignedByWorker,
  digest: Uint8Array,
): Promise<string | null> {
  if (signedWith.method !== 'passkey') return keySignatureFault(workerAddress, digest, signature);
  const fault = await assertionFault({ ...signedWith, signature }, digest);
  return fault && `the assertion ${fault.message}`;
}

/** Why this is not the signature of the key of that address, or null. */
export function keySignatureFault(address: string, digest: Uint8Array, signature: string): string | null {
  const given = signature.toLowerCase() as Hex;
  const form = signatureFault(given);
  if (form !== null) return form;
  const signer = addressOf(digest, fromHex(given));
  if (signer === null) return 'no signer can be recovered from it';
  if (signer === address.toLowerCase()) return null;
  return `it was made by ${signer}, or over other data`;
}

export const anyText = matching(/^/u, 'a text');
export const someText = matching(/./su, 'a text that is not empty');
export const anyHex = matching(/^0x(?:[0-9a-f]{2})+$/u, '0x and lower-case hex digits');
export const anyNumber = integerUpTo(2 ** 31 - 1);
/** Of a statement: they count from 1. */
export const placeNumber: Check = (value, path) =>
  value === 0 ? [{ path, message: 'is 0, but numbers count from 1' }] : anyNumber(value, path);
/** A host name, as passkeys are bound to. */
export const hostName = matching(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/u, 'a host name in small letters');
export const reference = objectOf({ number: placeNumber, hash: hexOf(32) });

/** In its one spelling, because only the bytes of an address are signed. */
export const checksummedAddress: Check = (value, path) => {
  const isOne =
    typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value) && value === checksummed(value);
  return isOne ? [] : [{ path, message: 'is not an address with its checksum (EIP-55)' }];
};

function checksummed(address: string): string {
  const digits = address.slice(2).toLowerCase();
  const marks = toHex(plainKeccak(new TextEncoder().encode(digits))).slice(2);
  return `0x${[...digits].map((digit, at) => ((marks[at] ?? '') >= '8' ? digit.toUpperCase() : digit)).join('')}`;
}

const byPasskey = objectOf({
  method: exactly('passkey'),
  registration: reference,
  credentialId: anyHex,
  publicKey: anyHex,
  rpId: hostName,
  authenticatorData: anyHex,
  clientDataJSON: anyText,
});

/** By a passkey, or one of these methods. */
export function signedWithOneOf(others: Record<string, Record<string, Check>>): Check {
  const methods = new Map([['passkey', byPasskey]]);
  for (const [method, members] of Object.entries(others)) {
    methods.set(method, objectOf({ method: exactly(method), ...members }));
  }
  return (value, path): Fault[] => {
    const { method } = (value ?? {}) as { method?: unknown };
    const check = typeof method === 'string' ? methods.get(method) : undefined;
    if (check) return check(value, path);
    return [{ path: `${path}.method`, message: `is not one of ${[...methods.keys()].join(', ')}` }];
  };
}
