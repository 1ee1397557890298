/** What the announcer makes of leaves that were announced before, with an anchor of an earlier proof format. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import {
  confirmBatch,
  type Fixture,
  leadOf,
  openFixture,
} from '../../test/support/fixtures/batcher-fixture.ts';
import { placeEvents } from '../events/event-order.ts';
import { countAnchorSubscribers } from '../webhooks/endpoints/endpoints.store.ts';
import { createAnnouncer } from './announcer.ts';
import { applyOutcomes } from './batching/batches.ts';
import { confirmedEvents } from './confirmed-event.ts';

let fixture: Fixture;
before(async () => {
  fixture = await openFixture();
});
after(() => fixture.close());
beforeEach(async () => {
  await fixture.clear();
  await sql`delete from events`.execute(fixture.db);
});

const announcer = (options: { rowsAtOnce?: number } = {}) =>
  createAnnouncer({
    ...{ db: fixture.db, eventWakeup: { wake() {} }, confirmations: confirmedEvents() },
    ...{ placeEvents, countSubscribers: countAnchorSubscribers, ...options },
  });

/** The records that events have announced, in order. */
async function told(): Promise<string[]> {
  const rows = await fixture.db
    .selectFrom('events')
    .select('envelope')
    .where('type', '=', 'record.anchor.confirmed')
    .orderBy('id')
    .execute();
  return rows.map(({ envelope }) => JSON.parse(envelope).data.record_id);
}

/** Records in one confirmed batch, of which these were announced before. */
async function confirmRecords(count: number, before: string[]): Promise<number> {
  const vault = await fixture.newVault();
  for (let n = 0; n < count; n += 1) await fixture.accept(vault, `rec_${n}`);
  await sql`update anchor_leaves set announced_before = true where subject_id = any(${before})`.execute(
    fixture.db,
  );
  return confirmBatch(fixture);
}

test('they count as announced without an event, and get none after a reorg either', async () => {
  const id = await confirmRecords(4, ['rec_1', 'rec_3']);
  while (await announcer().step(fixture.lead));
  assert.deepEqual(await told(), ['rec_0', 'rec_2']);
  const [batch] = await fixture.batches();
  assert.ok(batch && batch.id === id);
  assert.equal(batch.announced, 4);

  const { rows } = await sql<{ hash: string }>`
    select '0x' || encode(transaction_hash, 'hex') as hash from anchor_batches`.execute(fixture.db);
  const hash = rows[0]?.hash as `0x${string}`;
  const mined = { transactionHash: hash, blockNumber: 9, blockHash: hash, blockTime: 1_800_000_009 };
  const outcome = { outgoingId: batch.outgoing_id, purpose: 'anchor' } as const;
  await applyOutcomes(fixture.db, [
    { ...outcome, to: 'reorged', was: mined },
    { ...outcome, to: 'confirmed', mined },
  ]);
  while (await announcer().step(fixture.lead));
  assert.deepEqual(await told(), ['rec_0', 'rec_2', 'rec_0', 'rec_2']);
  assert.equal((await fixture.batches())[0]?.announced, 4);
});

test('they take no room in a commit from those that are announced', async () => {
  await confirmRecords(6, ['rec_0', 'rec_1', 'rec_2', 'rec_3', 'rec_4']);
  const lead = leadOf(fixture.db);
  const cramped = announcer({ rowsAtOnce: 1 });
  while (await cramped.step(lead));
  assert.equal(lead.commits, 1);
  assert.deepEqual(await told(), ['rec_5']);
});
