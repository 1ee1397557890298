/** What authenticators sign for vectors: assertions by passkeys with ES256 and RS256, whole or with one thing wrong. */
import { createHash, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import type { Hex } from 'viem';
import { fromHex, toHex } from '../../../src/proof/hex.ts';
import type { ByPasskey } from '../../../src/proof/signoff/signed-with.ts';
import type { SignoffDocument } from '../../../src/proof/signoff/signoff-document.ts';
import { signoffDigest, signoffMessage } from '../../../src/proof/signoff/signoff-message.ts';
import { fixed } from '../fixtures/proof-fixture.ts';

export const rpId = 'holdfast.example.com';

export type Unsigned = Omit<SignoffDocument, 'signature' | 'signedWith'>;

export interface Passkey {
  credentialId: Hex;
  publicKey: Hex;
  sign(bytes: Uint8Array): Uint8Array;
}

export const es256 = ecPasskey(0x45);

/** Always the same bytes for the same number. */
export function ecPasskey(seed: number): Passkey {
  const secret = fromHex(fixed(seed));
  const key = createPublicKey({ key: ecJwk(p256.getPublicKey(secret, false)), format: 'jwk' });
  return {
    credentialId: `0x01020304050607${seed.toString(16)}`,
    publicKey: toHex(key.export({ format: 'der', type: 'spki' })),
    sign: (bytes) => p256.sign(bytes, secret, { format: 'der', lowS: false }),
  };
}

function ecJwk(point: Uint8Array) {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
  return { kty: 'EC', crv: 'P-256', x: text(point.subarray(1, 33)), y: text(point.subarray(33)) };
}

export function rs256(): Passkey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    credentialId: '0x0102030405060708',
    publicKey: toHex(publicKey.export({ format: 'der', type: 'spki' })),
    sign: (bytes) => sign('sha256', bytes, privateKey),
  };
}

/** No passkey that counts. */
export function p384(): Passkey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  return {
    credentialId: '0x0102030405060708',
    publicKey: toHex(publicKey.export({ format: 'der', type: 'spki' })),
    sign: (bytes) => sign('sha256', bytes, privateKey),
  };
}

export interface Made {
  challenge?: Uint8Array;
  origin?: unknown;
  type?: string;
  crossOrigin?: unknown;
  flags?: number;
  rpId?: string;
  rpIdHashed?: string;
  /** Instead of the usual client data. */
  clientDataJSON?: string;
  /** How many bytes the counter has; 4 unless said otherwise. */
  counterBytes?: number;
  /** Behind the 37 bytes. */
  surplus?: number[];
  registration?: { number: number; hash: Hex };
}

/** A sign-off by a passkey. */
export function assertion(passkey: Passkey, document: Unsigned, made: Made = {}): SignoffDocument {
  const digest = signoffDigest(signoffMessage({ ...document, signedWith: { method: 'passkey' } }));
  return { ...document, ...asserted(passkey, digest, made) };
}

/** The members of a document by which a passkey signs this digest. */
export function asserted(
  passkey: Passkey,
  digest: Uint8Array,
  made: Made = {},
): { signedWith: ByPasskey; signature: Hex } {
  const host = made.rpId ?? rpId;
  const clientDataJSON =
    made.clientDataJSON ??
    JSON.stringify({
      type: made.type ?? 'webauthn.get',
      challenge: Buffer.from(made.challenge ?? digest).toString('base64url'),
      origin: made.origin ?? `https://${host}`,
      ...(made.crossOrigin !== undefined && { crossOrigin: made.crossOrigin }),
    });
  const sha256 = (data: string) => createHash('sha256').update(data).digest();
  const authenticatorData = Buffer.concat([
    sha256(made.rpIdHashed ?? host),
    Buffer.from([
      made.flags ?? 0x05,
      ...[0, 0, 0, 7].slice(-(made.counterBytes ?? 4)),
      ...(made.surplus ?? []),
    ]),
  ]);
  const { credentialId, publicKey } = passkey;
  const signature = passkey.sign(Buffer.concat([authenticatorData, sha256(clientDataJSON)]));
  return {
    signedWith: {
      method: 'passkey',
      registration: made.registration ?? { number: 1, hash: fixed(0xcd) },
      ...{ credentialId, publicKey, rpId: host },
      authenticatorData: toHex(authenticatorData),
      clientDataJSON,
    },
    signature: toHex(signature),
  };
}
