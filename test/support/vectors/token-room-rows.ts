/** Where standards leave room, or verifiers differ: what a token may have all the same, and what not. */
import type { Hex } from 'viem';
import {
  around,
  ascii,
  type Bytes,
  inPlace,
  integer,
  join,
  nothing,
  sequence,
} from '../timestamps/der-writer.ts';
import { crlAddresses, type TestAuthority, usual } from '../timestamps/test-authority.ts';
import {
  basicConstraints,
  directoryName,
  extension,
  issuingDistributionPoint,
  keyUsage,
  makeCertificate,
  nameOf,
  url,
} from '../timestamps/test-certificates.ts';
import { signatureAlgorithm, testKey } from '../timestamps/test-keys.ts';
import { attribute, essAttribute } from '../timestamps/test-token.ts';
import { imprintOf } from './clocks.ts';
import { partsOf, withChange } from './der-edit.ts';
import { fails, holds, skips, type TokenCase, type TokenRow } from './token-vector.ts';

const genMs = Date.parse('2025-06-15T12:00:00Z');
const day = 86_400_000;
const rsa = { kind: 'rsa' } as const;
const unreadable = ascii('no DER');
const signerWith = (changes: Record<string, Bytes>) => ({
  signer: { extensions: Object.values({ ...usual.signer(testKey('p256', 'signer')), ...changes }) },
});
const alternatives = { names: extension('2.5.29.17', unreadable) };

const forms: TokenRow[] = [
  [
    'certificate-of-version-1-written',
    'A certificate that says that it is of version 1, which is the default.',
    fails,
    { authority: { intermediate: { version: around(0, integer(0)) } } },
  ],
  [
    'certificate-of-version-1-with-extensions',
    'A certificate of version 1 that has extensions.',
    holds,
    { authority: { intermediate: { version: nothing } } },
  ],
  [
    'list-of-version-1-written',
    'A list that says that it is of version 1, which is the default.',
    fails,
    { crls: ({ crl }) => [crl('root', { version: 0 })] },
  ],
  [
    'list-that-names-two-algorithms',
    'A list names another algorithm outside than inside.',
    fails,
    {
      crls: ({ crl }) => [
        withChange(crl('root'), [1], () => signatureAlgorithm({ kind: 'p256' }, { hash: 'sha384' })),
      ],
    },
  ],
  [
    'signer-for-non-repudiation',
    'The key of the signer is for non-repudiation.',
    holds,
    { authority: signerWith({ usage: keyUsage('nonRepudiation') }) },
  ],
  [
    'signer-for-signatures-and-non-repudiation',
    'The key of the signer is for signatures and for non-repudiation.',
    holds,
    { authority: signerWith({ usage: keyUsage('digitalSignature', 'nonRepudiation') }) },
  ],
  ['extensions-none', 'A list of extensions without any.', holds, { token: () => ({ extensions: [] }) }],
  [
    'attribute-without-values',
    'An attribute that nobody knows, without values.',
    holds,
    {
      token: () => ({
        editAttributes: ({ contentType, messageDigest, ess }) => [
          ...[contentType, messageDigest, ...ess, attribute('1.2.3')],
        ],
      }),
    },
  ],
  [
    'alternative-names-unreadable',
    'The other names of the authority cannot be read, and nobody needs them.',
    holds,
    { authority: signerWith(alternatives) },
  ],
  [
    'alternative-names-unreadable-and-named',
    'The other names of the authority cannot be read, and the token names one.',
    fails,
    { authority: signerWith(alternatives), token: () => ({ authority: directoryName(nameOf('Other')) }) },
  ],
  [
    'revocation-names-unreadable',
    'A list with a scope revokes the signer, but where its lists are published cannot be read.',
    holds,
    {
      authority: signerWith({ crl: extension('2.5.29.31', unreadable) }),
      crls: ({ crl }) => [
        crl('intermediate', {
          revoked: [{ serial: 3, date: genMs }],
          extensions: [issuingDistributionPoint({ addresses: [crlAddresses.signer] })],
        }),
      ],
    },
  ],
  [
    'revocation-names-of-another-kind',
    'A list with a scope revokes the signer, but the name of where its lists are published is of no known kind.',
    holds,
    {
      authority: signerWith({
        crl: extension('2.5.29.31', sequence(sequence(around(0, around(2, url(crlAddresses.signer)))))),
      }),
      crls: ({ crl }) => [
        crl('intermediate', {
          revoked: [{ serial: 3, date: genMs }],
          extensions: [issuingDistributionPoint({ addresses: [crlAddresses.signer] })],
        }),
      ],
    },
  ],
];

const signatures: TokenRow[] = [
  [
    'by-p384-sha-256',
    'P-384 over SHA-256.',
    holds,
    { authority: { kind: 'p384', rule: { hash: 'sha256' } } },
  ],
  [
    'rsa-signature-too-long',
    'A signature by RSA with a zero before it.',
    fails,
    {
      authority: rsa,
      token: () => ({ editSignature: (signature) => join(Uint8Array.of(0), signature) }),
    },
  ],
  [
    'rsa-signature-too-short',
    'A signature by RSA that begins with a zero, which is left out.',
    fails,
    {
      authority: rsa,
      // Another serial number makes another signature.
      token: (authority, root) => ({ serial: shortSerial(authority, root), editSignature: withoutZero }),
    },
  ],
  [
    'pss-mask-without-a-hash',
    'The mask of RSA-PSS names no hash.',
    fails,
    {
      authority: { kind: 'rsa', rule: { hash: 'sha256', pss: true } },
      token: () => ({
        signatureAlgorithm: withChange(
          signatureAlgorithm({ kind: 'rsa' }, { hash: 'sha256', pss: true }),
          [1, 1, 0],
          (mask) => sequence(partsOf(mask)[0] ?? nothing),
        ),
      }),
    },
  ],
];

const paths: TokenRow[] = [
  [
    'ess-lists-that-disagree',
    'Two ESS attributes identify the signer and one more certificate each, but not the same.',
    skips,
    {
      token: ({ signer, intermediate, root }) => ({
        editAttributes: ({ contentType, messageDigest }) => [
          ...[contentType, messageDigest],
          essAttribute('v1', [signer.certificate, root.certificate]),
          essAttribute('v2', [signer.certificate, intermediate.certificate]),
        ],
      }),
    },
  ],
  [
    'path-with-a-self-issued-authority',
    'An authority that issued itself counts towards the length of the path, which is longer than allowed.',
    fails,
    selfIssued(0),
  ],
  [
    'path-with-a-self-issued-authority-allowed',
    'An authority that issued itself counts towards the length of the path, which is as long as allowed.',
    holds,
    selfIssued(1),
  ],
  [
    'revocation-by-a-list-about-users',
    'A list about users only, which says nothing of where it is published, revokes the signer.',
    fails,
    {
      crls: ({ crl }) => [
        crl('intermediate', {
          revoked: [{ serial: 3, date: genMs }],
          extensions: [issuingDistributionPoint({ more: [inPlace(1, Uint8Array.of(0xff))] })],
        }),
      ],
    },
  ],
  [
    'revocation-by-a-root-without-the-usage',
    'The root may not sign lists by its own certificate, but of a root that does not count.',
    fails,
    {
      authority: { root: { extensions: [basicConstraints(true), keyUsage('certSign')] } },
      crls: ({ crl }) => [crl('root', { revoked: [{ serial: 2, date: genMs }] })],
    },
  ],
];

export const tokenRoomRows: TokenRow[] = [...forms, ...signatures, ...paths];

/** The authority below the root has two keys, of which the first certified the second. */
function selfIssued(pathLength: number): TokenCase {
  const name = nameOf('Test TSA CA');
  const key = testKey('p256', 'next');
  const certified = makeCertificate({
    ...{ subject: name, issuer: name, key, signedBy: testKey('p256', 'intermediate'), serial: 9 },
    ...{ notBefore: genMs - day, notAfter: genMs + 365 * day },
    extensions: [basicConstraints(true), keyUsage('certSign')],
  });
  return {
    authority: {
      intermediate: { extensions: [basicConstraints(true, pathLength), keyUsage('certSign', 'crlSign')] },
      signer: { signedBy: key },
    },
    token: ({ signer, intermediate }) => ({
      certificates: [signer.certificate, certified, intermediate.certificate],
    }),
  };
}

function withoutZero(signature: Bytes): Bytes {
  return signature[0] === 0 ? signature.subarray(1) : signature;
}

/** With which the signature of the token begins with a zero: one of 256 does. */
function shortSerial({ stamp }: TestAuthority, root: Hex): bigint {
  for (let serial = 1n; ; serial += 1n) {
    let isShort = false;
    const editSignature = (signature: Bytes) => {
      isShort = signature[0] === 0;
      return signature;
    };
    stamp({ imprint: imprintOf(root), serial, editSignature });
    if (isShort) return serial;
  }
}
