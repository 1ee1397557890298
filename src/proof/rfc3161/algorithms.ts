/** The hash and signature algorithms that count, by WebCrypto. SHA-1 may identify a certificate, but signs nothing. */
import { toHex } from '../hex.ts';
import {
  around,
  bitString,
  type Der,
  elementsOf,
  fieldsOf,
  integer,
  nullTag,
  objectId,
  oidOf,
  onlyOf,
  readDer,
  readOr,
  sequence,
  smallInteger,
  textOf,
  wholeBytes,
} from './der.ts';

export type HashName = 'SHA-256' | 'SHA-384' | 'SHA-512';

/** How a signature is made: by which kind of key, over which hash. */
interface Scheme {
  name: 'RSASSA-PKCS1-v1_5' | 'RSA-PSS' | 'ECDSA';
  hash: HashName;
  saltLength: number;
}

export interface Signature {
  /** An AlgorithmIdentifier. */
  algorithm: Der;
  signature: Uint8Array;
  /** What is signed. */
  data: Uint8Array;
  /**
   * The hash that a token's signer names beside the algorithm: both have to agree, and plain "RSA" means PKCS #1 v1.5
   * with that hash.
   */
  hash?: HashName;
}

const rsa = '1.2.840.113549.1.1.';
const hashes: readonly HashName[] = ['SHA-256', 'SHA-384', 'SHA-512'];

const digests = new WeakMap<object, Map<string, Promise<Uint8Array>>>();

/** Of the same bytes, which a token may name again and again, only once. */
export function digestOf(hash: HashName | 'SHA-1', bytes: Uint8Array): Promise<Uint8Array> {
  return once(
    digests,
    bytes,
    hash,
    async () => new Uint8Array(await crypto.subtle.digest(hash, bytes as Own)),
  );
}

/** The hash that an AlgorithmIdentifier names, if it counts. */
export function hashOf(algorithm: Der): HashName | undefined {
  const { oid, isPlain } = identifierOf(algorithm);
  return isPlain ? hashAt(oid, '2.16.840.1.101.3.4.2.', 1) : undefined;
}

/** An OBJECT IDENTIFIER with at most one parameter. */
export function isAlgorithm(der: Der): boolean {
  return identifierOf(der).oid !== '';
}

const signatures = new WeakMap<object, Map<string, Promise<boolean>>>();

/** False as well when algorithm or key are none that count, or do not fit each other. Each pair is checked only once. */
export function isSignedBy(spki: Uint8Array, signed: Signature): Promise<boolean> {
  return once(signatures, signed, textOf(spki), () => verify(spki, signed));
}

/** What was found out about something before, or now. */
function once<Answer>(
  known: WeakMap<object, Map<string, Answer>>,
  about: object,
  key: string,
  find: () => Answer,
): Answer {
  const answers = known.get(about) ?? new Map<string, Answer>();
  known.set(about, answers);
  const answer = answers.get(key) ?? find();
  answers.set(key, answer);
  return answer;
}

async function verify(spki: Uint8Array, signed: Signature): Promise<boolean> {
  const scheme = schemeOf(signed);
  const curve = keyOf(spki);
  if (scheme === undefined || curve === undefined || (scheme.name === 'ECDSA') !== (curve !== 'RSA'))
    return false;
  const { name, hash } = scheme;
  const signature =
    curve === 'RSA' ? signed.signature : fixedSize(signed.signature, curve === 'P-256' ? 32 : 48);
  if (signature === undefined) return false;
  try {
    const parameters = curve === 'RSA' ? { name, hash } : { name, namedCurve: curve };
    const key = await crypto.subtle.importKey('spki', spki as Own, parameters, false, ['verify']);
    return await crypto.subtle.verify(scheme, key, signature as Own, signed.data as Own);
  } catch {
    return false;
  }
}

/** WebCrypto takes no shared memory; there is none here. */
type Own = Uint8Array<ArrayBuffer>;

/** The scheme that an AlgorithmIdentifier names, if it counts. */
export function schemeOf({
  algorithm,
  hash: named,
}: Pick<Signature, 'algorithm' | 'hash'>): Scheme | undefined {
  const { oid, parameters, isPlain } = identifierOf(algorithm);
  const scheme = (name: Scheme['name'], hash: HashName | undefined, saltLength = 0) =>
    hash === undefined || (named ?? hash) !== hash ? undefined : { name, hash, saltLength };
  if (oid === `${rsa}10`) {
    const pss = parameters && readPss(parameters);
    return pss && scheme('RSA-PSS', pss.hash, pss.saltLength);
  }
  const pkcs1 = oid === `${rsa}1` ? named : hashAt(oid, rsa, 11);
  if (pkcs1 !== undefined) return isPlain ? scheme('RSASSA-PKCS1-v1_5', pkcs1) : undefined;
  return parameters ? undefined : scheme('ECDSA', hashAt(oid, '1.2.840.10045.4.3.', 2));
}

/** RSA of 2,048 to 8,192 bits, P-256 or P-384; undefined for any other SubjectPublicKeyInfo. */
export function keyOf(spki: Uint8Array): 'RSA' | 'P-256' | 'P-384' | undefined {
  return readOr(undefined, () => {
    const [algorithm, bits] = fieldsOf(readDer(spki, ''), '', [sequence, bitString]);
    const { oid, parameters } = identifierOf(algorithm);
    const key = wholeBytes(bits, '');
    if (oid === `${rsa}1`) return parameters?.tag === nullTag && isRsaKey(key) ? 'RSA' : undefined;
    if (oid !== '1.2.840.10045.2.1' || parameters?.tag !== objectId) return undefined;
    const curve = curves.find(({ id }) => id === oidOf(parameters));
    return curve && isPoint(key, curve) ? curve.name : undefined;
  });
}

/** y² = x³ - 3x + b, modulo p. */
const curves = [
  {
    name: 'P-256',
    id: '1.2.840.10045.3.1.7',
    size: 32,
    p: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
    b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
  },
  {
    name: 'P-384',
    id: '1.3.132.0.34',
    size: 48,
    p: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
    b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
  },
] as const;

/** Uncompressed, and on the curve. */
function isPoint(key: Uint8Array, { size, p, b }: (typeof curves)[number]): boolean {
  if (key[0] !== 4 || key.length !== 2 * size + 1) return false;
  const x = BigInt(toHex(key.subarray(1, 1 + size)));
  const y = BigInt(toHex(key.subarray(1 + size)));
  return x < p && y < p && (y * y - x * x * x + 3n * x - b) % p === 0n;
}

/** The hashes have numbers in a row, from `first` on. */
function hashAt(oid: string, prefix: string, first: number): HashName | undefined {
  return hashes.find((_, at) => oid === `${prefix}${first + at}`);
}

/** `isPlain`: without parameters or with an empty one, which mean the same for hashes and RSA. */
function identifierOf(algorithm: Der): { oid: string; parameters: Der | undefined; isPlain: boolean } {
  const [id, parameters, more] = algorithm.tag === sequence ? elementsOf(algorithm) : [];
  const oid = id?.tag === objectId && more === undefined ? oidOf(id) : '';
  return { oid, parameters, isPlain: parameters === undefined || parameters.tag === nullTag };
}

/** RFC 4055: the hash, MGF1 with the same hash, and the length of the salt; the defaults of the first two mean SHA-1. */
function readPss(parameters: Der): { hash: HashName | undefined; saltLength: number } | undefined {
  return readOr(undefined, () => {
    const [hashed, masked, salted] = fieldsOf(parameters, '', [around(0), around(1), [around(2)]]);
    const hash = hashOf(onlyOf(hashed, ''));
    const mask = identifierOf(onlyOf(masked, ''));
    if (mask.oid !== `${rsa}8` || !mask.parameters || hashOf(mask.parameters) !== hash) return undefined;
    const [salt] = salted === undefined ? [] : fieldsOf(salted, '', [integer], around(2));
    return { hash, saltLength: salt === undefined ? 20 : smallInteger(salt, '') };
  });
}

/** An odd modulus, and an odd exponent from 3 to 2³¹ - 1. */
function isRsaKey(bytes: Uint8Array): boolean {
  const [{ value: modulus }, exponent] = fieldsOf(readDer(bytes, ''), '', [integer, integer]);
  const [first = 128] = modulus;
  // A zero comes first only where the highest bit is set.
  const bits = first === 0 ? 8 * (modulus.length - 1) : 8 * modulus.length - (Math.clz32(first) - 24);
  const power = smallInteger(exponent, '');
  const isOdd = ((modulus.at(-1) ?? 0) & 1) === 1;
  return first < 128 && isOdd && bits >= 2048 && bits <= 8192 && power > 1 && power % 2 === 1;
}

/** WebCrypto takes r and s one after the other, each as long as a coordinate. */
function fixedSize(signature: Uint8Array, size: number): Uint8Array | undefined {
  return readOr(undefined, () => {
    const raw = new Uint8Array(2 * size);
    const numbers = fieldsOf(readDer(signature, ''), '', [integer, integer]);
    for (const [at, { value }] of numbers.entries()) {
      const number = value[0] === 0 ? value.subarray(1) : value;
      if ((value[0] ?? 0) > 127 || number.length > size) return undefined;
      raw.set(number, (at + 1) * size - number.length);
    }
    return raw;
  });
}
