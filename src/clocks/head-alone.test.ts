/** While nothing is anchored: batches of a head alone, made when timestamps need one and only then. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { sql } from 'kysely';
import {
  minute,
  openStampingFixture,
  type StampingFixture,
} from '../../test/support/fixtures/stamping-fixture.ts';
import { createTestAuthority } from '../../test/support/timestamps/test-authority.ts';
import { batchesPass } from '../anchoring/batching/batches.check.ts';
import { runEach } from '../runtime/check.ts';

const day = 24 * 60 * minute;
let fixture: StampingFixture;
const real = Date.now();
before(async () => {
  fixture = await openStampingFixture();
});
after(() => fixture.close());
afterEach(async () => {
  fixture.now = real;
  await fixture.clear();
});

const lasting = (days: number) =>
  createTestAuthority({
    around: real,
    signer: { notAfter: fixture.now - (fixture.now % 1_000) + days * day },
  });

async function findings(): Promise<string[]> {
  const [batches] = await runEach([{ name: 'batches', passes: [batchesPass(fixture.db)] }], { settleMs: 0 });
  const own = batches?.findings ?? [];
  return [...own, ...(await fixture.fsck()).findings].map(({ rule }) => rule);
}

test('an idle installation renews its tokens when the authority has a later certificate', async (t) => {
  await fixture.replaceServer(lasting(400));
  t.after(() => fixture.replaceServer());
  const clocks = fixture.open();
  const first = await clocks.batch();
  await clocks.step();
  await fixture.silence(60);
  fixture.now += 2 * minute;
  assert.equal(await clocks.idle(), null, 'the token lasts long enough');
  fixture.now += 350 * day;
  await clocks.step();
  assert.equal(fixture.server.requests.length, 2, 'asks whether the certificate lasts longer by now');
  fixture.now += 2 * minute;
  assert.equal(await clocks.idle(), null, 'it does not');
  await fixture.replaceServer(lasting(1_000));
  fixture.now += 2 * 60 * minute;
  await clocks.step();
  assert.equal(fixture.server.requests.length, 0, 'not every hour');
  fixture.now += 10 * day;
  await clocks.step();
  assert.equal(fixture.server.requests.length, 1);
  assert.equal((await fixture.tokens()).length, 1);

  fixture.now += 2 * minute;
  const head = await clocks.idle();
  assert.ok(head);
  const stored = (await fixture.batches()).at(-1);
  assert.deepEqual([stored?.id, stored?.size, stored?.head_path.length], [head, 0, 0]);
  assert.equal(await clocks.idle(), null, 'one at a time');
  await clocks.step();
  assert.deepEqual(
    (await fixture.tokens()).map(({ batch_id, renewed }) => [batch_id === head, renewed]),
    [
      [false, true],
      [true, false],
    ],
  );
  await fixture.silence(120);
  fixture.now += 2 * minute;
  assert.equal(await clocks.idle(), null, 'nothing is left to do');
  assert.deepEqual(await findings(), []);
  const proof = await fixture.proofOf(first);
  assert.deepEqual(
    proof.renewals.map(({ size, proof, anchors }) => [size, proof.length, anchors.length]),
    [[0, 0, 2]],
  );
  const { steps } = await fixture.verify(proof, fixture.now + 600 * day);
  assert.deepEqual(
    steps.flatMap(({ name, status }) => (status === 'skipped' ? [] : [`${name} ${status}`])),
    ['digest', 'claims', 'leaf', 'path', 'seal', 'token', 'renewal', 'token', 'time'].map(
      (name) => `${name} pass`,
    ),
  );
});

test('what an authority missed before the silence is covered by one head', async () => {
  const clocks = fixture.open();
  await clocks.batch();
  await clocks.step();
  fixture.server.mood = 'away';
  fixture.now += minute;
  const missed: number[] = [];
  for (let made = 0; made < 8; made += 1) {
    missed.push(await clocks.batch());
    await clocks.step();
  }
  await fixture.silence(60);
  for (let look = 0; look < 5; look += 1) {
    fixture.now += 10 * minute;
    assert.equal(await clocks.idle(), null, 'not while nobody would stamp it');
    await clocks.step();
  }
  fixture.server.mood = 'granting';
  fixture.now += 10 * minute;
  await clocks.step();
  assert.equal((await fixture.unstamped()).length, 7, 'the newest has its token');
  fixture.now += minute;
  assert.ok(await clocks.idle());
  await clocks.step();
  assert.deepEqual(await fixture.unstamped(), []);
  fixture.now += minute;
  assert.equal(await clocks.idle(), null);
  assert.deepEqual(await findings(), []);
});

test('there is no head alone while batches come, more than one an hour, or without an authority', async () => {
  const clocks = fixture.open();
  for (let made = 0; made < 6; made += 1) await clocks.batch();
  const unknown = fixture.batcher();
  await fixture.silence(20);
  await unknown.step(fixture.lead);
  assert.equal((await fixture.batches()).length, 6, 'without an authority');
  await clocks.step();
  fixture.now += minute;
  await sql`update anchor_batches set created_at = now() where id = (select max(id) from anchor_batches)`.execute(
    fixture.db,
  );
  assert.equal(await clocks.idle(), null, 'a batch was just made');
  await fixture.silence(20);
  assert.ok(await clocks.idle());
  await clocks.step();
  await sql`update anchor_batches set stamped = false where id < (select max(id) from anchor_batches)`.execute(
    fixture.db,
  );
  fixture.now += minute;
  await fixture.silence(20);
  assert.equal(await clocks.idle(), null, 'the last was 20 minutes ago');
  await fixture.silence(50);
  assert.ok(await clocks.idle());
});

test('two heads alone that cover nothing else have different roots', async () => {
  const clocks = fixture.open();
  for (let made = 0; made < 6; made += 1) await clocks.batch();
  await clocks.step();
  const roots = new Set<string>();
  for (let made = 0; made < 3; made += 1) {
    await fixture.silence(120);
    await sql`update anchor_batches set stamped = id > (select min(id) + 3 from anchor_batches)`.execute(
      fixture.db,
    );
    await sql`update timestamps set covered = true`.execute(fixture.db);
    fixture.now += 2 * minute;
    assert.ok(await clocks.idle());
    roots.add((await fixture.batches()).at(-1)?.root.toString('hex') ?? '');
    await clocks.step();
  }
  assert.equal(roots.size, 3);
});
