/** Tests about dates, as the clocks go back. */
import { firstYear, justBefore, nthSunday, testDates } from '../../support/service/calendar.ts';

const hourMs = 3_600_000;

testDates({
  what: 'as the clocks go back',
  at: (n) => justBefore(nthSunday(firstYear + n, 10, 1) + 6 * hourMs),
  zone: 'America/New_York',
  first: 'src/holdings/audit-proofs/audit-anchors.test.ts',
});
