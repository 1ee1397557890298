/** Lists of revoked certificates beside a token: which ones void it, which ones clear it, and which ones do not count. */
import { around, type Bytes, element, inPlace, integer, nullValue, sequence } from './der-writer.ts';
import { type MadeCase, questionFor } from './fault-case.ts';
import {
  type AuthorityOptions,
  createTestAuthority,
  crlAddresses,
  judgedAt,
  stampedAt,
  usual,
} from './test-authority.ts';
import {
  type CrlOptions,
  extension,
  issuingDistributionPoint,
  keyUsage,
  nameOf,
  url,
} from './test-certificates.ts';
import { testKey } from './test-keys.ts';

export interface RevocationCase {
  name: string;
  /** What a token that passes says of revocation; or why it fails. */
  expected: 'checked' | 'not checked' | RegExp;
  make(): MadeCase;
}

interface Lists {
  /** Changes of the list of the root, which is about the intermediate; null for none. */
  root?: Partial<CrlOptions> | null;
  /** Changes of the list of the intermediate, which is about the signer; null for none. */
  intermediate?: Partial<CrlOptions> | null;
}

const signerSerial = 3;
const intermediateSerial = 2;
const minute = 60_000;
const yes = Uint8Array.of(255);
const no = Uint8Array.of(0);
const voided = /^CN=Test TSA was revoked on /;
const misformed = /^List 2 of revoked certificates is not in the form/;

function revocationCase(
  name: string,
  expected: RevocationCase['expected'],
  { lists = {}, authority: options = {} }: { lists?: Lists; authority?: AuthorityOptions } = {},
): RevocationCase {
  return {
    ...{ name, expected },
    make() {
      const authority = createTestAuthority(options);
      const crls = (['root', 'intermediate'] as const).flatMap((by) => {
        const changes = lists[by];
        return changes === null ? [] : [authority.crl(by, changes)];
      });
      return { anchor: authority.anchor(undefined, { crls }), question: questionFor(authority) };
    },
  };
}

const signerRevoked = { revoked: [{ serial: signerSerial, date: stampedAt }] };

const presence = [
  revocationCase('lists about both certificates', 'checked'),
  revocationCase('only a list of the root', 'not checked', { lists: { intermediate: null } }),
  revocationCase('only a list of the intermediate', 'not checked', { lists: { root: null } }),
  revocationCase('no list', 'not checked', { lists: { root: null, intermediate: null } }),
  revocationCase('entries about other certificates', 'checked', {
    lists: { intermediate: { revoked: [{ serial: 77, date: stampedAt }] }, root: signerRevoked },
  }),
];

/** Every reason, before, at and after the genTime, for the signer and for the intermediate. */
const reasons = [undefined, 0, 1, 2, 3, 4, 5, 6, 8, 9, 10].flatMap((reason) =>
  [-minute, 0, minute].flatMap((offset) => {
    const why = reason === undefined ? 'without a reason' : `for reason ${reason}`;
    const isSpared = reason !== undefined && [0, 3, 4, 5].includes(reason) && offset > 0;
    const entry = { date: stampedAt + offset, ...(reason === undefined ? {} : { reason }) };
    const others = [{ serial: 77, date: stampedAt }];
    return (['intermediate', 'root'] as const).map((by) => {
      const [who, serial] = by === 'root' ? ['Test TSA CA', intermediateSerial] : ['Test TSA', signerSerial];
      return revocationCase(
        `${who} revoked ${why}, ${offset / 1000} s after the genTime`,
        isSpared ? 'checked' : new RegExp(`^CN=${who} was revoked on 2025-06-15T1[12]:.*Z ${why}\\.$`),
        { lists: { [by]: { revoked: [...others, { serial, ...entry }] } } },
      );
    });
  }),
);

const scoped = (changes: Parameters<typeof issuingDistributionPoint>[0]) => ({
  extensions: [issuingDistributionPoint(changes)],
});
const critical = (id: string, value: Bytes) => [extension(id, value, { critical: true })];

/** Lists that revoke the signer, but do not count; each counts without what is odd about it. */
const uncounted: [string, Partial<CrlOptions>, AuthorityOptions?][] = [
  ['of another issuer', { issuer: nameOf('Another CA') }],
  ['signed by another key', { signedBy: testKey('p256', 'stranger') }],
  ['signed over SHA-1', { rule: { hash: 'sha1' } }, { kind: 'rsa' }],
  ['later than the time of judgement', { thisUpdate: judgedAt + 1000, nextUpdate: judgedAt + minute }],
  ['that ended before the token', { nextUpdate: stampedAt - 1000 }],
  ['that only adds to another one (delta)', { extensions: critical('2.5.29.27', integer(1)) }],
  ['with a critical extension that nobody knows', { extensions: critical('1.2.3', nullValue) }],
  ['about authorities only', scoped({ more: [inPlace(2, yes)] })],
  ['about attribute certificates only', scoped({ more: [inPlace(5, yes)] })],
  ['about some reasons only', scoped({ more: [inPlace(3, Uint8Array.of(6, 64))] })],
  ['about certificates of others (indirect)', scoped({ more: [inPlace(4, yes)] })],
  ['about nothing', scoped({ more: [inPlace(1, yes), inPlace(2, yes)] })],
  ['published elsewhere', scoped({ addresses: ['http://crl.test/other.crl'] })],
  ['published under a relative name', scoped({ more: [element(0xa0, element(0xa1, nullValue))] })],
];

const odd = uncounted.flatMap(([name, list, authority = {}]) => [
  revocationCase(`a list ${name}`, 'not checked', {
    ...{ lists: { intermediate: { ...list, ...signerRevoked } }, authority },
  }),
  revocationCase(`the same list, but not ${name}`, voided, {
    lists: { intermediate: signerRevoked },
    authority,
  }),
]);

const { usage: _, ...unlimited } = usual.intermediate();
const mayOnly = (usage: Bytes) => ({ intermediate: { extensions: [usage, ...Object.values(unlimited)] } });

const { crl: __, ...unpublished } = usual.signer(testKey('p256', 'signer'));
const forSomeReasons = extension(
  '2.5.29.31',
  sequence(sequence(around(0, around(0, url(crlAddresses.signer))), inPlace(1, Uint8Array.of(6, 64)))),
);

const others = [
  revocationCase('an entry with a critical extension that nobody knows', 'not checked', {
    lists: {
      intermediate: {
        revoked: [
          { serial: 99, date: stampedAt, extensions: critical('2.5.29.29', sequence()) },
          ...signerRevoked.revoked,
        ],
      },
    },
  }),
  revocationCase('an issuer that may not sign lists', 'not checked', {
    ...{ lists: { intermediate: signerRevoked }, authority: mayOnly(keyUsage('certSign')) },
  }),
  revocationCase('an issuer that may sign lists', voided, {
    ...{ lists: { intermediate: signerRevoked }, authority: mayOnly(keyUsage('certSign', 'crlSign')) },
  }),
  revocationCase('of two entries the one that voids', /for reason 1\.$/, {
    lists: {
      intermediate: {
        revoked: [4, 1].map((reason) => ({ serial: signerSerial, date: stampedAt + minute, reason })),
      },
    },
  }),
  revocationCase('lists with scopes, and certificates in them', 'checked', {
    lists: {
      intermediate: scoped({
        addresses: ['http://crl.test/mirror.crl', crlAddresses.signer],
        more: [inPlace(1, yes)],
      }),
      root: scoped({ addresses: [crlAddresses.intermediate], more: [inPlace(1, no), inPlace(2, yes)] }),
    },
  }),
  revocationCase('a list with a scope, and a signer that names it for some reasons only', 'not checked', {
    lists: { intermediate: { ...scoped({ addresses: [crlAddresses.signer] }), ...signerRevoked } },
    authority: { signer: { extensions: [...Object.values(unpublished), forSomeReasons] } },
  }),
  revocationCase('a list with a scope that revokes', voided, {
    lists: { intermediate: { ...scoped({ addresses: [crlAddresses.signer] }), ...signerRevoked } },
  }),
  revocationCase('a list of the very moment of judgement, and one that ends with the genTime', 'checked', {
    lists: { root: { thisUpdate: judgedAt }, intermediate: { nextUpdate: stampedAt } },
  }),
  revocationCase('a scope that is none', misformed, {
    lists: { intermediate: { extensions: [extension('2.5.29.28', nullValue)] } },
  }),
  revocationCase('a scope with a boolean that is neither', misformed, {
    lists: { intermediate: scoped({ more: [inPlace(1, Uint8Array.of(1))] }) },
  }),
  revocationCase('an extension of a list twice', /List 2 .* has the extension 2\.5\.29\.20 twice/, {
    lists: { intermediate: { extensions: [1, 2].map((number) => extension('2.5.29.20', integer(number))) } },
  }),
  revocationCase('a reason that is none', misformed, {
    lists: {
      intermediate: {
        revoked: [{ serial: 9, date: stampedAt, extensions: [extension('2.5.29.21', integer(1))] }],
      },
    },
  }),
  revocationCase('a list of an unknown version', /^List 2 of revoked certificates is of an unknown version/, {
    lists: { intermediate: { version: 2 } },
  }),
  revocationCase('a list without a next one', 'checked', { lists: { intermediate: { nextUpdate: null } } }),
];

export const revocationCases: RevocationCase[] = [...presence, ...reasons, ...odd, ...others];
