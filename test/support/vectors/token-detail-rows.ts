/** Details of algorithms, keys, extensions and attributes in which verifiers easily differ. */
import { constants, sign } from 'node:crypto';
import {
  around,
  type Bytes,
  bits,
  element,
  enumerated,
  integer,
  nothing,
  octets,
  oid,
  sequence,
  set,
  utf8,
} from '../timestamps/der-writer.ts';
import { type TestAuthority, usual } from '../timestamps/test-authority.ts';
import {
  directoryName,
  extension,
  makeCertificate,
  nameOf,
  purposes,
} from '../timestamps/test-certificates.ts';
import { digest, hashAlgorithm, plainRsa, signatureAlgorithm, testKey } from '../timestamps/test-keys.ts';
import { accuracy, attribute, essAttribute, makeInfo, oids } from '../timestamps/test-token.ts';
import { imprintOf } from './clocks.ts';
import { contentOf, partsOf, withChange } from './der-edit.ts';
import { fails, holds, skips, type TokenCase, type TokenRow } from './token-vector.ts';

const genMs = Date.parse('2025-06-15T12:00:00Z');
const hex = (digits: string) => new Uint8Array(Buffer.from(digits, 'hex'));
const sha256 = '2.16.840.1.101.3.4.2.1';
const withParameter = sequence(oid(sha256), integer(1));
const signerWith = (changes: Record<string, Bytes>) => ({
  signer: { extensions: Object.values({ ...usual.signer(testKey('p256', 'signer')), ...changes }) },
});
const intermediateWith = (changes: Record<string, Bytes>) => ({
  intermediate: { extensions: Object.values({ ...usual.intermediate(), ...changes }) },
});

/** In place of the ESS attribute. */
const ess = (make: (authority: TestAuthority) => Bytes): TokenCase => ({
  token: (authority) => ({
    editAttributes: ({ contentType, messageDigest }) => [contentType, messageDigest, make(authority)],
  }),
});
const identifiers = (...ids: Bytes[]) => attribute(oids.essV2, sequence(sequence(...ids)));
const hashOf = ({ certificate }: { certificate: Bytes }) => octets(digest('sha256', certificate));

/** A certificate that is not needed. */
const unneeded = (...extensions: Bytes[]): TokenCase => ({
  certificates: ({ root }) => [
    makeCertificate({
      ...{ subject: nameOf('Another'), issuer: root.name, key: testKey('p256', 'another') },
      ...{ signedBy: root.key, serial: 9, notBefore: genMs, notAfter: genMs, extensions },
    }),
  ],
});

const pssRule = { kind: 'rsa', rule: { hash: 'sha256', pss: true } } as const;
const pss = (...parts: Bytes[]) => sequence(oid('1.2.840.113549.1.1.10'), ...parts);
const mask = (hash = hashAlgorithm('sha256')) => sequence(oid('1.2.840.113549.1.1.8'), hash);
const pssWith = (hash: Bytes, masked: Bytes, salt: Bytes) =>
  pss(sequence(around(0, hash), around(1, masked), around(2, salt)));
const usualHash = hashAlgorithm('sha256');

const algorithms: TokenRow[] = [
  [
    'hash-of-the-signer-with-a-parameter',
    'The hash of the SignerInfo has a parameter.',
    fails,
    { edit: (token) => withChange(token, [1, 0, -1, 0, 2], () => withParameter) },
  ],
  [
    'ess-hash-with-a-parameter',
    'The hash of an ESS attribute has a parameter.',
    fails,
    ess(({ signer }) => identifiers(sequence(withParameter, hashOf(signer)))),
  ],
  [
    'ess-hash-written',
    'The hash of an ESS attribute is written although it is the usual one, and has no parameters.',
    holds,
    ess(({ signer }) => identifiers(sequence(sequence(oid(sha256)), hashOf(signer)))),
  ],
  [
    'certificate-by-rsa-without-a-hash',
    'A certificate names RSA without a hash, and is signed with SHA-256.',
    skips,
    { authority: { kind: 'rsa', signer: { algorithm: plainRsa } } },
  ],
  [
    'certificate-by-pss',
    'A certificate is signed by RSA-PSS.',
    holds,
    { authority: { kind: 'rsa', signer: { rule: { hash: 'sha256', pss: true } } } },
  ],
  [
    'pss-without-parameters-at-all',
    'RSA-PSS without parameters.',
    fails,
    { authority: pssRule, token: () => ({ signatureAlgorithm: pss() }) },
  ],
  [
    'pss-hash-with-a-parameter',
    'The hash of RSA-PSS has a parameter.',
    fails,
    {
      authority: pssRule,
      token: () => ({ signatureAlgorithm: pssWith(withParameter, mask(), integer(32)) }),
    },
  ],
  [
    'pss-mask-hash-with-a-parameter',
    'The hash of the mask of RSA-PSS has a parameter.',
    fails,
    {
      authority: pssRule,
      token: () => ({ signatureAlgorithm: pssWith(usualHash, mask(withParameter), integer(32)) }),
    },
  ],
  [
    'pss-salt-under-another-tag',
    'The length of the salt of RSA-PSS is an OCTET STRING.',
    fails,
    {
      authority: pssRule,
      token: () => ({ signatureAlgorithm: pssWith(usualHash, mask(), octets(Uint8Array.of(32))) }),
    },
  ],
  [
    'pss-salt-negative',
    'The length of the salt of RSA-PSS is negative.',
    fails,
    { authority: pssRule, token: () => ({ signatureAlgorithm: pssWith(usualHash, mask(), hex('0201ff')) }) },
  ],
  [
    'pss-under-another-name',
    'The parameters and the signature are those of RSA-PSS, but the algorithm is one that encrypts.',
    fails,
    {
      authority: pssRule,
      token: () => ({
        signatureAlgorithm: withChange(signatureAlgorithm({ kind: 'rsa' }, pssRule.rule), [0], () =>
          oid('1.2.840.113549.1.1.7'),
        ),
      }),
    },
  ],
  [
    'pss-by-the-name-of-ecdsa',
    'The signature is by RSA-PSS without a salt, but the algorithm is ECDSA.',
    fails,
    {
      authority: { kind: 'rsa' },
      token: () => ({ signatureAlgorithm: signatureAlgorithm({ kind: 'p256' }, { hash: 'sha256' }) }),
      edit: (token) => withChange(token, [1, 0, -1, 0], signedByPss(0)),
    },
  ],
  [
    'pss-salt-of-0',
    'RSA-PSS without a salt.',
    holds,
    {
      authority: { kind: 'rsa' },
      token: () => ({ signatureAlgorithm: pssWith(usualHash, mask(), integer(0)) }),
      edit: (token) => withChange(token, [1, 0, -1, 0], signedByPss(0)),
    },
  ],
  [
    'pss-salt-of-20',
    'RSA-PSS does not say how long its salt is: it has 20 bytes.',
    holds,
    {
      authority: { kind: 'rsa' },
      token: () => ({ signatureAlgorithm: pss(sequence(around(0, usualHash), around(1, mask()))) }),
      edit: (token) => withChange(token, [1, 0, -1, 0], signedByPss(20)),
    },
  ],
  [
    'key-for-agreements',
    'The key of an authority is one for agreements on keys, on the right curve.',
    skips,
    {
      authority: {
        intermediate: {
          spki: withChange(testKey('p256', 'intermediate').spki, [0, 0], () => oid('1.3.132.1.12')),
        },
      },
    },
  ],
];

const forms: TokenRow[] = [
  [
    'certificate-version-enumerated',
    'The version of a certificate is an ENUMERATED.',
    fails,
    { authority: { intermediate: { version: around(0, enumerated(2)) } } },
  ],
  [
    'content-a-text',
    'The TSTInfo is in a text of UTF-8, not in an OCTET STRING.',
    fails,
    {
      token: (_, root) => {
        const tstInfo = makeInfo({ imprint: imprintOf(root), genTime: genMs });
        return { tstInfo, eContent: around(0, element(0x0c, tstInfo)) };
      },
    },
  ],
  [
    'accuracy-largest',
    'An accuracy of 2^31 - 1 seconds.',
    { time: '2093-07-03T15:14:07Z' },
    { token: () => ({ accuracy: accuracy(2 ** 31 - 1) }) },
  ],
  [
    'accuracy-too-large',
    'An accuracy of 2^31 seconds.',
    fails,
    { token: () => ({ accuracy: accuracy(2 ** 31) }) },
  ],
];

const extensions: TokenRow[] = [
  [
    'key-usage-in-octets',
    'The key usage of a certificate that is not needed is an OCTET STRING.',
    fails,
    unneeded(extension('2.5.29.15', octets(hex('0780')))),
  ],
  [
    'key-usage-of-16-bits',
    'The key usage of an authority has 16 bits.',
    holds,
    { authority: intermediateWith({ usage: extension('2.5.29.15', bits(hex('0601'))) }) },
  ],
  [
    'key-usage-of-17-bits',
    'The key usage of an authority has 17 bits.',
    fails,
    { authority: intermediateWith({ usage: extension('2.5.29.15', bits(hex('060080'), 7)) }) },
  ],
  [
    'key-usage-of-24-bits',
    'The key usage of an authority has 24 bits.',
    fails,
    { authority: intermediateWith({ usage: extension('2.5.29.15', bits(hex('060001'))) }) },
  ],
  [
    'purposes-with-a-text',
    'Among the purposes of an authority there is a text.',
    fails,
    {
      authority: intermediateWith({
        purpose: extension('2.5.29.37', sequence(oid(purposes.timeStamping), utf8('x'))),
      }),
    },
  ],
  [
    'path-length-negative',
    'The path length of a certificate that is not needed is negative.',
    fails,
    unneeded(extension('2.5.29.19', sequence(element(1, hex('ff')), hex('0201ff')))),
  ],
  [
    'basic-constraints-empty',
    'The basic constraints of a certificate that is not needed are empty.',
    fails,
    unneeded(extension('2.5.29.19', nothing)),
  ],
  [
    'alternative-names-critical',
    'The other names of the authority are critical.',
    holds,
    {
      authority: signerWith({
        names: extension('2.5.29.17', sequence(directoryName(nameOf('Other'))), { critical: true }),
      }),
    },
  ],
  [
    'policies-critical',
    'The certificate policies of the signer are critical.',
    holds,
    {
      authority: signerWith({
        policies: extension('2.5.29.32', sequence(sequence(oid('2.5.29.32.0'))), { critical: true }),
      }),
    },
  ],
  [
    'policies-critical-in-an-authority',
    'The certificate policies of an authority are critical.',
    holds,
    {
      authority: intermediateWith({
        policies: extension('2.5.29.32', sequence(sequence(oid('2.5.29.32.0'))), { critical: true }),
      }),
    },
  ],
];

const ids = (count: number): TokenCase =>
  ess(({ signer, intermediate }) =>
    essAttribute('v2', [
      ...[signer.certificate, intermediate.certificate],
      ...Array.from({ length: count - 2 }, (_, at) => Uint8Array.of(at)),
    ]),
  );

const essRows: TokenRow[] = [
  [
    'ess-issuer-that-is-no-name',
    'The issuer in the second identifier of the ESS attribute is no name.',
    fails,
    ess(({ signer, intermediate }) =>
      identifiers(
        sequence(hashOf(signer)),
        sequence(hashOf(intermediate), sequence(sequence(directoryName(integer(1))), integer(2))),
      ),
    ),
  ],
  ['ess-of-16', 'The ESS attribute identifies 16 certificates.', holds, ids(16)],
  ['ess-of-17', 'The ESS attribute identifies 17 certificates, the path among them.', fails, ids(17)],
  [
    'ess-hash-under-another-tag',
    'The hash in an ESS attribute is a BIT STRING.',
    fails,
    ess(({ signer }) => identifiers(sequence(bits(digest('sha256', signer.certificate))))),
  ],
  [
    'ess-identifier-in-a-set',
    'An identifier in an ESS attribute is a SET.',
    fails,
    ess(({ signer }) => identifiers(set(hashOf(signer)))),
  ],
  [
    'ess-with-policies',
    'The ESS attribute has policies, which nobody asks for.',
    holds,
    ess(({ signer }) =>
      attribute(oids.essV2, sequence(sequence(sequence(hashOf(signer))), sequence(sequence(oid('1.2.3'))))),
    ),
  ],
];

export const tokenDetailRows: TokenRow[] = [...[...algorithms, ...forms, ...extensions, ...essRows]];

/** The SignerInfo with another signature, by RSA-PSS with a salt of this length. */
function signedByPss(saltLength: number) {
  return (signerInfo: Bytes): Bytes => {
    const attributes = partsOf(signerInfo)[3] ?? nothing;
    const signature = sign('sha256', element(0x31, contentOf(attributes)), {
      key: testKey('rsa', 'signer').privateKey,
      ...{ padding: constants.RSA_PKCS1_PSS_PADDING, saltLength },
    });
    return withChange(signerInfo, [-1], () => octets(new Uint8Array(signature)));
  };
}
