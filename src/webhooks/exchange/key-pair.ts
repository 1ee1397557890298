/** Ed25519 key pairs that sign deliveries as Standard Webhooks has it: `v1a`, private key `whsk_`, public key `whpk_`. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';

const privatePrefix = 'whsk_';
/** What stands before the 32 bytes of a key in PKCS #8 (RFC 8410). */
const pkcs8Start = Buffer.from('302e020100300506032b657004220420', 'hex');

export interface WebhookKeyPair {
  privateKey: string;
  publicKey: string;
}

export function newKeyPair(): WebhookKeyPair {
  const { privateKey } = generateKeyPairSync('ed25519');
  const seed = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url');
  const publicKey = Buffer.from(createPublicKey(privateKey).export({ format: 'jwk' }).x ?? '', 'base64url');
  return {
    // The specification has both parts in the private key.
    privateKey: privatePrefix + Buffer.concat([seed, publicKey]).toString('base64'),
    publicKey: `whpk_${publicKey.toString('base64')}`,
  };
}

/** Signs text; the result is in base64. */
export function createEd25519(privateKey: string): (content: string) => string {
  const seed = Buffer.from(privateKey.slice(privatePrefix.length), 'base64').subarray(0, 32);
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Start, seed]), format: 'der', type: 'pkcs8' });
  return (content) => sign(null, Buffer.from(content), key).toString('base64');
}
