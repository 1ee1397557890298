/** Two authorities at once: neither waits for the other, and heads cover nothing in vain for one that is away. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { sql } from 'kysely';
import {
  minute,
  openStampingFixture,
  type StampingFixture,
} from '../../test/support/fixtures/stamping-fixture.ts';
import { createTestAuthority } from '../../test/support/timestamps/test-authority.ts';
import { startTimestampServer } from '../../test/support/timestamps/timestamp-server.ts';

let fixture: StampingFixture;
before(async () => {
  fixture = await openStampingFixture();
});
after(() => fixture.close());
afterEach(() => fixture.clear());

test('two authorities, one of them away: the other goes on alone, and nobody waits', async (t) => {
  const other = await startTimestampServer();
  fixture.others = [other];
  t.after(async () => {
    fixture.others = [];
    await other.close();
  });
  const clocks = fixture.open({ authorities: [fixture.server.url, other.url] });
  await clocks.batch();
  await clocks.step();
  assert.equal((await fixture.tokens()).length, 2);
  await other.closeDoor();
  for (let made = 0; made < 5; made += 1) {
    fixture.now += minute;
    assert.equal(clocks.plannedStamp() !== null, true);
    await clocks.batch();
    await clocks.step();
  }
  assert.deepEqual(await fixture.unstamped(), []);
  assert.deepEqual(
    clocks.lanes.map((lane) => lane.awaySince() === null),
    [true, false],
  );
  await other.reopen();
  fixture.now += 5 * minute;
  await clocks.batch();
  await clocks.step();
  assert.deepEqual(
    clocks.lanes.map((lane) => lane.awaySince()),
    [null, null],
  );
  assert.equal((await fixture.tokens()).filter(({ authority }) => authority === other.url).length, 2);
});

test('a head that covers others is stamped by each authority, also by one that is slower than the batches', async (t) => {
  const other = await startTimestampServer();
  fixture.others = [other];
  t.after(async () => {
    fixture.others = [];
    await other.close();
  });
  const clocks = fixture.open({ authorities: [fixture.server.url, other.url] });
  await clocks.batch();
  await clocks.step();
  for (let made = 0; made < 2; made += 1) await clocks.batch();
  fixture.now += minute;
  const head = await clocks.batch();
  await clocks.step(0);
  const newest = await clocks.batch();
  await clocks.step(1);
  const stampedBy = async (url: string) =>
    (await fixture.tokens())
      .flatMap(({ authority, batch_id }) => (authority === url ? [batch_id] : []))
      .slice(1);
  assert.deepEqual([await stampedBy(fixture.server.url), await stampedBy(other.url)], [[head], [head]]);
  fixture.now += minute;
  await clocks.step(1);
  assert.deepEqual(await stampedBy(other.url), [head, newest]);
});

test('while an authority with a later certificate is away, heads do not cover the tokens of the other again and again', async (t) => {
  const later = createTestAuthority({
    around: fixture.now,
    signer: { notAfter: fixture.now + 15 * 365 * 24 * 60 * minute },
  });
  const other = await startTimestampServer(later);
  fixture.others = [other];
  t.after(async () => {
    fixture.others = [];
    await other.close();
  });
  const clocks = fixture.open({ authorities: [fixture.server.url, other.url] });
  await clocks.batch();
  await clocks.step();
  await other.closeDoor();
  const sizes: number[] = [];
  for (let made = 0; made < 4; made += 1) {
    fixture.now += minute;
    // The clock of the database does not follow: what is older than an hour is moved instead.
    await sql`update timestamps set created_at = created_at - interval '61 minutes'`.execute(fixture.db);
    sizes.push((await fixture.evidence(await clocks.batch())).length);
    await clocks.step();
  }
  assert.deepEqual(sizes.slice(1), [1, 1, 1]);
});
