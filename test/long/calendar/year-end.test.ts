/** Tests about dates, as the year ends. */
import { firstYear, justBefore, testDates } from '../../support/service/calendar.ts';

testDates({
  what: 'just before the year ends',
  at: (n) => justBefore(Date.UTC(firstYear + n + 1, 0, 1)),
  zone: 'UTC',
  first: 'test/e2e/stats.test.ts',
});
