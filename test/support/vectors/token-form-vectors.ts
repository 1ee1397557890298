/** Tokens that hold although they look odd, as those of real authorities do, and the bounds that still hold. */
import {
  ascii,
  boolean,
  element,
  inPlace,
  nothing,
  octets,
  oid,
  sequence,
  set,
} from '../timestamps/der-writer.ts';
import { pem, type TestAuthority, usual } from '../timestamps/test-authority.ts';
import {
  basicConstraints,
  directoryName,
  keyUsage,
  makeCertificate,
  nameOf,
  subjectKeyId,
} from '../timestamps/test-certificates.ts';
import { signatureAlgorithm, testKey } from '../timestamps/test-keys.ts';
import { accuracy, attribute, essAttribute } from '../timestamps/test-token.ts';
import type { BaseThing } from './base-batches.ts';
import { fails, holds, skips, type TokenCase, type TokenRow, tokenVector } from './token-vector.ts';
import type { NamedVector } from './vector.ts';

const rsa = { kind: 'rsa' } as const;
const hex = (digits: string) => new Uint8Array(Buffer.from(digits, 'hex'));
const genMs = Date.parse('2025-06-15T12:00:00Z');
const day = 86_400_000;
const all = ({ signer, intermediate, root }: TestAuthority) =>
  [root, intermediate, signer].map(({ certificate }) => certificate);
const signerWith = (...more: Uint8Array[]): TokenCase => ({
  authority: { signer: { extensions: [...Object.values(usual.signer(testKey('p256', 'signer'))), ...more] } },
});
const unsigned = (value: Uint8Array): TokenCase => ({
  token: () => ({ unsignedAttributes: [attribute('1.2.3', value)] }),
});

const algorithms: TokenRow[] = [
  ['by-rsa', 'An RSA key of 2,048 bits, with plain "RSA" as the algorithm.', holds, { authority: rsa }],
  [
    'by-rsa-pss',
    'RSA-PSS by an ordinary key.',
    holds,
    { authority: { ...rsa, rule: { hash: 'sha256', pss: true } } },
  ],
  ['by-rsa-sha-512', 'RSA over SHA-512.', holds, { authority: { ...rsa, rule: { hash: 'sha512' } } }],
  ['by-p384', 'P-384 over SHA-384.', holds, { authority: { kind: 'p384', rule: { hash: 'sha384' } } }],
  ['by-p256-sha-512', 'P-256 over SHA-512.', holds, { authority: { rule: { hash: 'sha512' } } }],
  [
    'by-rsa-under-p256',
    'An RSA key, certified by P-256.',
    holds,
    { authority: { signer: { key: testKey('rsa', 'signer') } } },
  ],
  [
    'algorithm-with-its-hash',
    'The algorithm names its hash.',
    holds,
    { authority: rsa, token: () => ({ signatureAlgorithm: signatureAlgorithm(rsa, { hash: 'sha256' }) }) },
  ],
  [
    'algorithm-without-parameters',
    'Plain "RSA" without parameters.',
    holds,
    { authority: rsa, token: () => ({ signatureAlgorithm: sequence(oid('1.2.840.113549.1.1.1')) }) },
  ],
  [
    'hash-without-parameters',
    'The hash without parameters.',
    holds,
    { token: () => ({ digestAlgorithms: set(sequence(oid('2.16.840.1.101.3.4.2.1'))) }) },
  ],
];

const forms: TokenRow[] = [
  [
    'attributes-unsorted',
    'Signed attributes in an order that is not that of DER, as DigiCert writes them.',
    holds,
    {
      token: () => ({
        editAttributes: ({ contentType, messageDigest, ess }) => [...ess, messageDigest, contentType],
      }),
    },
  ],
  [
    'attributes-unknown',
    'Attributes that nobody knows, signed with two values, and unsigned.',
    holds,
    {
      token: () => ({
        editAttributes: ({ contentType, messageDigest, ess }) => [
          ...[contentType, messageDigest, ...ess],
          attribute('1.2.3', octets(ascii('x')), octets(ascii('y'))),
        ],
        unsignedAttributes: [attribute('1.2.4', octets(ascii('z')))],
      }),
    },
  ],
  [
    'certificates-in-any-order',
    'Certificates in any order, some of them twice, and the root among them.',
    holds,
    { token: (authority) => ({ certificates: [...all(authority), ...all(authority)] }) },
  ],
  [
    'certificates-beside',
    'A token without certificates, which are beside it.',
    holds,
    { token: () => ({ certificates: [] }), certificates: all },
  ],
  [
    'signer-by-key',
    'The signer is named by the identifier of its key.',
    holds,
    { token: ({ signer }) => ({ signerVersion: 3, signerId: inPlace(0, subjectKeyId(signer.key)) }) },
  ],
  [
    'authority-named',
    'The authority is named as in its certificate.',
    holds,
    { token: () => ({ authority: directoryName(nameOf('Test TSA')) }) },
  ],
  [
    'ordering-false',
    'An ordering that is false, and written.',
    holds,
    { token: () => ({ ordering: boolean(false) }) },
  ],
  ['nonce', 'A nonce, which nobody asks for any more.', holds, { token: () => ({ nonce: 2n ** 63n }) }],
  [
    'serial-of-20-bytes',
    'A serial number of 20 bytes.',
    holds,
    { token: () => ({ serial: 2n ** 159n - 1n }) },
  ],
  [
    'extension-not-critical-and-written',
    'An extension that is not critical, and says so.',
    holds,
    signerWith(sequence(oid('1.2.3.4'), boolean(false), octets(nothing))),
  ],
  ['ess-v1', 'The signer is identified by SHA-1 only.', holds, { token: () => ({ ess: ['v1'] }) }],
  [
    'ess-with-the-path',
    'The token identifies the whole path.',
    holds,
    {
      token: ({ signer, intermediate }) => ({
        editAttributes: ({ contentType, messageDigest }) => [
          ...[contentType, messageDigest],
          essAttribute('v2', [signer.certificate, intermediate.certificate]),
        ],
      }),
    },
  ],
  [
    'policy-trusted',
    'The policy is one of those that are trusted.',
    holds,
    {
      token: () => ({ policy: '1.2.840.113549.7' }),
      trust: ({ root }) => ({
        tsaRoots: [pem(root.certificate)],
        tsaPolicies: ['1.2.3', '1.2.840.113549.7'],
      }),
    },
  ],
  [
    'fraction-and-accuracy',
    'Milliseconds of the time are cut off, those of the accuracy rounded up.',
    { time: '2025-06-15T12:00:01.751Z' },
    {
      token: () => ({
        encodedTime: element(0x18, ascii('20250615120000.250999999Z')),
        accuracy: accuracy(1, 500, 1),
      }),
    },
  ],
  [
    'untrusted-and-wrong',
    'Nobody trusts the authority, but the imprint is wrong all the same.',
    fails,
    { token: () => ({ imprint: new Uint8Array(32) }), trust: () => ({}) },
  ],
  ['untrusted', 'Nobody trusts the authority.', skips, { trust: () => ({}) }],
];

const bounds: TokenRow[] = [
  [
    'valid-to-the-last-second',
    'Judged in the second in which the certificate ends.',
    holds,
    { at: new Date(genMs + 3650 * day).toISOString() },
  ],
  [
    'ended-a-millisecond-ago',
    'Judged a millisecond after the certificate has ended.',
    skips,
    { at: new Date(genMs + 3650 * day + 1).toISOString() },
  ],
  ['judged-at-the-token', 'Judged at the time of the token.', holds, { at: '2025-06-15T12:00:00Z' }],
  [
    'certificate-since-1950',
    'A certificate that is valid since 1950 and until 2060, in the two forms of times.',
    holds,
    {
      authority: {
        intermediate: { notBefore: Date.parse('1950-01-01'), notAfter: Date.parse('2060-01-01') },
      },
    },
  ],
  ['path-of-8', 'Eight certificates below the root.', holds, pathOf(8)],
  ['path-of-9', 'Nine certificates below the root.', skips, pathOf(9)],
  ['der-integer-with-sign', 'An integer whose zero byte is needed.', holds, unsigned(hex('02020080'))],
  ['der-bit-string-unused', 'Seven unused bits, all zero.', holds, unsigned(hex('03020780'))],
  [
    'der-oid-of-64-bytes',
    'An object identifier of 64 bytes.',
    holds,
    unsigned(hex(`0640${'2a'.repeat(64)}`)),
  ],
  ['der-32-levels', '32 levels of elements in elements.', holds, unsigned(nested(24))],
];

function nested(levels: number): Uint8Array {
  return levels === 1 ? sequence() : sequence(nested(levels - 1));
}

/** The signer, and authorities up to the root. */
function pathOf(length: number): TokenCase {
  const times = { notBefore: genMs - day, notAfter: genMs + day * 365 };
  const names = Array.from({ length: length - 1 }, (_, at) => ({
    name: nameOf(`CA ${at}`),
    key: testKey('p256', `path ${at}`),
  }));
  const [lowest] = names;
  if (!lowest) throw new Error('a path has an authority');
  return {
    authority: { signer: { issuer: lowest.name, signedBy: lowest.key } },
    token: ({ root, signer }) => ({
      certificates: [
        signer.certificate,
        ...names.map(({ name, key }, at) => {
          const above = names[at + 1] ?? root;
          const issued = { subject: name, key, issuer: above.name, signedBy: above.key, ...times };
          return makeCertificate({ ...issued, extensions: [basicConstraints(true), keyUsage('certSign')] });
        }),
      ],
    }),
  };
}

export function tokenFormVectors(file: BaseThing): NamedVector[] {
  return [...algorithms, ...forms, ...bounds].map((row) => tokenVector(file, row));
}
