/** Days and times that exist, and some that do not. */
import { ascii, type Bytes, element } from '../timestamps/der-writer.ts';
import { makeCertificate, nameOf } from '../timestamps/test-certificates.ts';
import { testKey } from '../timestamps/test-keys.ts';
import { withChange } from './der-edit.ts';
import { fails, genTime, holds, skips, type TokenRow } from './token-vector.ts';

const genMs = Date.parse('2025-06-15T12:00:00Z');

const ends: [name: string, about: string, end: string, exists: boolean][] = [
  ['29-february-2028', 'on a leap day', '20280229120000Z', true],
  ['29-february-2027', 'on a day that does not exist: 2027 is no leap year', '20270229120000Z', false],
  ['29-february-2100', 'on a day that does not exist: 2100 is no leap year', '21000229120000Z', false],
  ['29-february-2400', 'on a leap day: 2400 is a leap year', '24000229120000Z', true],
  ['30-february-2028', 'on a day that does not exist', '20280230120000Z', false],
  ['31-april-2028', 'on a day that does not exist, in a leap year', '20280431120000Z', false],
  ['31-december-2028', 'on the last day of a year', '20281231235959Z', true],
  ['32-december-2028', 'on the day after the last of a year', '20281232120000Z', false],
  ['day-0', 'on the day before the first of a month', '20280100120000Z', false],
  ['month-0', 'in the month before the first', '20280001120000Z', false],
  ['month-13', 'in the month after the last', '20281301120000Z', false],
  ['minute-60', 'in the minute after the last of an hour', '20280101126000Z', false],
];

export const tokenTimeRows: TokenRow[] = [
  [
    'gentime-29-february-2100',
    'The time of the token is on a day that does not exist: 2100 is no leap year.',
    fails,
    { token: () => ({ encodedTime: element(0x18, ascii('21000229120000Z')) }) },
  ],
  ...ends.map(
    ([name, about, end, exists]): TokenRow => [
      `certificate-until-${name}`,
      `A certificate ends ${about}.`,
      exists ? holds : fails,
      { certificates: () => [until(end)] },
    ],
  ),
];

/** Both ends are included. */
export const tokenValidityRows: TokenRow[] = (['root', 'intermediate', 'signer'] as const).flatMap((who) => [
  [
    `${who}-valid-since-the-gentime`,
    `The certificate of the ${who} begins with the genTime.`,
    holds,
    { authority: { [who]: { notBefore: genMs } } },
  ],
  [
    `${who}-valid-until-the-gentime`,
    `The certificate of the ${who} ends with the genTime, so that nobody vouches for the token afterwards.`,
    skips,
    { authority: { [who]: { notAfter: genMs } } },
  ],
  [
    `${who}-valid-until-the-gentime-judged-then`,
    `The certificate of the ${who} ends with the genTime, which is also the time of judgement.`,
    holds,
    { authority: { [who]: { notAfter: genMs } }, at: genTime },
  ],
]);

/** A certificate that is not needed. */
function until(end: string): Bytes {
  const key = testKey('p256', 'another');
  const name = nameOf('Another');
  const usually = makeCertificate({
    ...{ subject: name, issuer: name, key, signedBy: key, notBefore: genMs, notAfter: genMs, extensions: [] },
  });
  return withChange(usually, [0, 4, 1], () => element(0x18, ascii(end)));
}
