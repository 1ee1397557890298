/** Tests about dates, on a leap day in a zone where it is the first of March already. */
import { firstLeapYear, testDates } from '../../support/service/calendar.ts';

testDates({
  what: 'on a leap day, where it is the first of March',
  at: (n) => new Date(Date.UTC(firstLeapYear + 4 * n, 1, 29, 12)),
  zone: 'Pacific/Kiritimati',
  first: 'src/maintenance/entries/open-defects.test.ts',
});
