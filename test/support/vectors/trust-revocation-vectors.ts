/** Revocation as whoever verifies knows it: lists and fingerprints in the trust file count whatever the proof contains. */
import { createHash } from 'node:crypto';
import type { Hex } from 'viem';
import { type Bytes, nullValue } from '../timestamps/der-writer.ts';
import {
  createTestAuthority,
  crlPem,
  pem,
  stampedAt,
  type TestAuthority,
} from '../timestamps/test-authority.ts';
import { type BaseThing, givenWith } from './base-batches.ts';
import { withMore } from './der-edit.ts';
import { fails, holds, tokenVector } from './token-vector.ts';
import type { NamedVector, Outcome, TrustFile } from './vector.ts';

type Given = Pick<TrustFile, 'crls' | 'revoked'>;
type Row = [name: string, about: string, outcome: Outcome, given: (authority: TestAuthority) => Given];

const minute = 60_000;
const signerSerial = 3;

export function trustRevocationVectors(file: BaseThing): NamedVector[] {
  const rows: Row[] = [
    [
      'by-a-trusted-list',
      'The list that voids the token is in the trust file alone.',
      fails,
      (authority) => ({ crls: [crlPem(authority.crl('intermediate', { revoked: [entry(1)] }))] }),
    ],
    [
      'of-the-intermediate-by-a-trusted-list',
      'The list of the trust file is about the intermediate.',
      fails,
      (authority) => ({
        crls: [
          crlPem(authority.crl('intermediate')),
          crlPem(authority.crl('root', { revoked: [entry(1, 2)] })),
        ],
      }),
    ],
    [
      'by-a-trusted-list-for-a-harmless-reason',
      'A list of the trust file spares tokens from before the revocation, as every list does.',
      holds,
      (authority) => ({ crls: [crlPem(authority.crl('intermediate', { revoked: [entry(4)] }))] }),
    ],
    [
      'by-a-trusted-list-later-than-the-time-of-judgement',
      'A list of the trust file that was made after the time of judgement.',
      holds,
      (authority) => ({
        crls: [
          crlPem(
            authority.crl('intermediate', {
              revoked: [entry(1)],
              thisUpdate: stampedAt + 300 * 86_400_000,
              nextUpdate: stampedAt + 310 * 86_400_000,
            }),
          ),
        ],
      }),
    ],
    [
      'by-a-trusted-list-of-somebody-else',
      'A list of the trust file that another key has signed.',
      holds,
      (authority) => ({
        crls: [
          crlPem(authority.crl('intermediate', { revoked: [entry(1)], signedBy: authority.signer.key })),
        ],
      }),
    ],
    [
      'by-a-trusted-list-with-text-around',
      'A list of the trust file with text around it, and other ends of lines.',
      fails,
      (authority) => {
        const list = crlPem(authority.crl('intermediate', { revoked: [entry(1)] }));
        return { crls: [`Last Update: today\n${list.replaceAll('\n', '\r\n')}bye`] };
      },
    ],
    [
      'by-the-last-of-64-trusted-lists',
      'The trust file has 64 lists, and the last voids the token.',
      fails,
      (authority) => ({
        crls: [
          ...Array<string>(63).fill(crlPem(authority.crl('intermediate'))),
          crlPem(authority.crl('intermediate', { revoked: [entry(1)] })),
        ],
      }),
    ],
    ...(['signer', 'intermediate', 'root'] as const).map(
      (which): Row => [
        `by-the-fingerprint-of-the-${which}`,
        `The trust file names the certificate of the ${which} as revoked.`,
        fails,
        (authority) => ({ revoked: [fingerprint(authority[which].certificate)] }),
      ],
    ),
    [
      'by-another-fingerprint',
      'The trust file names another certificate as revoked.',
      holds,
      () => ({ revoked: [`0x${'5a'.repeat(32)}`] }),
    ],
  ];
  return [
    ...rows.map(([name, about, outcome, given]) =>
      tokenVector(file, [
        `revocation-${name}`,
        about,
        outcome,
        { trust: (authority) => ({ tsaRoots: [pem(authority.root.certificate)], ...given(authority) }) },
      ]),
    ),
    ...unusableVectors(file),
  ];
}

function unusableVectors(file: BaseThing): NamedVector[] {
  const { trust: good, ...given } = givenWith(file, file.proof);
  const list = createTestAuthority({ around: stampedAt }).crl('intermediate');
  const text = crlPem(list);
  const rows: [name: string, about: string, trust: unknown][] = [
    ['lists-null', 'Its lists of revoked certificates are null.', { crls: null }],
    ['list-a-number', 'A list of revoked certificates is a number.', { crls: [1] }],
    ['list-no-pem', 'A list of revoked certificates is in base64 alone.', { crls: ['MAA='] }],
    ['list-twice', 'Two lists of revoked certificates in one element.', { crls: [text + text] }],
    ['list-no-base64', 'A list that is not in base64.', { crls: [text.replace('MI', 'M_')] }],
    ['list-cut-off', 'A list whose last byte is missing.', { crls: [crlPem(list.subarray(0, -1))] }],
    ['list-with-more', 'A list with an element too many.', { crls: [crlPem(withMore(list, [], nullValue))] }],
    ['list-of-1500001-characters', 'A list with much text before it.', { crls: [text.padStart(1_500_001)] }],
    ['lists-65', 'It has 65 lists of revoked certificates.', { crls: Array(65).fill(text) }],
    ['revoked-null', 'Its revoked certificates are null.', { revoked: null }],
    ['revoked-too-short', 'A fingerprint has 31 bytes.', { revoked: [`0x${'5a'.repeat(31)}`] }],
    ['revoked-upper-case', 'A fingerprint is in capitals.', { revoked: [`0x${'5A'.repeat(32)}`] }],
  ];
  return rows.map(([name, about, trust]) => ({
    ...{ name: `trust-unusable-${name}`, about: `The trust file cannot be used. ${about}` },
    ...{ ...given, trust: { ...good, ...(trust as Given) } as TrustFile, expected: { unusable: 'trust' } },
  }));
}

function entry(reason: number, serial = signerSerial) {
  return { serial, date: stampedAt + minute, reason };
}

function fingerprint(certificate: Bytes): Hex {
  return `0x${createHash('sha256').update(certificate).digest('hex')}`;
}
