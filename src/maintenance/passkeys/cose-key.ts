/** The public key of a passkey as a SubjectPublicKeyInfo, which every verifier reads. */
import { createPublicKey } from 'node:crypto';

/** Names in COSE (RFC 9052 and 9053). */
const cose = { kty: 1, alg: 3, crv: -1, x: -2, y: -3, n: -1, e: -2 };
export const algorithms = { es256: -7, rs256: -257 };

/** Null for other keys than those of ES256 and RS256. */
export async function spkiOf(publicKey: Uint8Array): Promise<Buffer | null> {
  const { isoCBOR } = await import('@simplewebauthn/server/helpers');
  const key = isoCBOR.decodeFirst<Map<number, number | Uint8Array>>(new Uint8Array(publicKey));
  const text = (name: number) => Buffer.from(key.get(name) as Uint8Array).toString('base64url');
  const jwk =
    key.get(cose.alg) === algorithms.es256 && key.get(cose.crv) === 1
      ? { kty: 'EC', crv: 'P-256', x: text(cose.x), y: text(cose.y) }
      : key.get(cose.alg) === algorithms.rs256
        ? { kty: 'RSA', n: text(cose.n), e: text(cose.e) }
        : null;
  if (jwk === null) return null;
  return createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'der', type: 'spki' });
}
