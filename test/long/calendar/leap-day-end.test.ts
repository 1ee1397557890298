/** Tests about dates, as a leap day ends before they have loaded. */
import { firstLeapYear, testDates } from '../../support/service/calendar.ts';

testDates({
  what: 'at the very end of a leap day',
  at: (n) => new Date(Date.UTC(firstLeapYear + 4 * n, 1, 29, 23, 59, 59, 900)),
  zone: 'UTC',
  first: 'test/e2e/asset-due.test.ts',
});
