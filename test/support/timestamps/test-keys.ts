/** Keys for test authorities, and signatures by every algorithm that a verifier meets. */
import { constants, createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { around, type Bytes, integer, nullValue, oid, sequence } from './der-writer.ts';

export type KeyKind = 'rsa' | 'p256' | 'p384' | 'p521' | 'rsa1024';
export type Hash = 'sha1' | 'sha256' | 'sha384' | 'sha512';

export interface TestKey {
  kind: KeyKind;
  privateKey: KeyObject;
  /** SubjectPublicKeyInfo. */
  spki: Bytes;
}

/** How something is signed: PKCS #1 v1.5 or PSS with RSA keys, ECDSA with others. */
export interface SigningRule {
  hash: Hash;
  pss?: boolean;
}

const made = new Map<string, TestKey>();

/** The same key for the same kind and name: RSA keys take long to make. */
export function testKey(kind: KeyKind, name = ''): TestKey {
  const known = made.get(`${kind} ${name}`);
  if (known) return known;
  const { privateKey, publicKey } =
    kind === 'rsa' || kind === 'rsa1024'
      ? generateKeyPairSync('rsa', { modulusLength: kind === 'rsa' ? 2048 : 1024 })
      : generateKeyPairSync('ec', { namedCurve: { p256: 'P-256', p384: 'P-384', p521: 'P-521' }[kind] });
  const key = { kind, privateKey, spki: new Uint8Array(publicKey.export({ type: 'spki', format: 'der' })) };
  made.set(`${kind} ${name}`, key);
  return key;
}

export function signWith({ privateKey }: TestKey, { hash, pss }: SigningRule, data: Bytes): Bytes {
  if (!pss) return new Uint8Array(sign(hash, data, privateKey));
  const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: digest(hash, data).length };
  return new Uint8Array(sign(hash, data, { key: privateKey, ...padding }));
}

export function digest(hash: Hash, data: Bytes): Bytes {
  return new Uint8Array(createHash(hash).update(data).digest());
}

const hashOids: Record<Hash, string> = {
  sha1: '1.3.14.3.2.26',
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
};

export const hashAlgorithm = (hash: Hash): Bytes => sequence(oid(hashOids[hash]), nullValue);

/** As in certificates and lists, and in tokens that name the hash once more. */
export function signatureAlgorithm({ kind }: Pick<TestKey, 'kind'>, { hash, pss }: SigningRule): Bytes {
  const number = ['sha256', 'sha384', 'sha512'].indexOf(hash);
  if (!kind.startsWith('rsa'))
    return sequence(oid(`1.2.840.10045.4.${number < 0 ? '1' : `3.${number + 2}`}`));
  if (!pss) return sequence(oid(`1.2.840.113549.1.1.${number < 0 ? 5 : number + 11}`), nullValue);
  const mask = sequence(oid('1.2.840.113549.1.1.8'), hashAlgorithm(hash));
  const salt = integer(digest(hash, new Uint8Array()).length);
  const parameters = sequence(around(0, hashAlgorithm(hash)), around(1, mask), around(2, salt));
  return sequence(oid('1.2.840.113549.1.1.10'), parameters);
}

/** "RSA", without a hash, as most authorities write it in tokens. */
export const plainRsa: Bytes = sequence(oid('1.2.840.113549.1.1.1'), nullValue);
