/** Which batches are stamped, how often an authority is asked, and how the heads of batches cover what it missed. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, afterEach, before, test } from 'node:test';
import { sql } from 'kysely';
import {
  minute,
  openStampingFixture,
  type StampingFixture,
  second,
} from '../../test/support/fixtures/stamping-fixture.ts';
import { createTestAuthority } from '../../test/support/timestamps/test-authority.ts';
import { storeToken } from '../anchoring/evidence/timestamps.store.ts';

let fixture: StampingFixture;
before(async () => {
  fixture = await openStampingFixture();
});
after(() => fixture.close());
afterEach(() => fixture.clear());

test('stamps the newest batch once, and says so of the batch', async () => {
  const clocks = fixture.open();
  assert.deepEqual(await clocks.step(), [1_000], 'nothing to stamp');
  const first = await clocks.batch();
  await clocks.step();
  const [token, ...more] = await fixture.tokens();
  assert.deepEqual([token?.batch_id, token?.authority, more.length], [first, fixture.server.url, 0]);
  assert.equal(token?.vouched_at?.getTime(), fixture.now - (fixture.now % second));
  assert.equal(token?.valid_until?.getUTCFullYear(), new Date(fixture.now).getUTCFullYear() + 10);
  assert.deepEqual(await fixture.unstamped(), []);
  fixture.now += 2 * minute;
  await clocks.step();
  assert.equal(fixture.server.requests.length, 1, 'it has its token');
  const report = await fixture.fsck();
  assert.deepEqual(report?.findings, []);
  assert.deepEqual(report?.notes, ['Everything is covered: timestamp authorities vouch for all batches.']);
});

test('batches above the limit are covered by the head of the next one that is stamped', async () => {
  const clocks = fixture.open();
  const first = await clocks.batch();
  await clocks.step();
  assert.equal(clocks.plannedStamp(), null);
  const between = [];
  for (let made = 0; made < 5; made += 1) {
    fixture.now += second;
    between.push(await clocks.batch());
    await clocks.step();
  }
  assert.deepEqual(await fixture.unstamped(), between);
  assert.match((await fixture.fsck())?.notes?.[0] ?? '', /^No timestamp authority vouches yet for 5 batches/);
  fixture.now += minute;
  assert.equal(clocks.plannedStamp() !== null, true);
  const last = await clocks.batch();
  await clocks.step();
  assert.deepEqual(await fixture.unstamped(), []);
  assert.equal(fixture.server.requests.length, 2);
  const covered = await fixture.evidence(last);
  assert.deepEqual(
    covered.flatMap(({ root_batch_id }) => root_batch_id ?? []),
    between,
  );
  assert.deepEqual(
    (await fixture.evidence(between[0] ?? 0)).map(({ timestamp_id }) => timestamp_id),
    (await fixture.tokens()).filter(({ batch_id }) => batch_id === first).map(({ id }) => id),
    'the head of the batch after a token covers the token',
  );
  assert.deepEqual((await fixture.fsck())?.findings, []);
});

test('waits a little for a head that covers everything, and stamps the newest batch if none comes', async () => {
  const clocks = fixture.open();
  await clocks.batch();
  await clocks.step();
  fixture.now += second;
  const left = await clocks.batch();
  fixture.now += second;
  const newest = await clocks.batch();
  fixture.now += minute - second;
  assert.deepEqual(await clocks.step(), [250]);
  assert.equal(fixture.server.requests.length, 1);
  fixture.now += 5 * second;
  await clocks.step();
  assert.deepEqual((await fixture.tokens()).map(({ batch_id }) => batch_id).at(-1), newest);
  assert.deepEqual(await fixture.unstamped(), [left]);
  // Nothing follows for long: it is stamped by itself.
  fixture.now += minute;
  await clocks.step();
  assert.deepEqual(await fixture.unstamped(), [left]);
  await sql`update anchor_batches set created_at = created_at - interval '11 minutes'`.execute(fixture.db);
  await clocks.step();
  assert.deepEqual(await fixture.unstamped(), []);
});

test('never asks more often than the limit, whatever comes', async () => {
  const clocks = fixture.open({ maxPerHour: 20 });
  const askedAt: number[] = [];
  for (const end = fixture.now + 60 * minute; fixture.now < end; fixture.now += 20 * second) {
    if (fixture.now % (3 * minute) < 2 * minute) await clocks.batch();
    fixture.server.mood = fixture.now % (7 * minute) < minute ? 'garbage' : 'granting';
    const before = fixture.server.requests.length;
    await clocks.step();
    if (fixture.server.requests.length > before) askedAt.push(fixture.now);
  }
  assert.ok(askedAt.length >= 10 && askedAt.length <= 20, `${askedAt.length} requests`);
  assert.equal(askedAt.length, fixture.server.requests.length);
  for (const [place, at] of askedAt.entries()) {
    assert.ok(at - (askedAt[place - 1] ?? 0) >= 3 * minute);
  }
  assert.deepEqual((await fixture.fsck())?.findings, []);
});

test('a day without the authority: heads cover nothing in vain, and one head covers everything afterwards', async () => {
  const clocks = fixture.open();
  await clocks.batch();
  await clocks.step();
  fixture.server.mood = 'away';
  let plannedHeads = 0;
  for (const end = fixture.now + 24 * 60 * minute; fixture.now < end; fixture.now += 10 * minute) {
    plannedHeads += clocks.plannedStamp() ? 1 : 0;
    await clocks.batch();
    for (let look = 0; look < 3; look += 1) {
      fixture.now += minute;
      await clocks.step();
    }
    fixture.now -= 3 * minute;
  }
  assert.ok(plannedHeads <= 1, 'the first failure is not known before');
  assert.equal((await fixture.unstamped()).length, 144);
  assert.ok(fixture.server.requests.length < 24 * 60, `${fixture.server.requests.length} requests`);
  assert.equal(clocks.lanes[0]?.awaySince() !== null, true);
  const told = fixture.logged.filter(({ message }) => message === 'no timestamp token');
  assert.equal(told.length, 1, 'once for the reason');

  fixture.server.mood = 'granting';
  fixture.now += 5 * minute;
  await clocks.step();
  assert.equal(clocks.lanes[0]?.awaySince(), null);
  assert.equal((await fixture.unstamped()).length, 143, 'the newest has its token');
  fixture.now += minute;
  assert.equal(clocks.plannedStamp() !== null, true);
  const head = await clocks.batch();
  await clocks.step();
  assert.deepEqual(await fixture.unstamped(), []);
  await assertCovered(head);
  const report = await fixture.fsck();
  assert.deepEqual(report?.findings, []);
  assert.match(report?.notes?.join() ?? '', /^Everything is covered/);
});

/** Each batch has a token, or is an item of a head whose batch has one; not by the flags, but by the rows. */
async function assertCovered(head: number): Promise<void> {
  const stamped = new Set((await fixture.tokens()).map(({ batch_id }) => batch_id));
  const items = await fixture.evidence(head);
  assert.ok(stamped.has(head));
  for (const { id, root } of await fixture.batches()) {
    const item = items.find(({ root_batch_id }) => root_batch_id === id);
    assert.ok(stamped.has(id) || item, `batch ${id}`);
    if (item) assert.deepEqual(item.sha256, createHash('sha256').update(root).digest());
  }
}

test('an authority that fails every second time: a head that failed is stamped next, and no other covers the same', async () => {
  const clocks = fixture.open();
  const rows: number[] = [];
  for (let round = 0; round < 40; round += 1) {
    for (let made = 0; made < 3; made += 1) await clocks.batch();
    fixture.server.mood = fixture.server.requests.length % 2 === 0 ? 'granting' : 'away';
    fixture.now += minute;
    await clocks.step();
    rows.push(Number((await countRoots()).rows));
  }
  const { rows: items, roots } = await countRoots();
  assert.equal(items, roots, 'each root is covered once');
  assert.ok(Number(items) <= (await fixture.batches()).length);
  assert.ok((rows.at(-1) ?? 0) > (rows.at(-12) ?? 0), 'it goes on');
  assert.ok((await fixture.unstamped()).length <= 3 * 4, 'and keeps up');
  assert.deepEqual((await fixture.fsck())?.findings, []);
});

async function countRoots(): Promise<{ rows: number; roots: number }> {
  const { rows } = await sql<{ rows: number; roots: number }>`
    select count(*) as rows, count(distinct root_batch_id) as roots from evidence where root_batch_id is not null`.execute(
    fixture.db,
  );
  return rows[0] ?? { rows: 0, roots: 0 };
}

test('stores nothing that does not pass, and goes on when the authority is right again', async () => {
  const clocks = fixture.open();
  await clocks.batch();
  for (const mood of ['garbage', 'wrong nonce', 'wrong imprint', 'refusing', 'huge', 'hanging up'] as const) {
    fixture.server.mood = mood;
    await clocks.step();
    assert.deepEqual(await fixture.tokens(), [], mood);
    fixture.now += 5 * minute;
  }
  assert.equal(clocks.answers.length, 6);
  assert.ok(clocks.answers.every((answer) => answer === `${new URL(fixture.server.url).host}/tsa failed`));
  assert.match(JSON.stringify(fixture.logged[1]), /does not have the nonce.*Nothing was stored/);
  fixture.server.mood = 'granting';
  await clocks.step();
  assert.equal((await fixture.tokens()).length, 1);
});

test('pauses grow from failure to failure, up to five minutes', async () => {
  const clocks = fixture.open({ maxPerHour: 3_600 });
  await clocks.batch();
  fixture.server.mood = 'away';
  const pauses: number[] = [];
  for (let failure = 0; failure < 9; failure += 1) {
    const [restMs = 0] = await clocks.step();
    pauses.push(restMs / second);
    fixture.now += restMs;
  }
  assert.deepEqual(pauses, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
});

test('goes on after a restart as if nothing had happened, and counts one token after a kill', async () => {
  const before = fixture.open();
  const first = await before.batch();
  await before.step();
  const after = fixture.open();
  const second = await after.batch();
  assert.equal(after.plannedStamp(), null, 'the last request is not known yet');
  const [restMs = 0] = await after.step();
  assert.ok(restMs > 50_000 && restMs <= minute, `${restMs} ms`);
  assert.equal(fixture.server.requests.length, 1);
  fixture.now += minute;
  await after.step();
  fixture.now += 6_000;
  await after.step();
  assert.deepEqual(
    (await fixture.tokens()).map(({ batch_id }) => batch_id),
    [first, second],
  );

  const [stored] = await fixture.tokens();
  assert.ok(stored?.vouched_at && stored.valid_until);
  const again = await storeToken(fixture.db, {
    ...{
      batchId: first,
      authority: fixture.server.url,
      token: Buffer.from('second'),
      certificates: [],
      crls: [],
    },
    ...{ vouchedAt: stored.vouched_at, validUntil: stored.valid_until },
  });
  assert.equal(again, false);
  assert.equal((await fixture.tokens()).length, 2);
});

test('failed requests count after a restart too, and the pauses go on growing', async () => {
  fixture.server.mood = 'away';
  const before = fixture.open({ maxPerHour: 3_600 });
  await before.batch();
  for (let failure = 0; failure < 4; failure += 1) {
    await before.step();
    fixture.now += minute;
  }
  const after = fixture.open({ maxPerHour: 3_600 });
  const [restMs = 0] = await after.step();
  assert.equal(fixture.server.requests.length, 4);
  assert.ok(restMs > 30_000 && restMs <= 40_000, `${restMs} ms`);
  assert.equal(after.plannedStamp(), null);
  fixture.now += restMs;
  fixture.server.mood = 'granting';
  await after.step();
  assert.equal((await fixture.tokens()).length, 1);
  const again = fixture.open({ maxPerHour: 3_600 });
  await again.step();
  fixture.now += 2_000;
  assert.ok(again.plannedStamp(), 'all is well');
});

test('tokens are renewed as soon as the authority has a certificate that ends later', async (t) => {
  const ending = (years: number) =>
    createTestAuthority({
      around: fixture.now,
      signer: { notAfter: fixture.now - (fixture.now % second) + years * 365 * 24 * 60 * minute },
    });
  await fixture.replaceServer(ending(1));
  t.after(() => fixture.replaceServer());
  const clocks = fixture.open();
  const old: number[] = [];
  for (let made = 0; made < 3; made += 1) {
    old.push(await clocks.batch());
    await clocks.step();
    fixture.now += minute;
  }
  assert.deepEqual(
    (await fixture.tokens()).map(({ renewed }) => renewed),
    [false, false, false],
  );
  await fixture.replaceServer(ending(9));
  const first = await clocks.batch();
  await clocks.step();
  fixture.now += minute;
  assert.deepEqual(
    (await fixture.tokens()).map(({ batch_id, renewed }) => [batch_id, renewed]),
    // The head of this batch covers the last token because it was new.
    [...old.map((id, place) => [id, place === 2]), [first, false]],
  );
  const head = await clocks.batch();
  await clocks.step();
  const all = await fixture.tokens();
  assert.deepEqual(
    all.map(({ renewed }) => renewed),
    [true, true, true, false, false],
  );
  assert.deepEqual(
    (await fixture.evidence(head))
      .flatMap(({ timestamp_id }) => timestamp_id ?? [])
      .toSorted((a, b) => a - b),
    [all[0]?.id, all[1]?.id, all[3]?.id],
  );
  fixture.now += minute;
  const next = await clocks.batch();
  assert.deepEqual(
    (await fixture.evidence(next)).map(({ timestamp_id }) => timestamp_id),
    [all[4]?.id],
    'nothing is renewed twice',
  );
  assert.deepEqual((await fixture.fsck())?.findings, []);
});
