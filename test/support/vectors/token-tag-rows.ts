/** The right value under another tag or in another form, and forms that are rare but right. */
import {
  around,
  type Bytes,
  boolean,
  inPlace,
  integer,
  nothing,
  nullValue,
  octets,
  oid,
  sequence,
} from '../timestamps/der-writer.ts';
import { pem, type TestAuthority, usual } from '../timestamps/test-authority.ts';
import { directoryName, extension, keyUsage, nameOf, subjectKeyId } from '../timestamps/test-certificates.ts';
import { digest, testKey } from '../timestamps/test-keys.ts';
import { accuracy, attribute, oids } from '../timestamps/test-token.ts';
import { contentOf, withChange } from './der-edit.ts';
import { fails, holds, skips, type TokenCase, type TokenRow } from './token-vector.ts';

const hex = (digits: string) => new Uint8Array(Buffer.from(digits, 'hex'));
const signerWith = (changes: Record<string, Bytes>) => ({
  signer: { extensions: Object.values({ ...usual.signer(testKey('p256', 'signer')), ...changes }) },
});
const intermediateWith = (changes: Record<string, Bytes>) => ({
  intermediate: { extensions: Object.values({ ...usual.intermediate(), ...changes }) },
});
const unsigned = (value: Bytes): TokenCase => ({
  token: () => ({ unsignedAttributes: [attribute('1.2.3', value)] }),
});
/** The ESS attribute with this issuer. */
const identified =
  (issuer: Bytes) =>
  ({ signer }: TestAuthority) => {
    const named = sequence(sequence(issuer), integer(signer.serial));
    const id = sequence(octets(digest('sha256', signer.certificate)), named);
    return attribute(oids.essV2, sequence(sequence(id)));
  };
/** The key of the authority with other parameters of its algorithm. */
const curve = (change: (parameters: Bytes) => Bytes): TokenCase => ({
  authority: { intermediate: { spki: withChange(testKey('p256', 'intermediate').spki, [0, 1], change) } },
});
const byKeyId = ({ signer }: TestAuthority) => ({
  signerVersion: 3,
  signerId: inPlace(0, subjectKeyId(signer.key)),
});

export const tokenTagRows: TokenRow[] = [
  [
    'der-integer-negative',
    'An integer whose first byte of ones is needed.',
    holds,
    unsigned(hex('0202ff7f')),
  ],
  [
    'der-oid-with-a-large-arc',
    'An object identifier whose arc has two bytes of zeros inside.',
    holds,
    unsigned(hex('06052a81808001')),
  ],
  [
    'der-oid-that-ends-with-80',
    'An object identifier whose last byte says that another follows.',
    fails,
    unsigned(hex('06032a8180')),
  ],
  ['der-application-tag', 'An element of the class of applications.', holds, unsigned(hex('4000'))],
  [
    'der-length-of-128',
    'An element of 128 bytes, whose length has a byte more.',
    holds,
    unsigned(octets(new Uint8Array(128))),
  ],
  [
    'der-length-of-127-in-the-long-form',
    'An element of 127 bytes, whose length has a byte more.',
    fails,
    unsigned(hex(`04817f${'00'.repeat(127)}`)),
  ],
  [
    'accuracy-of-999',
    'An accuracy of 999 milliseconds and 999 microseconds.',
    { time: '2025-06-15T12:00:01Z' },
    { token: () => ({ accuracy: accuracy(undefined, 999, 999) }) },
  ],
  [
    'policy-with-a-large-arc',
    'The policy has an arc of three bytes, and is trusted.',
    holds,
    {
      token: () => ({ policy: '1.2.16384.1' }),
      trust: ({ root }) => ({ tsaRoots: [pem(root.certificate)], tsaPolicies: ['1.2.16384.1'] }),
    },
  ],
  ['der-bit-string-empty', 'A BIT STRING without bits.', holds, unsigned(hex('030100'))],
  [
    'ess-with-a-name-of-another-kind',
    'The ESS attribute has the issuer, but not as a directoryName.',
    fails,
    {
      token: (authority) => ({
        editAttributes: ({ contentType, messageDigest }) => [
          ...[contentType, messageDigest, identified(around(5, authority.intermediate.name))(authority)],
        ],
      }),
    },
  ],
  [
    'authority-that-says-that-it-is-none',
    'The basic constraints of an authority say that it is none, although that is the default.',
    fails,
    {
      authority: intermediateWith({
        constraints: extension('2.5.29.19', sequence(boolean(false)), { critical: true }),
      }),
    },
  ],
  [
    'signer-by-key-under-another-tag',
    'The signer is named by the identifier of its key, which is not an OCTET STRING in its certificate.',
    skips,
    {
      authority: signerWith({
        keyId: extension('2.5.29.14', inPlace(0, subjectKeyId(testKey('p256', 'signer')))),
      }),
      token: byKeyId,
    },
  ],
  [
    'signer-by-key-with-more',
    'The signer is named by the identifier of its key, after which something follows in its certificate.',
    skips,
    {
      authority: signerWith({
        keyId: extension(
          '2.5.29.14',
          Buffer.concat([octets(subjectKeyId(testKey('p256', 'signer'))), nullValue]),
        ),
      }),
      token: byKeyId,
    },
  ],
  [
    'authority-named-under-another-tag',
    'The token names the authority, but not as a directoryName.',
    fails,
    { token: () => ({ authority: around(5, nameOf('Test TSA')) }) },
  ],
  [
    'authority-named-twice',
    'The token names the authority as its certificate and as another name of it.',
    holds,
    {
      authority: signerWith({ names: extension('2.5.29.17', sequence(directoryName(nameOf('Test TSA')))) }),
      token: () => ({ authority: directoryName(nameOf('Test TSA')) }),
    },
  ],
  [
    'authority-without-key-usage',
    'The authority does not say what its key is for.',
    holds,
    { authority: intermediateWith({ usage: nothing }) },
  ],
  [
    'signer-without-key-usage',
    'The signer does not say what its key is for.',
    holds,
    { authority: signerWith({ usage: nothing }) },
  ],
  [
    'signer-with-an-empty-key-usage',
    'The key of the signer is for nothing.',
    fails,
    { authority: signerWith({ usage: keyUsage() }) },
  ],
  ['key-without-a-curve', 'The key of an authority does not name its curve.', skips, curve(() => nothing)],
  [
    'key-with-null-as-its-curve',
    'The key of an authority has NULL instead of its curve.',
    skips,
    curve(() => nullValue),
  ],
  [
    'key-with-a-curve-under-another-tag',
    'The key of an authority names its curve, but not as an OBJECT IDENTIFIER.',
    skips,
    curve((name) => octets(contentOf(name))),
  ],
  [
    'key-on-another-curve',
    'The key of an authority names another curve than its own.',
    skips,
    curve(() => oid('1.3.132.0.10')),
  ],
];
