/**
 * Certificates that are issued by RSA keys of odd sizes and exponents. Nobody can make keys of all these kinds with ordinary
 * tools, so that some of them are products of Mersenne primes, and everybody knows their secrets.
 */
import { generateKeyPairSync } from 'node:crypto';
import { bits, integer, join, nothing, nullValue, octets, oid, sequence } from '../timestamps/der-writer.ts';
import { type TestAuthority, usual } from '../timestamps/test-authority.ts';
import { makeCertificate } from '../timestamps/test-certificates.ts';
import { digest, signatureAlgorithm, type TestKey, testKey } from '../timestamps/test-keys.ts';
import { essAttribute } from '../timestamps/test-token.ts';
import { holds, skips, type TokenCase, type TokenRow } from './token-vector.ts';

const rsaKey = '1.2.840.113549.1.1.1';

/** Of 2,203 bits unless said otherwise. */
export const rsaKeyRows: TokenRow[] = [
  ['rsa-exponent-3', 'A key with the exponent 3.', holds, issuedBy(generated(2048, 3))],
  [
    'rsa-exponent-largest',
    'A key with the exponent 2^31 - 1.',
    holds,
    issuedBy(generated(2048, 2 ** 31 - 1)),
  ],
  [
    'rsa-exponent-too-large',
    'A key with an exponent beyond 2^31.',
    skips,
    issuedBy(generated(2048, 2 ** 31 + 11)),
  ],
  [
    'rsa-exponent-1',
    'A key with the exponent 1: everybody can sign with it.',
    skips,
    issuedByNumbers({ primes: [2203], exponent: 1n }),
  ],
  [
    'rsa-exponent-2',
    'A key with an even exponent.',
    skips,
    issuedByNumbers({ primes: [2203], exponent: 2n }),
  ],
  [
    'rsa-exponent-4',
    'A key with an even exponent that is not too small.',
    skips,
    issuedByNumbers({ primes: [2203], exponent: 4n }),
  ],
  [
    'rsa-of-2203-bits',
    'A key of an odd size.',
    holds,
    issuedByNumbers({ primes: [2203], exponent: 65_537n }),
  ],
  ['rsa-of-2047-bits', 'A key of 2,047 bits.', skips, issuedBy(generated(2047, 65_537))],
  ['rsa-of-2040-bits', 'A key of 2,040 bits.', skips, issuedBy(generated(2040, 65_537))],
  [
    'rsa-of-8192-bits',
    'A key of 8,192 bits.',
    holds,
    issuedByNumbers({ primes: [4423, 3217, 521, 31], exponent: 65_537n }),
  ],
  [
    'rsa-of-8193-bits',
    'A key of 8,193 bits.',
    skips,
    issuedByNumbers({ primes: [4423, 3217, 521, 19, 13], exponent: 65_537n }),
  ],
  [
    'rsa-even',
    'A key with an even modulus.',
    skips,
    issuedByNumbers({ primes: [2203], exponent: 65_537n, isEven: true }),
  ],
  [
    'rsa-negative',
    'A key whose modulus is negative as written.',
    skips,
    issuedByNumbers({ primes: [4423, 3217, 521, 31], exponent: 65_537n, isNegative: true }),
  ],
  [
    'rsa-digest-without-parameters',
    'A signature in which the hash is named without NULL.',
    skips,
    issuedByNumbers({ primes: [2203], exponent: 65_537n, hashParameters: nothing }),
  ],
  [
    'rsa-without-parameters',
    'A key without the parameters that RSA has.',
    skips,
    issuedByNumbers({ primes: [2203], exponent: 65_537n, parameters: nothing }),
  ],
  [
    'rsa-key-with-a-parameter',
    'A key whose parameters are not NULL.',
    skips,
    issuedByNumbers({ primes: [2203], exponent: 65_537n, parameters: integer(1) }),
  ],
];

function generated(modulusLength: number, publicExponent: number): TestKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength, publicExponent });
  return { kind: 'rsa', privateKey, spki: new Uint8Array(publicKey.export({ type: 'spki', format: 'der' })) };
}

/** The key is that of the intermediate. */
function issuedBy(key: TestKey): TokenCase {
  return { authority: { intermediate: { key }, signer: { signedBy: key } } };
}

interface Numbers {
  /** The exponents of Mersenne primes, whose product is the modulus. */
  primes: number[];
  exponent: bigint;
  parameters?: Uint8Array;
  /** Of the hash, in the signature. */
  hashParameters?: Uint8Array;
  isNegative?: boolean;
  /** The modulus is twice the product. */
  isEven?: boolean;
}

function modulusOf({ primes, isEven = false }: Numbers): bigint {
  return primes.reduce((product, prime) => product * (2n ** BigInt(prime) - 1n), isEven ? 2n : 1n);
}

/** In the form of certificates. */
export function spkiOf(numbers: Numbers): Uint8Array {
  const { exponent, parameters = nullValue, isNegative = false } = numbers;
  const written = integer(modulusOf(numbers));
  // A positive number whose first bit is set has a zero before it.
  const bare = join(Uint8Array.of(2, 0x82, 4, 0), written.subarray(5));
  const key = sequence(isNegative ? bare : written, integer(exponent));
  return sequence(sequence(oid(rsaKey), parameters), bits(key));
}

function issuedByNumbers(numbers: Numbers): TokenCase {
  const modulus = modulusOf(numbers);
  return {
    authority: { intermediate: { spki: spkiOf(numbers) } },
    token: (authority) => {
      const signer = signedWith(numbers, modulus, authority);
      return {
        certificates: [signer, authority.intermediate.certificate],
        editAttributes: (all) => [all.contentType, all.messageDigest, essAttribute('v2', [signer])],
      };
    },
  };
}

/** The certificate of the signer, issued by the key of these numbers; it ends when its signature has a solution. */
function signedWith(numbers: Numbers, modulus: bigint, { signer, intermediate }: TestAuthority): Uint8Array {
  const algorithm = signatureAlgorithm({ kind: 'rsa' }, { hash: 'sha256' });
  const size = Math.ceil(modulus.toString(16).length / 2);
  for (let notAfter = Date.parse('2030-01-01'); ; notAfter += 1000) {
    const unsigned = makeCertificate({
      ...{ subject: signer.name, issuer: intermediate.name, serial: signer.serial, key: signer.key },
      ...{ signedBy: testKey('p256', 'intermediate'), algorithm, notBefore: Date.parse('2025-01-01') },
      ...{ notAfter, extensions: Object.values(usual.signer(signer.key)) },
    });
    // Without the outer sequence, whose length has two bytes; so has that of what is signed.
    const signed = unsigned.subarray(4, 8 + (unsigned[6] ?? 0) * 256 + (unsigned[7] ?? 0));
    const info = digestInfo(digest('sha256', signed), numbers.hashParameters);
    const root = rootOf(padded(info, size), numbers, modulus);
    if (root === null) continue;
    const signature = Buffer.from(root.toString(16).padStart(2 * size, '0'), 'hex');
    return sequence(signed, algorithm, bits(signature));
  }
}

function digestInfo(hash: Uint8Array, parameters: Uint8Array = nullValue): Uint8Array {
  return sequence(sequence(oid('2.16.840.1.101.3.4.2.1'), parameters), octets(hash));
}

/** PKCS #1 v1.5, as a number. */
function padded(info: Uint8Array, size: number): bigint {
  const filling = new Uint8Array(size - 3 - info.length).fill(0xff);
  const bytes = join(Uint8Array.of(0, 1), filling, Uint8Array.of(0), info);
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

/** The number whose power is this one; null if there is none. */
function rootOf(number: bigint, { primes, exponent }: Numbers, modulus: bigint): bigint | null {
  if (exponent === 1n) return number;
  if (exponent % 2n === 0n) {
    // The modulus is one prime, and leaves 3 when divided by 4: the root of a square is a square itself.
    const root = power(number, (modulus + 1n) / 4n, modulus);
    if ((root * root) % modulus !== number) return null;
    return exponent === 2n ? root : rootOf(root, { primes, exponent: exponent / 2n }, modulus);
  }
  const order = primes.reduce((product, prime) => product * (2n ** BigInt(prime) - 2n), 1n);
  return power(number, inverse(exponent, order), modulus);
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  for (const digit of exponent.toString(2)) {
    result = (result * result) % modulus;
    if (digit === '1') result = (result * base) % modulus;
  }
  return result;
}

function inverse(value: bigint, modulus: bigint): bigint {
  let [low, high] = [value, modulus];
  let [result, next] = [1n, 0n];
  while (low > 1n) {
    const times = high / low;
    [low, high] = [high - low * times, low];
    [result, next] = [next - result * times, result];
  }
  return ((result % modulus) + modulus) % modulus;
}
