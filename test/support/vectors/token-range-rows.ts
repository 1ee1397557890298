/** Numbers beyond their range, and lists of algorithms that the signature does not cover. */
import { type Bytes, element, integer, oid, sequence, set } from '../timestamps/der-writer.ts';
import { basicConstraints, extension, keyUsage } from '../timestamps/test-certificates.ts';
import { withChange, withMore } from './der-edit.ts';
import { fails, holds, type TokenCase, type TokenRow } from './token-vector.ts';

const genMs = Date.parse('2025-06-15T12:00:00Z');
const withParameter = sequence(oid('2.16.840.1.101.3.4.2.1'), integer(5));
/** The digest algorithms of the SignedData. */
const digestAlgorithms = [1, 0, 1];

/** A list that is not about any certificate of the token, with an entry for this reason. */
const listedFor = (...reason: number[]): TokenCase => ({
  crls: ({ crl }) => [
    crl('intermediate', {
      revoked: [
        {
          ...{ serial: 77, date: genMs },
          extensions: [extension('2.5.29.21', element(10, Uint8Array.from(reason)))],
        },
      ],
    }),
  ],
});

const listedAlgorithm = (more: Bytes): TokenCase => ({
  edit: (token) => withMore(token, digestAlgorithms, more),
});

export const tokenRangeRows: TokenRow[] = [
  [
    'digest-algorithms-with-a-parameter',
    'The only digest algorithm of the SignedData has a parameter.',
    fails,
    { edit: (token) => withChange(token, digestAlgorithms, () => set(withParameter)) },
  ],
  [
    'digest-algorithms-another-with-a-parameter',
    'A further digest algorithm of the SignedData has a parameter.',
    holds,
    listedAlgorithm(withParameter),
  ],
  [
    'digest-algorithms-another-without-an-identifier',
    'A further digest algorithm of the SignedData is empty.',
    fails,
    listedAlgorithm(sequence()),
  ],
  ['list-with-a-negative-reason', 'An entry of a list has the reason -1.', fails, listedFor(0xff)],
  ['list-with-a-large-reason', 'An entry of a list has the reason 2^31.', fails, listedFor(0, 0x80, 0, 0, 0)],
  [
    'path-length-of-2-to-the-31',
    'An authority allows 2^31 authorities below it.',
    fails,
    {
      authority: {
        intermediate: { extensions: [basicConstraints(true, 2 ** 31), keyUsage('certSign', 'crlSign')] },
      },
    },
  ],
];
