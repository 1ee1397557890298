/** One element too many at the end of each structure of a token: where nothing else is wrong, and what is signed is signed with it. */
import { type Bytes, bits, integer, nullValue, octets, sequence } from '../timestamps/der-writer.ts';
import { crlAddresses, type TestAuthority, usual } from '../timestamps/test-authority.ts';
import {
  basicConstraints,
  crlDistributionPoints,
  directoryName,
  issuingDistributionPoint,
} from '../timestamps/test-certificates.ts';
import { digest, testKey } from '../timestamps/test-keys.ts';
import {
  type Attributes,
  accuracy,
  attribute,
  essAttribute,
  makeInfo,
  oids,
} from '../timestamps/test-token.ts';
import { imprintOf } from './clocks.ts';
import { contentOf, signedAgain, withChange, withMore } from './der-edit.ts';
import { fails, holds, skips, type TokenCase, type TokenRow } from './token-vector.ts';
import type { Outcome } from './vector.ts';

const genMs = Date.parse('2025-06-15T12:00:00Z');
const more = (encoded: Bytes, ...place: number[]) => withMore(encoded, place, nullValue);

/** At this place of the finished token, of which nothing there is signed. */
const inToken = (...place: number[]): TokenCase => ({ edit: (token) => more(token, ...place) });

/** At this place of what is signed of the certificate of the authority below the root. */
const inCertificate = (...place: number[]): TokenCase =>
  withIntermediate((certificate) =>
    signedAgain(certificate, (signed) => more(signed, ...place), { by: testKey('p256', 'root') }),
  );

function withIntermediate(edit: (certificate: Bytes) => Bytes): TokenCase {
  return {
    token: ({ signer, intermediate }) => ({
      certificates: [signer.certificate, edit(intermediate.certificate)],
    }),
  };
}

const listed = { revoked: [{ serial: 77, date: genMs }] };
/** At this place of what is signed of a list that revokes nothing here. */
const inList = (...place: number[]): TokenCase => ({
  crls: ({ crl }) => [
    signedAgain(crl('intermediate', listed), (signed) => more(signed, ...place), {
      by: testKey('p256', 'intermediate'),
    }),
  ],
});

/** At this place of what is stamped. */
const inInfo = (...place: number[]): TokenCase => ({
  token: (_, root) => ({
    tstInfo: more(
      makeInfo({ imprint: imprintOf(root), genTime: genMs, accuracy: accuracy(1, 1, 1) }),
      ...place,
    ),
  }),
});

const ess = (edit: (attributes: Attributes, authority: TestAuthority) => Bytes): TokenCase => ({
  token: (authority) => ({
    editAttributes: (all) => [all.contentType, all.messageDigest, edit(all, authority)],
  }),
});
const named = (authority: TestAuthority): Bytes => {
  const { certificate, serial } = authority.signer;
  const issuer = sequence(sequence(directoryName(authority.intermediate.name)), integer(serial));
  return attribute(oids.essV2, sequence(sequence(sequence(octets(digest('sha256', certificate)), issuer))));
};
const signerWith = (changes: Record<string, Bytes>) => ({
  signer: { extensions: Object.values({ ...usual.signer(testKey('p256', 'signer')), ...changes }) },
});

const rows: [name: string, about: string, outcome: Outcome, given: TokenCase][] = [
  ['contentinfo', 'the ContentInfo', fails, inToken()],
  ['signeddata', 'the SignedData', fails, inToken(1, 0)],
  ['encapsulated-content', 'the content of the SignedData', fails, inToken(1, 0, 2)],
  ['signerinfo', 'the SignerInfo', fails, inToken(1, 0, -1, 0)],
  ['issuer-and-serial-number', 'the issuer and serial number of the signer', fails, inToken(1, 0, -1, 0, 1)],
  [
    'attribute',
    'a signed attribute',
    fails,
    {
      token: () => ({
        editAttributes: ({ contentType, messageDigest, ess }) => [contentType, more(messageDigest), ...ess],
      }),
    },
  ],
  [
    'ecdsa-signature',
    'the signature of the token',
    fails,
    { token: () => ({ editSignature: (signature) => more(signature) }) },
  ],
  ['certificate', 'a certificate', fails, withIntermediate((certificate) => more(certificate))],
  ['signed-certificate', 'what is signed of a certificate', fails, inCertificate()],
  ['version-of-a-certificate', 'the version of a certificate', fails, inCertificate(0)],
  ['validity', 'the validity of a certificate', fails, inCertificate(4)],
  ['extensions', 'the list of extensions of a certificate', fails, inCertificate(7)],
  ['extension', 'an extension of a certificate', fails, inCertificate(7, 0, 0)],
  [
    'basic-constraints',
    'the basic constraints of a certificate',
    fails,
    {
      authority: {
        intermediate: {
          extensions: Object.values({
            ...usual.intermediate(),
            constraints: inValue(basicConstraints(true, 0)),
          }),
        },
      },
    },
  ],
  ['key', 'the key of an authority, which then has signed nothing', skips, inCertificate(6)],
  [
    'rsa-key',
    'the RSA key of an authority, which then has signed nothing',
    skips,
    {
      authority: {
        kind: 'rsa',
        intermediate: { spki: rsaKeyWithMore() },
      },
    },
  ],
  [
    'ecdsa-signature-of-a-certificate',
    'the signature of a certificate, which then is signed by nobody',
    skips,
    { authority: { intermediate: { editSignature: (signature) => bits(more(signature)) } } },
  ],
  ['list', 'a list of revoked certificates', fails, { crls: ({ crl }) => [more(crl('intermediate'))] }],
  ['signed-list', 'what is signed of a list', fails, inList()],
  ['entry-of-a-list', 'an entry of a list', fails, inList(5, 0)],
  ['extensions-of-a-list', 'the list of extensions of a list', fails, inList(6)],
  [
    'issuing-distribution-point',
    'the scope of a list',
    fails,
    {
      crls: ({ crl }) => [
        crl('intermediate', {
          extensions: [issuingDistributionPoint({ addresses: [crlAddresses.signer], more: [nullValue] })],
        }),
      ],
    },
  ],
  [
    'distribution-point',
    'where the lists of the signer are published, so that a list with a scope does not count',
    holds,
    {
      authority: signerWith({ crl: inValue(crlDistributionPoints(crlAddresses.signer), 0) }),
      crls: ({ crl }) => [
        crl('intermediate', {
          revoked: [{ serial: 3, date: genMs }],
          extensions: [issuingDistributionPoint({ addresses: [crlAddresses.signer] })],
        }),
      ],
    },
  ],
  ['imprint', 'the imprint of the TSTInfo', fails, inInfo(2)],
  ['accuracy', 'the accuracy of the TSTInfo', fails, inInfo(5)],
  [
    'ess-v1',
    'the old ESS attribute',
    fails,
    ess((_, { signer }) => more(essAttribute('v1', [signer.certificate]), 1, 0)),
  ],
  ['ess-v2', 'the ESS attribute', fails, ess(({ ess: [own] }) => more(own ?? nullValue, 1, 0))],
  [
    'ess-identifier-v1',
    'an identifier of the old ESS attribute',
    fails,
    ess((_, { signer }) => more(essAttribute('v1', [signer.certificate]), 1, 0, 0, 0)),
  ],
  [
    'ess-identifier-v2',
    'an identifier of the ESS attribute',
    fails,
    ess(({ ess: [own] }) => more(own ?? nullValue, 1, 0, 0, 0)),
  ],
  [
    'ess-issuer-and-serial-number',
    'the issuer and serial number in an ESS attribute',
    fails,
    ess((_, authority) => more(named(authority), 1, 0, 0, 0, 1)),
  ],
];

export const tokenSurplusRows: TokenRow[] = rows.map(([name, about, outcome, given]) => [
  `surplus-in-the-${name}`.replace('the-a-', 'a-'),
  `One element too many at the end of ${about}.`,
  outcome,
  given,
]);

/** An extension whose value has one element too many at this place. */
function inValue(extension: Bytes, ...place: number[]): Bytes {
  return withChange(extension, [-1], (value) => octets(more(contentOf(value), ...place)));
}

function rsaKeyWithMore(): Bytes {
  const { spki } = testKey('rsa', 'intermediate');
  return withChange(spki, [1], (key) => bits(more(contentOf(key).subarray(1))));
}
