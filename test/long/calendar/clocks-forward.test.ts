/** Tests about dates, as the clocks go forward. */
import { firstLeapYear, justBefore, nthSunday, testDates } from '../../support/service/calendar.ts';

const hourMs = 3_600_000;

testDates({
  what: 'as the clocks go forward',
  at: (n) => justBefore(nthSunday(firstLeapYear + n, 2, 'last') + hourMs),
  zone: 'Europe/Berlin',
  first: 'test/e2e/api-keys.test.ts',
});
