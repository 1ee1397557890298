/** A confirmed transfer takes effect once, however often the chain confirms it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  caller,
  openAssetFixture,
  transferLeaf,
  vaultAddresses,
  workspaceId,
} from '../../../test/support/fixtures/stored-assets-fixture.ts';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import type { Database } from '../../db/database.ts';
import { listTransfers } from '../../holdings/transfers/transfers.store.ts';

let database: Database;
let fixture: Awaited<ReturnType<typeof openAssetFixture>>;
before(async () => {
  database = await openTestDatabase();
  fixture = await openAssetFixture(database);
});
after(() => database.close());

const [one = '', two = '', three = ''] = vaultAddresses;
const viewer = `0x${'f'.repeat(40)}`;
const create = (assetId: string) =>
  fixture.assets.create(caller, { vaultAddress: one, name: 'Pump', assetId }, () => []);
const start = (assetId: string, address: string) => fixture.startTransfer(assetId, address);
const grant = (assetId: string) =>
  fixture.viewers.grant(caller, { assetId, addresses: [viewer], until: null }, () => []);
const isViewer = (assetId: string, address: string) =>
  fixture.viewers.isViewer({ workspaceId, assetId }, address);

/** Only events of transfers; creating an asset emits an event, too. */
async function eventsOf(assetId: string) {
  const rows = await database.db
    .selectFrom('events')
    .select('envelope')
    .where('type', '=', 'asset.transfer.completed')
    .orderBy('id')
    .execute();
  return rows
    .map(({ envelope }) => JSON.parse(envelope))
    .filter(({ data }) => data.asset_id === assetId)
    .map(({ type, data }) => ({ type, ...data }));
}

test('the owner changes only with the confirmation, and the grants of the former owner end', async () => {
  await create('sold');
  await grant('sold');
  const { id, number } = await start('sold', two);
  assert.equal((await fixture.assets.get(workspaceId, 'sold')).vaultAddress, one);
  assert.ok((await isViewer('sold', viewer)) && (await isViewer('sold', one)));
  assert.equal(await isViewer('sold', two), false);

  await fixture.confirm(transferLeaf('sold', number));
  assert.equal((await fixture.assets.get(workspaceId, 'sold')).vaultAddress, two);
  assert.ok(await isViewer('sold', two));
  assert.equal((await isViewer('sold', viewer)) || (await isViewer('sold', one)), false);
  assert.deepEqual(await eventsOf('sold'), [
    {
      type: 'asset.transfer.completed',
      asset_id: 'sold',
      from_vault_id: 'vlt_1',
      to_vault_id: 'vlt_2',
      tx_hash: '0xab',
      block_number: 7,
      transferred_at: '2026-11-15T08:00:00.000Z',
    },
  ]);
  const entry = await database.db
    .selectFrom('audit_entries')
    .select(['details', 'actor_kind'])
    .where('action', '=', 'asset.transfer_complete')
    .executeTakeFirstOrThrow();
  assert.deepEqual(
    [entry.actor_kind, entry.details.transferId, entry.details.endedViewers],
    ['system', id, [viewer]],
  );
});

test('a transfer confirmed again after a reorg is announced again, and does not affect later owners', async () => {
  await create('twice');
  await start('twice', two);
  await fixture.confirm(transferLeaf('twice', 1));
  await start('twice', three);
  await fixture.confirm(transferLeaf('twice', 2, 8));
  await grant('twice');

  await fixture.confirm(transferLeaf('twice', 1, 9), transferLeaf('twice', 2, 9));
  assert.equal((await fixture.assets.get(workspaceId, 'twice')).vaultAddress, three);
  assert.ok(await isViewer('twice', viewer), 'a grant of the owner of today stays');
  assert.deepEqual(
    (await eventsOf('twice')).map(({ to_vault_id, block_number }) => [to_vault_id, block_number]),
    [
      ['vlt_2', 7],
      ['vlt_3', 8],
      ['vlt_2', 9],
      ['vlt_3', 9],
    ],
  );
});

test('a repeated confirmation of an earlier transfer does not end the one in progress', async () => {
  await create('again');
  await start('again', two);
  await fixture.confirm(transferLeaf('again', 1));
  await start('again', one);
  await fixture.confirm(transferLeaf('again', 1, 9));
  assert.equal((await fixture.assets.get(workspaceId, 'again')).vaultAddress, two);
  await assert.rejects(start('again', three), { code: 'conflict' });
  await fixture.confirm(transferLeaf('again', 2, 10));
  assert.equal((await fixture.assets.get(workspaceId, 'again')).vaultAddress, one);
});

test('ignores transfers of other subjects', async () => {
  await create('mine');
  await fixture.confirm(transferLeaf('fil_1', 1), transferLeaf('mine', 1));
  assert.deepEqual([await eventsOf('mine'), await eventsOf('fil_1')], [[], []]);
  assert.equal((await fixture.assets.get(workspaceId, 'mine')).vaultAddress, one);
});

/** Deactivates the third vault in a transaction that commits when `work` waits for a lock or is done. */
async function deactivatedDuring<T>(work: () => Promise<T>): Promise<T> {
  const other = await database.pool.connect();
  try {
    await other.query('begin');
    await other.query("update vaults set status = 'inactive' where id = 'vlt_3'");
    let done = false;
    const result = work().finally(() => {
      done = true;
    });
    result.catch(() => {});
    await waitUntil(async () => {
      const { rows } = await database.pool.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return done || rows.length > 0;
    });
    await other.query('commit');
    return await result;
  } finally {
    await other.query("update vaults set status = 'active' where id = 'vlt_3'");
    other.release();
  }
}

test('a vault that is deactivated concurrently gets no asset, and no change to one that it has', async () => {
  await create('late');
  const deactivated = { code: 'vault_deactivated' };
  await assert.rejects(
    deactivatedDuring(() => start('late', three)),
    deactivated,
  );
  await start('late', three);
  await fixture.confirm(transferLeaf('late', 1));
  await assert.rejects(
    deactivatedDuring(() =>
      fixture.assets.update(caller, 'late', { change: { name: 'Valve' }, seen: undefined }),
    ),
    deactivated,
  );
});

test('a transfer counts as confirmed once it has taken effect', async () => {
  await create('seen');
  await start('seen', two);
  await database.pool.query(`
    with account as (insert into sender_accounts values (decode(repeat('11', 20), 'hex'), 1) returning address),
    sent as (
      insert into outgoing_transactions (account, nonce, purpose, to_address, call_data, gas_limit)
      select address, 0, 'anchor', address, '', 1 from account returning id
    ), batch as (
      insert into anchor_batches (root, size, outgoing_id, status, transaction_hash, block_number, block_hash, block_time,
        evidence_root, head_path)
      select decode(repeat('22', 32), 'hex'), 1, id, 'confirmed', decode(repeat('33', 32), 'hex'), 7,
        decode(repeat('44', 32), 'hex'), 1, sha256(''), '' from sent returning id
    ), chained as (
      insert into chain (chain_id, genesis_hash, embedded, registry, submitter)
      select 1, decode(repeat('55', 32), 'hex'), true, address, address from account
    )
    insert into anchor_places (first_id, batch_id, places)
    select l.id, batch.id, '{0}' from batch, anchor_leaves l where subject_id = 'seen' and kind = 'transfer'`);
  const seen = async () => {
    const key = { workspaceId, subjectId: 'seen' };
    const [transfer] = await listTransfers(database.db, key, { before: undefined, limit: 1 });
    return [transfer?.status, transfer?.anchor?.blockNumber];
  };
  assert.deepEqual(await seen(), ['submitted', undefined]);
  await fixture.confirm(transferLeaf('seen', 1));
  assert.deepEqual(await seen(), ['confirmed', 7]);
});
