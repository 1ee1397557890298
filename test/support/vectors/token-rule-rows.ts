/** Tokens that break one rule in a way in which no other rule is broken. */
import {
  around,
  ascii,
  type Bytes,
  bits,
  element,
  enumerated,
  inPlace,
  integer,
  join,
  nullValue,
  octets,
  oid,
  sequence,
  set,
  time,
} from '../timestamps/der-writer.ts';
import { crlAddresses, type TestAuthority, usual } from '../timestamps/test-authority.ts';
import {
  type CrlOptions,
  crlDistributionPoints,
  directoryName,
  extendedKeyUsage,
  extension,
  issuingDistributionPoint,
  nameOf,
  purposes,
  url,
} from '../timestamps/test-certificates.ts';
import { digest, hashAlgorithm, signatureAlgorithm, testKey } from '../timestamps/test-keys.ts';
import { type Attributes, accuracy, attribute, oids } from '../timestamps/test-token.ts';
import { fails, holds, judgedAt, skips, type TokenCase, type TokenRow } from './token-vector.ts';

const genMs = Date.parse('2025-06-15T12:00:00Z');
const hex = (digits: string) => new Uint8Array(Buffer.from(digits, 'hex'));
const attributes = (edit: (all: Attributes) => Partial<Attributes>): TokenCase => ({
  token: () => ({
    editAttributes: (all) => {
      const { contentType, messageDigest, ess } = { ...all, ...edit(all) };
      return [contentType, messageDigest, ...ess];
    },
  }),
});
const signerWith = (...more: Bytes[]) => ({
  signer: { extensions: [...Object.values(usual.signer(testKey('p256', 'signer'))), ...more] },
});

const revokedSigner = { revoked: [{ serial: 3, date: genMs }] };

/** Identifies the signer by its hash, and by these names and its serial number. */
const identifiedBy =
  (...names: Bytes[]) =>
  ({ signer }: TestAuthority) => ({
    editAttributes: ({ contentType, messageDigest }: Attributes) => {
      const named = sequence(sequence(...names), integer(signer.serial));
      const id = sequence(octets(digest('sha256', signer.certificate)), named);
      return [contentType, messageDigest, attribute(oids.essV2, sequence(sequence(id)))];
    },
  });
const issuer = directoryName(nameOf('Test TSA CA'));

const forms: TokenRow[] = [
  [
    'authority-named-otherwise',
    'The authority is named by another name that its certificate has.',
    holds,
    {
      authority: signerWith(extension('2.5.29.17', sequence(directoryName(nameOf('Other'))))),
      token: () => ({ authority: directoryName(nameOf('Other')) }),
    },
  ],
  [
    'message-digest-under-another-tag',
    'The right message-digest, but not in an OCTET STRING.',
    fails,
    attributes(({ messageDigest }) => ({
      messageDigest: attribute(oids.messageDigest, inPlace(0, messageDigest.subarray(-32))),
    })),
  ],
  [
    'content-type-under-another-tag',
    'The right content-type, but not as an OBJECT IDENTIFIER.',
    fails,
    attributes(() => ({
      contentType: attribute(oids.contentType, octets(oid(oids.tstInfo).subarray(2))),
    })),
  ],
  [
    'ess-empty-and-no-certificates',
    'An ESS attribute without an identifier, and no certificate that it could be about.',
    fails,
    {
      token: () => ({
        certificates: [],
        editAttributes: ({ contentType, messageDigest }) => [
          ...[contentType, messageDigest, attribute(oids.essV2, sequence(sequence()))],
        ],
      }),
    },
  ],
  ['ess-with-its-issuer', 'The ESS attribute names the issuer.', holds, { token: identifiedBy(issuer) }],
  [
    'ess-with-two-names',
    'The ESS attribute names the issuer twice.',
    fails,
    { token: identifiedBy(issuer, issuer) },
  ],
  [
    'ess-with-an-address',
    'The ESS attribute names the issuer by an address.',
    fails,
    { token: identifiedBy(url('http://ca.test')) },
  ],
  [
    'signeddata-in-a-set',
    'The SignedData is a SET.',
    fails,
    // After the outermost tag and length, the object identifier, and [0] with its length.
    { edit: (token) => token.with(19, 0x31) },
  ],
  [
    'signerinfo-in-a-set',
    'The SignerInfo is a SET.',
    fails,
    { edit: (token) => token.with(signerInfoOf(token), 0x31) },
  ],
  [
    'hashes-with-something-else',
    'Among the digest algorithms there is something that is none.',
    fails,
    { token: () => ({ digestAlgorithms: set(hashAlgorithm('sha256'), nullValue) }) },
  ],
  [
    'der-tag-31-of-a-context',
    'A tag whose number is in the next byte, and small.',
    fails,
    { token: () => ({ unsignedAttributes: [attribute('1.2.3', hex('9f0100'))] }) },
  ],
  [
    'der-length-128-in-one-byte',
    'A length of 128 in the one byte that means an indefinite length.',
    fails,
    { token: () => ({ unsignedAttributes: [attribute('1.2.3', hex(`0480${'00'.repeat(128)}`))] }) },
  ],
  [
    'accuracy-padded',
    'Milliseconds of the accuracy with a zero before them.',
    fails,
    { token: () => ({ accuracy: sequence(integer(1), inPlace(0, hex('0001'))) }) },
  ],
  [
    'accuracy-of-milliseconds',
    'An accuracy without seconds.',
    { time: '2025-06-15T12:00:00.005Z' },
    { token: () => ({ accuracy: accuracy(undefined, 5) }) },
  ],
  [
    'imprint-hash-with-a-parameter',
    'The hash of the imprint has a parameter.',
    fails,
    { token: () => ({ imprintAlgorithm: sequence(oid('2.16.840.1.101.3.4.2.1'), integer(1)) }) },
  ],
  [
    'rsa-with-a-parameter',
    'RSA with a parameter that is not NULL.',
    fails,
    {
      authority: { kind: 'rsa' },
      token: () => ({ signatureAlgorithm: sequence(oid('1.2.840.113549.1.1.11'), integer(1)) }),
    },
  ],
  [
    'pss-with-a-trailer',
    'RSA-PSS with a trailer field, even if it has the only value that there is.',
    fails,
    {
      authority: { kind: 'rsa', rule: { hash: 'sha256', pss: true } },
      token: () => ({ signatureAlgorithm: pss(around(3, integer(1))) }),
    },
  ],
];

const certificates: TokenRow[] = [
  [
    'authority-for-everything',
    'The authority may issue certificates for any purpose.',
    holds,
    {
      authority: {
        intermediate: {
          extensions: Object.values({
            ...usual.intermediate(),
            purpose: extendedKeyUsage([purposes.any], { critical: false }),
          }),
        },
      },
    },
  ],
  [
    'certificate-ends-in-2060',
    'A certificate beside the token that ends in 2060.',
    holds,
    { certificates: () => [endingAt('20600101000000Z')] },
  ],
  [
    'certificate-ends-with-a-fraction',
    'A certificate beside the token that ends within a second.',
    fails,
    { certificates: () => [endingAt('20600101000000.5Z')] },
  ],
  [
    'key-off-its-curve',
    'The key of an authority is no point of its curve.',
    skips,
    { authority: { intermediate: { spki: offCurve() } } },
  ],
  [
    'revocation-at-the-moment-of-judgement',
    'A list of the very moment of judgement revokes the signer.',
    fails,
    {
      crls: ({ crl }) => [
        crl('intermediate', { ...revokedSigner, thisUpdate: Date.parse(judgedAt), nextUpdate: null }),
      ],
    },
  ],
  [
    'revocation-that-ends-with-the-gentime',
    'A list that revokes the signer ends with the genTime.',
    fails,
    { crls: ({ crl }) => [crl('intermediate', { ...revokedSigner, nextUpdate: genMs })] },
  ],
  [
    'revocation-bytes-after-a-reason',
    'A list says of another certificate why it was revoked, and bytes follow.',
    fails,
    {
      crls: ({ crl }) => [
        crl('intermediate', {
          revoked: [
            {
              ...{ serial: 77, date: genMs },
              extensions: [extension('2.5.29.21', join(enumerated(4), nullValue))],
            },
          ],
        }),
      ],
    },
  ],
  [
    'revocation-under-a-relative-name-of-the-certificate',
    'A list that revokes the signer does not count, because the certificate has its name only as a relative one.',
    holds,
    {
      authority: {
        signer: {
          extensions: Object.values({
            ...usual.signer(testKey('p256', 'signer')),
            crl: extension('2.5.29.31', sequence(sequence(around(0, around(1, url(crlAddresses.signer)))))),
          }),
        },
      },
      crls: revoking,
    },
  ],
  [
    'revocation-under-the-relative-name-of-the-list',
    'A list that revokes the signer does not count, because it has its name only as a relative one.',
    holds,
    {
      crls: ({ crl }) => [
        crl('intermediate', scoped(around(0, around(1, url(crlAddresses.signer))), revokedSigner)),
      ],
    },
  ],
  [
    'revocation-of-an-authority-about-nothing',
    'A list that revokes the authority does not count, because it is only about users and only about authorities.',
    holds,
    {
      crls: ({ crl }) => [
        crl(
          'root',
          scoped(join(inPlace(1, hex('ff')), inPlace(2, hex('ff'))), {
            revoked: [{ serial: 2, date: genMs }],
          }),
        ),
      ],
    },
  ],
  [
    'revocation-under-one-of-two-names',
    'A list that revokes the signer counts, because its name is the second that the certificate has.',
    fails,
    {
      authority: {
        signer: {
          extensions: Object.values({
            ...usual.signer(testKey('p256', 'signer')),
            crl: crlDistributionPoints('http://crl.test/other.crl', crlAddresses.signer),
          }),
        },
      },
      crls: revoking,
    },
  ],
];

export const tokenRuleRows: TokenRow[] = [...forms, ...certificates];

/** Where the only SignerInfo begins: the SET around it is the last element of the token. */
function signerInfoOf(token: Bytes): number {
  for (let at = token.length - 4; at > 0; at -= 1) {
    const [tag, size, high = 0, low = 0] = token.subarray(at);
    if (tag === 0x31 && size === 0x82 && at + 4 + high * 256 + low === token.length) return at + 4;
  }
  throw new Error('the token has no signer');
}

function pss(...more: Bytes[]): Bytes {
  const mask = sequence(oid('1.2.840.113549.1.1.8'), hashAlgorithm('sha256'));
  const usually = [around(0, hashAlgorithm('sha256')), around(1, mask), around(2, integer(32))];
  return sequence(oid('1.2.840.113549.1.1.10'), sequence(...usually, ...more));
}

/** A certificate that is not needed. */
function endingAt(end: string): Bytes {
  const algorithm = signatureAlgorithm({ kind: 'p256' }, { hash: 'sha256' });
  const validity = sequence(time(genMs), element(0x18, ascii(end)));
  const { spki } = testKey('p256', 'signer');
  const name = nameOf('Another');
  const signed = sequence(integer(1), algorithm, name, validity, name, spki);
  return sequence(signed, algorithm, bits(sequence(integer(1), integer(1))));
}

function offCurve(): Bytes {
  const { spki } = testKey('p256', 'intermediate');
  return spki.with(-1, (spki.at(-1) ?? 0) ^ 1);
}

function scoped(point: Bytes, more: Partial<CrlOptions>): Partial<CrlOptions> {
  return { ...more, extensions: [issuingDistributionPoint({ more: [point] })] };
}

/** A list with a scope that revokes the signer. */
function revoking({ crl }: TestAuthority): Bytes[] {
  return [
    crl('intermediate', {
      ...revokedSigner,
      extensions: [issuingDistributionPoint({ addresses: [crlAddresses.signer] })],
    }),
  ];
}
