/** Tokens that outlive their certificates by decades, and proofs that have room for it. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { sql } from 'kysely';
import {
  type Clocks,
  minute,
  openStampingFixture,
  type StampingFixture,
} from '../../test/support/fixtures/stamping-fixture.ts';
import { longOnly } from '../../test/support/service/long.ts';
import { createTestAuthority } from '../../test/support/timestamps/test-authority.ts';
import { startTimestampServer } from '../../test/support/timestamps/timestamp-server.ts';

const day = 24 * 60 * minute;
const year = 365 * day;
const start = Date.parse('2026-01-01T00:00:00Z');

let fixture: StampingFixture;
const real = Date.now();
before(async () => {
  fixture = await openStampingFixture();
});
after(() => fixture.close());
afterEach(async () => {
  fixture.now = real;
  await fixture.clear();
  await fixture.replaceServer();
});

/** One root for all generations, as certificates of authorities have it. */
const issuedAt = (at: number, lasts: number) =>
  createTestAuthority({
    around: at,
    root: { notBefore: start - year, notAfter: start + 60 * year },
    intermediate: { notBefore: start - year, notAfter: start + 59 * year },
    signer: { notAfter: at + lasts },
  });

/** Batches twice a year, the second of a pair without a token of its own. */
async function anchorUntil(end: number, clocks: Clocks, changed: () => Promise<void>): Promise<number[]> {
  const made: number[] = [];
  while (fixture.now < end) {
    await changed();
    made.push(await clocks.batch());
    await clocks.step();
    made.push(await clocks.batch());
    fixture.now += 2 * minute;
    made.push(await clocks.batch());
    await clocks.step();
    fixture.now += 182 * day;
  }
  return made;
}

test('two authorities through eight generations of certificates: proofs reach the last one within 16 renewals', {
  skip: longOnly,
}, async (t) => {
  fixture.now = start;
  const lasts = 5 * year;
  const everyMs = 3.5 * year;
  await fixture.replaceServer(issuedAt(start, lasts));
  const other = await startTimestampServer(issuedAt(start, lasts));
  fixture.others = [other];
  let others = other;
  t.after(async () => {
    fixture.others = [];
    await others.close();
  });
  const clocks = fixture.open({ authorities: [fixture.server.url, other.url] });
  const changes = [everyMs, everyMs * 1.5];
  let generations = 1;
  const made = await anchorUntil(Date.parse('2053-06-01T00:00:00Z'), clocks, async () => {
    const [first = 0, second = 0] = changes;
    if (fixture.now >= start + first) {
      await fixture.replaceServer(issuedAt(fixture.now, lasts));
      changes[0] = first + everyMs;
      generations += 1;
    }
    if (fixture.now >= start + second) {
      const { port } = new URL(others.url);
      await others.close();
      others = await startTimestampServer(issuedAt(fixture.now, lasts), { port: Number(port) });
      fixture.others = [others];
      changes[1] = second + everyMs;
    }
  });
  assert.equal(generations, 8);
  const at = Date.parse('2054-01-01T00:00:00Z');
  // With tokens of its own, and covered by the head of the next.
  for (const batch of made.slice(0, 2)) {
    const told: object[] = [];
    const proof = await fixture.proofOf(batch, told);
    assert.ok(proof.renewals.length <= 16, `${proof.renewals.length} renewals`);
    const { steps } = await fixture.verify(proof, at);
    assert.deepEqual(
      steps.filter(({ name, status }) => status === 'fail' || (name === 'time' && status !== 'pass')),
      [],
    );
    assert.match(steps.at(-1)?.message ?? '', /^It existed on 2026-01-01T00:0/);
    assert.deepEqual(told, []);
  }
  const report = await fixture.fsck();
  assert.deepEqual(report.findings, []);
});

test('a new certificate every year does not add a renewal every year', async () => {
  fixture.now = start;
  await fixture.replaceServer(issuedAt(start, 10 * year));
  const clocks = fixture.open();
  const made = await anchorUntil(start + 19 * year, clocks, () =>
    fixture.replaceServer(issuedAt(fixture.now, 10 * year)),
  );
  const proof = await fixture.proofOf(made[0] ?? 0);
  assert.ok(proof.renewals.length <= 3, `${proof.renewals.length} renewals`);
  assert.equal((await fixture.verify(proof, start + 24 * year)).steps.at(-1)?.status, 'pass');
  // Each token is renewed once in its time, and nothing is covered again and again.
  const { rows } = await sql<{ most: number }>`
    select max(covered) as most from (
      select count(*) as covered from evidence where timestamp_id is not null group by timestamp_id) as times`.execute(
    fixture.db,
  );
  assert.ok((rows[0]?.most ?? 0) <= 3, `${rows[0]?.most} times`);
  assert.deepEqual((await fixture.fsck()).findings, []);
});

test('a token is not renewed by one that ends hardly later, nor after its end', async () => {
  fixture.now = start;
  await fixture.replaceServer(issuedAt(start, 30 * day));
  const clocks = fixture.open();
  await clocks.batch();
  await clocks.step();
  const renewed = async () => (await fixture.tokens())[0]?.renewed;
  await fixture.replaceServer(issuedAt(fixture.now, 30 * day + 60 * minute));
  fixture.now += 29 * day;
  await clocks.batch();
  await clocks.step();
  assert.equal(await renewed(), false, 'an hour later');
  await fixture.replaceServer(issuedAt(fixture.now, year));
  fixture.now += 2 * day;
  for (let made = 0; made < 2; made += 1) {
    fixture.now += minute;
    await clocks.batch();
    await clocks.step();
  }
  assert.equal(await renewed(), false, 'too late');
  assert.deepEqual((await fixture.fsck()).findings, []);
});

test('where there are more renewals than a proof has room for, it reaches as far as it can, and that is told', async () => {
  fixture.now = start;
  const made: number[] = [];
  await fixture.replaceServer(issuedAt(start, 40 * day));
  const clocks = fixture.open();
  for (let generation = 0; generation < 20; generation += 1) {
    await fixture.replaceServer(issuedAt(fixture.now, 40 * day));
    made.push(await clocks.batch());
    await clocks.step();
    fixture.now += 35 * day;
  }
  const told: object[] = [];
  const proof = await fixture.proofOf(made[0] ?? 0, told);
  assert.equal(proof.renewals.length, 16);
  assert.equal((await fixture.verify(proof, start + (16 * 35 + 39) * day)).steps.at(-1)?.status, 'pass');
  assert.equal(told.length, 1);
  const { findings } = await fixture.fsck();
  assert.deepEqual(new Set(findings.map(({ rule }) => rule)), new Set(['renewals_too_many']));
  assert.match(findings[0]?.message ?? '', /is renewed more often than a proof has room for/);
});
