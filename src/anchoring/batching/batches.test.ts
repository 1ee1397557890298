/** What the chain does to batches, and how it is announced. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { sql } from 'kysely';
import type { Hex } from 'viem';
import {
  type Fixture,
  leadOf,
  mine,
  openFixture,
  type TestVault,
} from '../../../test/support/fixtures/batcher-fixture.ts';
import type { Lead } from '../../chain/chain.ts';
import type { MinedAt, TransactionOutcome } from '../../chain/sender/transaction-outcomes.ts';
import { placeEvents } from '../../events/event-order.ts';
import type { Kind } from '../../proof/kinds.ts';
import { countAnchorSubscribers } from '../../webhooks/endpoints/endpoints.store.ts';
import { readAnchoringStats } from '../anchoring-stats.ts';
import { type AnnouncerDeps, createAnnouncer } from '../announcer.ts';
import { confirmedEvents } from '../confirmed-event.ts';
import { applyOutcomes, vaultsOfAnchors } from './batches.ts';

let fixture: Fixture;
let one: TestVault;
let other: TestVault;
before(async () => {
  fixture = await openFixture();
  one = await fixture.newVault('ws_1');
  other = await fixture.newVault('ws_2');
});
after(() => fixture.close());
beforeEach(() =>
  sql`truncate anchor_leaves, anchor_waiting, anchor_subtrees, anchor_batches, events cascade`.execute(
    fixture.db,
  ),
);

async function newBatch(leaves = 1) {
  for (let count = 0; count < leaves; count += 1) await fixture.accept(one, `rec_${leaves}_${count}`);
  await fixture.accept(other, `rec_${leaves}`);
  await fixture.batcher().step(fixture.lead);
  const batch = await fixture.db
    .selectFrom('anchor_batches')
    .selectAll()
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow();
  return batch;
}

const read = (id: number) =>
  fixture.db.selectFrom('anchor_batches').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

type Change =
  | { to: 'submitted' }
  | { to: 'confirmed' | 'finalized'; mined: MinedAt }
  | { to: 'reorged'; was: MinedAt }
  | { to: 'failed'; reason: string };

const apply = (outgoingId: number, ...changes: Change[]) =>
  fixture.db.transaction().execute((db) =>
    applyOutcomes(
      db,
      changes.map((change): TransactionOutcome => ({ outgoingId, purpose: 'anchor', ...change })),
    ),
  );

async function events(): Promise<{ type: string; workspace_id: string; data: Record<string, unknown> }[]> {
  const rows = await fixture.db
    .selectFrom('events')
    .select(['type', 'workspace_id', 'envelope'])
    .orderBy('id')
    .execute();
  return rows.map(({ type, workspace_id, envelope }) => ({
    type,
    workspace_id,
    data: JSON.parse(envelope).data,
  }));
}

const wakeups = { events: 0 };
const announcer = (leavesAtOnce = 1000) =>
  createAnnouncer({
    db: fixture.db,
    leavesAtOnce,
    eventWakeup: { wake: () => (wakeups.events += 1) },
    confirmations: confirmedEvents(),
    placeEvents,
    countSubscribers: countAnchorSubscribers,
  });

test('the status of a batch follows that of its transaction', async () => {
  const { id, outgoing_id } = await newBatch();
  await apply(outgoing_id, { to: 'submitted' });
  assert.equal((await read(id)).status, 'submitted');
  const mined = await mine(fixture.db, outgoing_id);
  await apply(outgoing_id, { to: 'confirmed', mined });
  const confirmed = await read(id);
  assert.deepEqual(
    [confirmed.status, confirmed.block_number, confirmed.block_time],
    ['confirmed', mined.blockNumber, mined.blockTime],
  );
  assert.ok(confirmed.confirmed_at);
  await apply(outgoing_id, { to: 'finalized', mined });
  const finalized = await read(id);
  assert.equal(finalized.status, 'finalized');
  assert.deepEqual(finalized.confirmed_at, confirmed.confirmed_at);
});

test('transactions of other batches or for other purposes do not change a batch', async () => {
  const [batch, neighbour] = [await newBatch(2), await newBatch(3)];
  const mined = await mine(fixture.db, batch.outgoing_id);
  await applyOutcomes(fixture.db, [
    { outgoingId: batch.outgoing_id, purpose: 'deploy', to: 'confirmed', mined },
    { outgoingId: neighbour.outgoing_id, purpose: 'anchor', to: 'submitted' },
  ]);
  assert.equal((await read(batch.id)).status, 'batched');
  assert.equal((await read(neighbour.id)).status, 'submitted');
});

test('the vaults of a transaction are those with leaves in its batch', async () => {
  const batch = await newBatch(2);
  assert.deepEqual(await vaultsOfAnchors(fixture.db, [batch.outgoing_id, 999_999]), [
    { outgoingId: batch.outgoing_id, workspaceId: 'ws_1', vaultId: one.id },
    { outgoingId: batch.outgoing_id, workspaceId: 'ws_2', vaultId: other.id },
  ]);
  assert.deepEqual(await vaultsOfAnchors(fixture.db, []), []);
});

describe('confirmations', () => {
  test('are split into commits by their number of deliveries, and into smaller ones after a timeout', async () => {
    await fixture.db
      .insertInto('webhook_endpoints')
      .values(
        [1, 2, 3, 4].map((number) => ({
          workspace_id: 'ws_1',
          id: `whe_${number}`,
          url: 'https://example.org/',
          description: '',
          event_types: ['record.anchor.confirmed'],
          enabled: true,
        })),
      )
      .execute();
    const tellAll = async (
      leaves: number,
      { placeEvents, rowsAtOnce }: Pick<AnnouncerDeps, 'placeEvents' | 'rowsAtOnce'>,
    ) => {
      const { outgoing_id } = await newBatch(leaves);
      await apply(outgoing_id, { to: 'confirmed', mined: await mine(fixture.db, outgoing_id) });
      const lead = leadOf(fixture.db);
      const stepwise = createAnnouncer({
        db: fixture.db,
        eventWakeup: { wake() {} },
        confirmations: confirmedEvents(),
        countSubscribers: countAnchorSubscribers,
        placeEvents,
        ...(rowsAtOnce !== undefined && { rowsAtOnce }),
      });
      while (await stepwise.step(lead));
      return lead.commits;
    };
    // Five rows for each of four leaves, and one row for the leaf of a workspace without an endpoint.
    assert.equal(await tellAll(4, { placeEvents, rowsAtOnce: 10 }), 3);
    assert.equal((await events()).length, 5);
    const sizes: number[] = [];
    const slow: AnnouncerDeps['placeEvents'] = async (db, writes) => {
      sizes.push(writes.length);
      if (writes.length < 3) return;
      await sql`set local statement_timeout = 1`.execute(db);
      await sql`select pg_sleep(60)`.execute(db);
    };
    await tellAll(5, { placeEvents: slow });
    assert.equal((await events()).length, 5 + 6);
    assert.ok(sizes.filter((size) => size < 3).length >= 3, sizes.join());
    await fixture.db.deleteFrom('webhook_endpoints').execute();
  });

  test('are announced once for each leaf, in order of position, in chunks', async () => {
    const { id, outgoing_id } = await newBatch(4);
    assert.equal(await announcer().step(fixture.lead), false);
    const mined = await mine(fixture.db, outgoing_id);
    await apply(outgoing_id, { to: 'confirmed', mined });
    const lead = leadOf(fixture.db);
    wakeups.events = 0;
    while (await announcer(2).step(lead));
    assert.deepEqual([lead.commits, wakeups.events], [3, 3]);
    const told = await events();
    assert.deepEqual(
      told.map(({ data }) => data.record_id),
      ['rec_4_0', 'rec_4_1', 'rec_4_2', 'rec_4_3', 'rec_4'],
    );
    assert.deepEqual(told[4], {
      type: 'record.anchor.confirmed',
      workspace_id: 'ws_2',
      data: {
        record_id: 'rec_4',
        vault_id: other.id,
        version: 1,
        tx_hash: mined.transactionHash,
        block_number: 7,
        anchored_at: new Date(mined.blockTime * 1000).toISOString(),
      },
    });
    assert.equal((await read(id)).announced, 5);
  });

  test('of a kind without an event are skipped', async () => {
    await fixture.accept(one, 'odd', { kind: 'constructor' as Kind });
    const { id, outgoing_id } = await newBatch(1);
    await apply(outgoing_id, { to: 'confirmed', mined: await mine(fixture.db, outgoing_id) });
    while (await announcer().step(fixture.lead));
    assert.equal((await read(id)).announced, 3);
    assert.equal((await events()).length, 2);
  });

  test('are not announced twice when their commit is interrupted', async () => {
    const { outgoing_id } = await newBatch(3);
    await apply(outgoing_id, { to: 'confirmed', mined: await mine(fixture.db, outgoing_id) });
    const dying = leadOf(fixture.db);
    const { commit } = dying.term;
    dying.term.commit = (work) =>
      commit(async (db) => {
        await work(db);
        throw new Error('killed');
      });
    await assert.rejects(announcer(2).step(dying), /killed/);
    while (await announcer(2).step(fixture.lead));
    assert.equal((await events()).length, 4);
  });
});

describe('a reorg', () => {
  test('resets a batch, notifies each workspace once, and the next confirmation is announced again', async () => {
    const { id, outgoing_id } = await newBatch(2);
    const was = await mine(fixture.db, outgoing_id);
    await apply(outgoing_id, { to: 'confirmed', mined: was });
    // The batch is only partly announced when the reorg comes.
    await announcer(2).step(fixture.lead);
    await apply(outgoing_id, { to: 'reorged', was });
    const back = await read(id);
    assert.deepEqual(
      [back.status, back.announced, back.block_number, back.transaction_hash, back.confirmed_at],
      ['submitted', 0, null, null, null],
    );
    const reorged = (await events()).filter(({ type }) => type === 'anchor.reorged');
    assert.deepEqual(reorged.map(({ workspace_id }) => workspace_id).sort(), ['ws_1', 'ws_2']);
    const { reorged_at, ...data } = reorged[0]?.data ?? {};
    assert.deepEqual(data, { tx_hash: was.transactionHash, block_number: was.blockNumber });
    assert.ok(Number.isFinite(Date.parse(reorged_at as string)));
    assert.equal(await announcer().step(fixture.lead), false);

    await apply(outgoing_id, { to: 'confirmed', mined: { ...was, blockNumber: 9 } });
    while (await announcer().step(fixture.lead));
    const confirmations = (await events()).filter(({ type }) => type === 'record.anchor.confirmed');
    assert.deepEqual(
      confirmations.map(({ data }) => [data.record_id, data.block_number]),
      [
        ['rec_2_0', 7],
        ['rec_2_1', 7],
        ['rec_2_0', 9],
        ['rec_2_1', 9],
        ['rec_2', 9],
      ],
    );
  });

  test('during the announcement of a chunk lets the chunk be announced completely or not at all', async () => {
    const { id, outgoing_id } = await newBatch(2);
    const was = await mine(fixture.db, outgoing_id);
    await apply(outgoing_id, { to: 'confirmed', mined: was });
    const late = leadOf(fixture.db);
    const { commit } = late.term;
    late.term.commit = async (work) => {
      await apply(outgoing_id, { to: 'reorged', was });
      return commit(work);
    };
    await announcer().step(late);
    assert.deepEqual([(await read(id)).announced, (await read(id)).status], [0, 'submitted']);
    assert.deepEqual(
      (await events()).map(({ type }) => type),
      ['anchor.reorged', 'anchor.reorged'],
    );
  });

  test('of something that was never confirmed is not announced', async () => {
    const { outgoing_id } = await newBatch();
    const was = { transactionHash: '0x' as Hex, blockNumber: 1, blockHash: '0x' as Hex, blockTime: 1 };
    await apply(outgoing_id, { to: 'reorged', was });
    assert.deepEqual(await events(), []);
  });
});

describe('a transaction that fails', () => {
  test('by reverting is sent again with more gas twice, and then its batch is set aside', async () => {
    const { id, root } = await newBatch();
    const gas: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await fixture.batcher().resend(fixture.lead);
      const { outgoing_id } = await read(id);
      const sent = await fixture.db
        .selectFrom('outgoing_transactions')
        .select(['gas_limit', 'call_data'])
        .where('id', '=', outgoing_id)
        .executeTakeFirstOrThrow();
      gas.push(sent.gas_limit);
      assert.ok(sent.call_data.includes(root));
      await mine(fixture.db, outgoing_id, { succeeded: false });
      await apply(outgoing_id, { to: 'submitted' }, { to: 'failed', reason: 'the transaction reverted' });
    }
    assert.deepEqual(gas, [100_000, 200_000, 400_000]);
    const batch = await read(id);
    assert.deepEqual(
      [batch.status, batch.reason, batch.to_resend, batch.sends],
      ['set_aside', 'the transaction reverted', false, 3],
    );
    const before = fixture.wakeups.sender;
    await fixture.batcher().resend(fixture.lead);
    assert.deepEqual([(await read(id)).outgoing_id, fixture.wakeups.sender], [batch.outgoing_id, before]);
  });

  test('is not sent again while it could still succeed on another branch', async () => {
    const { id, outgoing_id } = await newBatch();
    await mine(fixture.db, outgoing_id, { succeeded: false, blockNumber: 7 });
    await apply(outgoing_id, { to: 'failed', reason: 'the transaction reverted' });
    for (const [finalized, sends] of [
      [6, 1],
      [7, 2],
    ] as const) {
      const chain = {
        embedded: false,
        head: async () => ({ number: 70, hash: '0x' as Hex }),
        finalizedNumber: async () => finalized,
        client: { estimateGas: async () => 46_283n } as unknown as Lead['chain']['client'],
      };
      await fixture.batcher().resend(leadOf(fixture.db, chain));
      assert.equal((await read(id)).sends, sends);
    }
  });

  test('because it can never succeed sets its batch aside at once, and no other', async () => {
    const { id, outgoing_id } = await newBatch(2);
    await mine(fixture.db, outgoing_id, { noOp: true });
    await apply(outgoing_id, { to: 'failed', reason: 'the chain refuses it' });
    const batch = await read(id);
    assert.deepEqual(
      [batch.status, batch.reason, batch.to_resend],
      ['set_aside', 'the chain refuses it', false],
    );
    assert.equal((await newBatch(3)).status, 'batched');
  });

  test('and is pending again after a reorg is not replaced', async () => {
    const { id, outgoing_id } = await newBatch();
    await mine(fixture.db, outgoing_id, { succeeded: false });
    await apply(outgoing_id, { to: 'failed', reason: 'the transaction reverted' });
    assert.equal((await read(id)).to_resend, true);
    await apply(outgoing_id, { to: 'submitted' });
    await fixture.batcher().resend(fixture.lead);
    const batch = await read(id);
    assert.deepEqual(
      [batch.status, batch.reason, batch.sends, batch.outgoing_id],
      ['submitted', null, 1, outgoing_id],
    );
  });
});

test('the figures count pending leaves and batches that are not final', async () => {
  assert.deepEqual(await readAnchoringStats(fixture.db), {
    pendingLeaves: 0,
    oldestPendingSeconds: null,
    openBatches: { batched: 0, submitted: 0, confirmed: 0, set_aside: 0 },
    unannouncedLeaves: 0,
  });
  const done = await newBatch(2);
  await apply(done.outgoing_id, { to: 'finalized', mined: await mine(fixture.db, done.outgoing_id) });
  const { outgoing_id } = await newBatch(3);
  await apply(outgoing_id, { to: 'submitted' });
  await fixture.accept(one, 'rec_pending');
  await sql`update anchor_leaves set created_at = now() - interval '1 hour' where id in (select id from placed_leaves where batch_id is null)`.execute(
    fixture.db,
  );
  const figures = await readAnchoringStats(fixture.db);
  assert.equal(figures.pendingLeaves, 1);
  const { rows } = await sql<{
    age: number;
  }>`select extract(epoch from clock_timestamp() - created_at)::float8 as age
    from placed_leaves where batch_id is null`.execute(fixture.db);
  const oldest = figures.oldestPendingSeconds ?? 0;
  assert.ok(oldest >= 3600 && oldest <= (rows[0]?.age ?? 0), `${oldest} s`);
  assert.deepEqual(figures.openBatches, { batched: 0, submitted: 1, confirmed: 0, set_aside: 0 });
  assert.equal(figures.unannouncedLeaves, done.size);
});
