/** Which lists of revoked certificates count, by their scope and by what the certificate says of its lists. */
import { around, type Bytes, bits, inPlace, nothing, sequence } from '../timestamps/der-writer.ts';
import { crlAddresses, type TestAuthority, usual } from '../timestamps/test-authority.ts';
import {
  directoryName,
  extension,
  issuingDistributionPoint,
  nameOf,
  url,
} from '../timestamps/test-certificates.ts';
import { testKey } from '../timestamps/test-keys.ts';
import { contentOf } from './der-edit.ts';
import { fails, holds, type TokenCase, type TokenRow } from './token-vector.ts';

const genMs = Date.parse('2025-06-15T12:00:00Z');
const yes = Uint8Array.of(0xff);
const [onlyUsers, onlyAuthorities] = [inPlace(1, yes), inPlace(2, yes)];
const signerWith = (changes: Record<string, Bytes>) => ({
  signer: { extensions: Object.values({ ...usual.signer(testKey('p256', 'signer')), ...changes }) },
});
/** A list of this scope that revokes the signer, or the authority. */
const revoking =
  (who: 'signer' | 'authority', ...scope: Bytes[]) =>
  ({ crl }: TestAuthority) => [
    crl(who === 'signer' ? 'intermediate' : 'root', {
      revoked: [{ serial: who === 'signer' ? 3 : 2, date: genMs }],
      extensions: [issuingDistributionPoint({ more: scope })],
    }),
  ];
const name = around(0, around(0, url(crlAddresses.signer)));
/** The signer has these distribution points, and a list of that name revokes it. */
const published = (...points: Bytes[]): TokenCase => ({
  authority: signerWith({ crl: extension('2.5.29.31', sequence(...points)) }),
  crls: revoking('signer', name),
});

/** A list about something else whose scope has this in it. */
const scoped = (point: Bytes): TokenCase => ({
  crls: ({ crl }) => [
    crl('intermediate', {
      revoked: [{ serial: 77, date: genMs }],
      extensions: [issuingDistributionPoint({ more: [point] })],
    }),
  ],
});

const entryDate = Date.parse('2025-06-14T12:00:00Z');

/** A list with one entry, of serial number 0x0301, changed afterwards; `at` is where the INTEGER begins. */
function edited(edit: (bytes: Uint8Array, at: number) => Uint8Array): NonNullable<TokenCase['crls']> {
  return ({ crl }) => {
    const bytes = crl('intermediate', { revoked: [{ serial: 0x0301, date: entryDate }] });
    const at = Buffer.from(bytes).indexOf(Buffer.of(2, 2, 3, 1, 0x17, 13));
    return [edit(bytes, at)];
  };
}

export const tokenRevocationRows: TokenRow[] = [
  [
    'revocation-of-a-longer-serial-number',
    'A list revokes a certificate whose serial number begins like that of the signer.',
    holds,
    { crls: ({ crl }) => [crl('intermediate', { revoked: [{ serial: 0x0301, date: entryDate }] })] },
  ],
  [
    'revocation-date-without-z',
    'The date of an entry does not end in Z.',
    fails,
    { crls: edited((bytes, at) => bytes.with(at + 18, 0x58)) },
  ],
  [
    'revocation-date-too-long',
    'The date of an entry has a byte after its Z.',
    fails,
    {
      crls: edited((bytes, at) => {
        const entry = bytes.slice(at, at + 19);
        return bytes
          .with(at + 1, 1)
          .with(at + 3, 0x17)
          .with(at + 4, 14)
          .map((byte, place) => {
            if (place < at + 5 || place > at + 18) return byte;
            return place === at + 18 ? 0 : (entry[place - at + 1] ?? 0);
          });
      }),
    },
  ],
  [
    'revocation-serial-number-as-bytes',
    'The serial number of an entry is an OCTET STRING.',
    fails,
    { crls: edited((bytes, at) => bytes.with(at, 4)) },
  ],
  [
    'list-whose-flag-is-no-boolean',
    'A flag of the scope of a list is neither 00 nor ff.',
    fails,
    scoped(inPlace(1, Uint8Array.of(1))),
  ],
  [
    'list-whose-scope-has-another-name',
    'The name of the scope of a list is neither a full nor a relative one.',
    fails,
    scoped(around(0, around(2, nothing))),
  ],
  [
    'list-whose-reasons-are-empty',
    'The reasons of the scope of a list are no BIT STRING: not even its first byte is there.',
    fails,
    scoped(inPlace(3, nothing)),
  ],
  [
    'list-whose-reasons-have-unused-bits',
    'The reasons of the scope of a list have unused bits that are set.',
    fails,
    scoped(inPlace(3, Uint8Array.of(7, 0xff))),
  ],
  [
    'revocation-of-a-signer-without-basic-constraints',
    'A list about users only revokes a signer that does not say whether it is an authority.',
    fails,
    { authority: signerWith({ constraints: nothing }), crls: revoking('signer', onlyUsers) },
  ],
  [
    'revocation-of-an-authority-by-a-list-about-authorities',
    'A list about authorities only revokes the authority.',
    fails,
    { crls: revoking('authority', onlyAuthorities) },
  ],
  [
    'revocation-of-an-authority-by-a-list-about-users',
    'A list about users only names the authority, and does not count.',
    holds,
    { crls: revoking('authority', onlyUsers) },
  ],
  [
    'revocation-by-a-list-about-authorities',
    'A list about authorities only names the signer, and does not count.',
    holds,
    { crls: revoking('signer', onlyAuthorities) },
  ],
  [
    'revocation-by-a-list-with-an-empty-scope',
    'A list whose scope says nothing revokes the signer.',
    fails,
    { crls: revoking('signer') },
  ],
  [
    'revocation-of-a-signer-without-distribution-points',
    'The signer does not say where its lists are published, so that a list with a name does not count.',
    holds,
    { authority: signerWith({ crl: nothing }), crls: revoking('signer', name) },
  ],
  [
    'revocation-with-an-empty-distribution-point',
    'The first distribution point of the signer says nothing; a list of the name in the second revokes it.',
    fails,
    published(sequence(), sequence(name)),
  ],
  [
    'revocation-under-a-point-with-an-issuer',
    'The distribution point of the signer names somebody else as the issuer of the list, which does not count.',
    holds,
    published(sequence(name, around(2, directoryName(nameOf('Somebody else'))))),
  ],
  [
    'revocation-under-a-point-with-reasons',
    'The distribution point of the signer is about some reasons only, and the list does not count.',
    holds,
    published(sequence(name, inPlace(1, contentOf(bits(Uint8Array.of(0x40), 6))))),
  ],
];
