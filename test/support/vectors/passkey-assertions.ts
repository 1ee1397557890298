/** What authenticators sign for vectors: assertions by passkeys with ES256 and RS256, whole or with one thing wrong. */
import { createHash, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import type { Hex } from 'viem';
import { fromHex, toHex } from '../../../src/proof/hex.ts';
import { signoffDigest } from '../../../src/proof/signoff/signoff-digest.ts';
import { fieldsOf, type SignoffDocument } from '../../../src/proof/signoff/signoff-document.ts';
import { fixed } from '../fixtures/proof-fixture.ts';

export const rpId = 'holdfast.example.com';

export type Unsigned = Omit<SignoffDocument, 'signature' | 'signedWith'>;

interface Passkey {
  publicKey: Hex;
  sign(bytes: Uint8Array): Uint8Array;
}

const ecSecret = fromHex(fixed(0x45));
export const es256: Passkey = {
  publicKey: toHex(
    createPublicKey({ key: ecJwk(p256.getPublicKey(ecSecret, false)), format: 'jwk' }).export({
      format: 'der',
      type: 'spki',
    }),
  ),
  sign: (bytes) => p256.sign(bytes, ecSecret, { format: 'der', lowS: false }),
};

function ecJwk(point: Uint8Array) {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
  return { kty: 'EC', crv: 'P-256', x: text(point.subarray(1, 33)), y: text(point.subarray(33)) };
}

export function rs256(): Passkey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    publicKey: toHex(publicKey.export({ format: 'der', type: 'spki' })),
    sign: (bytes) => sign('sha256', bytes, privateKey),
  };
}

interface Made {
  challenge?: Uint8Array;
  origin?: string;
  type?: string;
  crossOrigin?: boolean;
  flags?: number;
  rpIdHashed?: string;
  /** Instead of the usual client data. */
  clientDataJSON?: string;
  /** Behind the 37 bytes. */
  surplus?: number[];
}

export function assertion(passkey: Passkey, document: Unsigned, made: Made = {}): SignoffDocument {
  const challenge = made.challenge ?? signoffDigest(fieldsOf(document));
  const clientDataJSON =
    made.clientDataJSON ??
    JSON.stringify({
      type: made.type ?? 'webauthn.get',
      challenge: Buffer.from(challenge).toString('base64url'),
      origin: made.origin ?? `https://${rpId}`,
      ...(made.crossOrigin !== undefined && { crossOrigin: made.crossOrigin }),
    });
  const sha256 = (data: string) => createHash('sha256').update(data).digest();
  const authenticatorData = Buffer.concat([
    sha256(made.rpIdHashed ?? rpId),
    Buffer.from([made.flags ?? 0x05, 0, 0, 0, 7, ...(made.surplus ?? [])]),
  ]);
  const signature = passkey.sign(Buffer.concat([authenticatorData, sha256(clientDataJSON)]));
  return {
    ...document,
    signedWith: {
      method: 'passkey',
      registration: { number: 1, hash: fixed(0xcd) },
      credentialId: '0x0102030405060708',
      publicKey: passkey.publicKey,
      rpId,
      authenticatorData: toHex(authenticatorData),
      clientDataJSON,
    },
    signature: toHex(signature),
  };
}
