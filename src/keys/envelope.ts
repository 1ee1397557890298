/** Envelope encryption: each secret is encrypted with its own data key, and that key is wrapped with a master key. */
import { createCipheriv, createDecipheriv, createSecretKey } from 'node:crypto';
import { smallRandomBytes } from '../runtime/random.ts';

/** Identifies a secret and its owner; authenticated in both layers, so that a row moved elsewhere does not open. */
export interface SecretRef {
  workspaceId: string;
  purpose: string;
  id: string;
}

export interface Sealed {
  master_version: number;
  wrapped_data_key: Buffer;
  ciphertext: Buffer;
}

export interface MasterKey {
  version: number;
  key: Buffer;
}

export function seal(master: MasterKey, ref: SecretRef, plaintext: Buffer): Sealed {
  const dataKey = smallRandomBytes(keyBytes);
  return {
    master_version: master.version,
    wrapped_data_key: encrypt(master.key, dataKey, wrapContext(ref, master.version)),
    ciphertext: encrypt(dataKey, plaintext, secretContext(ref)),
  };
}

export function unseal(master: MasterKey, ref: SecretRef, sealed: Sealed): Buffer {
  return decrypt(unwrap(master, ref, sealed), sealed.ciphertext, secretContext(ref));
}

/** Rewraps the data key with another master key; the secret itself is not touched. */
export function rewrap(from: MasterKey, to: MasterKey, ref: SecretRef, sealed: Sealed): Buffer {
  return encrypt(to.key, unwrap(from, ref, sealed), wrapContext(ref, to.version));
}

/** A value that only the same master key with the same version can decrypt. */
export function makeCheckValue(master: MasterKey): Buffer {
  return encrypt(master.key, Buffer.alloc(32), checkContext(master.version));
}

export function fitsCheckValue(master: MasterKey, checkValue: Buffer): boolean {
  try {
    decrypt(master.key, checkValue, checkContext(master.version));
    return true;
  } catch {
    return false;
  }
}

function unwrap(master: MasterKey, ref: SecretRef, sealed: Sealed): Buffer {
  return decrypt(master.key, sealed.wrapped_data_key, wrapContext(ref, master.version));
}

const secretContext = ({ workspaceId, purpose, id }: SecretRef): string =>
  JSON.stringify(['holdfast/secret@1', workspaceId, purpose, id]);
const wrapContext = ({ workspaceId, purpose, id }: SecretRef, version: number): string =>
  JSON.stringify(['holdfast/data-key@1', workspaceId, purpose, id, version]);
const checkContext = (version: number): string => JSON.stringify(['holdfast/master-key-check@1', version]);

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** AES-256-GCM; returns nonce, ciphertext and tag in one buffer. A key object takes 9 µs here, raw bytes 44 µs. */
function encrypt(key: Buffer, plaintext: Buffer, context: string): Buffer {
  const nonce = smallRandomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', createSecretKey(key), nonce);
  cipher.setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Throws if key, bytes or context differ from those of the encryption. */
function decrypt(key: Buffer, sealed: Buffer, context: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', createSecretKey(key), sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
}
