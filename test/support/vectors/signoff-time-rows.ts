/** Sign-offs with times that are none, or that are written in another way than times are. */
import { byKey, licence, unsigned } from './signoff-made.ts';
import type { SignoffRow } from './signoff-passkey-rows.ts';
import type { Outcome } from './vector.ts';

/** What a time may not be; `about` continues "A time". */
const wrong: [name: string, about: string, time: string][] = [
  ['on-no-day', 'on a day that there is not', '2026-02-30T02:10:00.000Z'],
  ['at-24', 'at 24:00', '2026-11-15T24:00:00.000Z'],
  ['in-second-60', 'in second 60', '2026-12-31T23:59:60.000Z'],
  ['in-month-13', 'in month 13', '2026-13-01T02:10:00.000Z'],
  ['in-year-0', 'in the year 0', '0000-01-01T00:00:00.000Z'],
  ['with-an-offset', 'with an offset', '2026-11-15T03:10:00.000+01:00'],
  ['without-zone', 'without a time zone', '2026-11-15T02:10:00.000'],
  ['in-small-letters', 'in small letters', '2026-11-15t02:10:00.000z'],
  ['with-a-blank', 'with a blank', '2026-11-15 02:10:00.000Z'],
  ['with-a-line-feed', 'with a line feed behind it', '2026-11-15T02:10:00.000Z\n'],
  ['in-other-digits', 'in Arabic digits', '٢٠٢٦-11-15T02:10:00.000Z'],
  ['in-microseconds', 'with microseconds', '2026-11-15T02:10:00.000000Z'],
  ['in-tenths', 'with tenths of a second', '2026-11-15T02:10:00.0Z'],
  ['in-a-far-year', 'in a year of six digits', '+012026-11-15T02:10:00.000Z'],
  ['as-a-day', 'that is a day', '2026-11-15'],
  ['in-other-order', 'in another order', '15.11.2026'],
  ['empty', 'that is empty', ''],
];

export async function timeRows(passes: Outcome, fails: Outcome): Promise<SignoffRow[]> {
  const signedAt = (time: unknown) => byKey({ ...unsigned, signedAt: time });
  const limited = (change: object) => byKey({ ...unsigned, licence: { ...licence, ...change } });
  const rows: [string, string, Promise<object>, Outcome][] = [
    ['in-1970', 'Signed at the first moment.', signedAt('1970-01-01T00:00:00.000Z'), passes],
    ['before-1970', 'Signed before 1970.', signedAt('1969-12-31T23:59:59.000Z'), fails],
    ['on-a-leap-day', 'Signed on a leap day.', signedAt('2028-02-29T23:59:59.000Z'), passes],
    [
      'part-of-a-second',
      'Signed at a time with a part of a second.',
      signedAt('2026-11-15T02:10:00.500Z'),
      fails,
    ],
    [
      'without-part-of-a-second',
      'Signed at a time without milliseconds.',
      signedAt('2026-11-15T02:10:00Z'),
      fails,
    ],
    [
      'licence-limits',
      'All limits of the licence, from the year 1 to the year 9999.',
      limited({
        ...{ validFrom: '0001-01-01T00:00:00.000Z', expiresAt: '9999-12-31T23:59:59.999Z' },
        suspendedAt: '2027-01-01T00:00:00Z',
      }),
      passes,
    ],
    [
      'licence-expires-at-a-number',
      'A number as end of the licence.',
      limited({ expiresAt: 1_924_992_000 }),
      fails,
    ],
  ];
  for (const [name, about, time] of wrong) {
    rows.push([`${name}`, `Signed at a time ${about}.`, signedAt(time), fails]);
    rows.push([
      `licence-expires-${name}`,
      `A licence that ends at a time ${about}.`,
      limited({ expiresAt: time }),
      fails,
    ]);
  }
  for (const limit of ['validFrom', 'suspendedAt']) {
    rows.push([
      `licence-${limit}-on-no-day`,
      `${limit} on a day that there is not.`,
      limited({ [limit]: '2026-02-30T00:00:00.000Z' }),
      fails,
    ]);
  }
  return Promise.all(
    rows.map(
      async ([name, about, document, outcome]) =>
        [`time-${name}`, about, await document, outcome] as SignoffRow,
    ),
  );
}
