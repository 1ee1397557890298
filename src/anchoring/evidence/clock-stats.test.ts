/** Figures about timestamps. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import {
  openStampingFixture,
  type StampingFixture,
} from '../../../test/support/fixtures/stamping-fixture.ts';
import { readClockStats } from './clock-stats.ts';

let fixture: StampingFixture;
before(async () => {
  fixture = await openStampingFixture();
});
after(() => fixture.close());

test('a token that has ended does not hide the next one that ends', async () => {
  const clocks = fixture.open();
  for (let made = 0; made < 2; made += 1) {
    await clocks.batch();
    await clocks.step();
    fixture.now += 120_000;
  }
  const [first, second] = await fixture.tokens();
  await sql`update timestamps set valid_until = now() - interval '1 day' where id = ${first?.id}`.execute(
    fixture.db,
  );
  const { firstEnd } = await readClockStats(fixture.db);
  assert.deepEqual(firstEnd, second?.valid_until);
});
