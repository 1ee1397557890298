/** Tests about dates, as a month ends in UTC, in a zone where its last day began late. */
import { firstYear, justBefore, testDates } from '../../support/service/calendar.ts';

testDates({
  what: 'before midnight, where the day began late',
  at: (n) => justBefore(Date.UTC(firstYear + n, 4, 1)),
  zone: 'Pacific/Pago_Pago',
  first: 'src/webhooks/deliveries/partitions.test.ts',
});
