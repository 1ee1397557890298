/** A head that covers others vouches for them by its token, whatever becomes of its transaction. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import {
  minute,
  openStampingFixture,
  type StampingFixture,
} from '../../test/support/fixtures/stamping-fixture.ts';
import { createTestAuthority } from '../../test/support/timestamps/test-authority.ts';
import { applyOutcomes } from '../anchoring/batching/batches.ts';

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

async function setAside(batch: number): Promise<void> {
  const row = (await fixture.batches()).find(({ id }) => id === batch);
  const outgoingId = row?.outgoing_id ?? 0;
  await applyOutcomes(fixture.db, [{ outgoingId, purpose: 'anchor', to: 'failed', reason: 'refused' }]);
}

const lasting = (days: number) =>
  createTestAuthority({ around: real, signer: { notAfter: real - (real % 1_000) + days * day } });

test('a batch is covered by a head that was set aside after it got its token', async () => {
  const clocks = fixture.open();
  await clocks.batch();
  await clocks.step();
  const missed = await clocks.batch();
  await fixture.confirmAll();
  fixture.now += 2 * minute;
  const head = await clocks.batch();
  await clocks.step();
  await setAside(head);
  const proof = await fixture.proofOf(missed);
  assert.deepEqual(
    proof.renewals.map(({ covers, anchors }) => [covers, anchors.map(({ type }) => type)]),
    [[{ renewal: null, anchor: null }, ['rfc3161']]],
  );
  assert.equal((await fixture.verify(proof, fixture.now)).steps.at(-1)?.status, 'pass');
});

test('tokens are renewed by heads in no block, also one after the other', async (t) => {
  await fixture.replaceServer(lasting(400));
  t.after(() => fixture.replaceServer());
  const clocks = fixture.open();
  const first = await clocks.batch();
  await clocks.step();
  await fixture.confirmAll();
  for (const days of [2_000, 10_000]) {
    fixture.now = real + (days === 2_000 ? 390 : 1_900) * day;
    await fixture.replaceServer(lasting(days));
    for (let made = 0; made < 2; made += 1) {
      const head = await clocks.batch();
      await clocks.step();
      await setAside(head);
      fixture.now += 2 * minute;
    }
  }
  const proof = await fixture.proofOf(first);
  assert.deepEqual(
    proof.renewals.map(({ covers, anchors }) => [covers, anchors.map(({ type }) => type)]),
    [
      [{ renewal: null, anchor: 1 }, ['rfc3161']],
      [{ renewal: 0, anchor: 0 }, ['rfc3161']],
    ],
  );
  const { steps } = await fixture.verify(proof, real + 5_000 * day);
  assert.deepEqual(steps.at(-1)?.status, 'pass');
  assert.deepEqual((await fixture.fsck()).findings, []);
});
