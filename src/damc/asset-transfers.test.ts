/** What a confirmed transfer does, once, however often the chain confirms it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase } from '../../test/database.ts';
import type { Database } from '../db/database.ts';
import { caller, openAssetBed, transferLeaf, vaultAddresses, workspaceId } from './assets.test-bed.ts';

let database: Database;
let bed: Awaited<ReturnType<typeof openAssetBed>>;
before(async () => {
  database = await openTestDatabase();
  bed = await openAssetBed(database);
});
after(() => database.close());

const [one = '', two = '', three = ''] = vaultAddresses;
const viewer = `0x${'f'.repeat(40)}`;
const create = (assetId: string) =>
  bed.assets.create(caller, { vaultAddress: one, name: 'Pump', assetId }, () => []);
const start = (assetId: string, destinationVaultAddress: string) =>
  bed.transfers.start(caller, { assetId, destinationVaultAddress }, () => []);
const grant = (assetId: string) =>
  bed.viewers.grant(caller, { assetId, addresses: [viewer], until: null }, () => []);
const isViewer = (assetId: string, address: string) =>
  bed.viewers.isViewer({ workspaceId, assetId }, address);

async function eventsOf(assetId: string) {
  const rows = await database.db.selectFrom('events').select('envelope').orderBy('id').execute();
  return rows
    .map(({ envelope }) => JSON.parse(envelope))
    .filter(({ data }) => data.asset_id === assetId)
    .map(({ type, data }) => ({ type, ...data }));
}

test('the owner changes with the confirmation and not before, and the grants of the giver end', async () => {
  await create('sold');
  await grant('sold');
  const { id, number } = await start('sold', two);
  assert.equal((await bed.assets.get(workspaceId, 'sold')).vaultAddress, one);
  assert.ok((await isViewer('sold', viewer)) && (await isViewer('sold', one)));
  assert.equal(await isViewer('sold', two), false);

  await bed.confirm(transferLeaf('sold', number));
  assert.equal((await bed.assets.get(workspaceId, 'sold')).vaultAddress, two);
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

test('a transfer that is confirmed again after a reorg is told again, and takes nothing from later owners', async () => {
  await create('twice');
  await start('twice', two);
  await bed.confirm(transferLeaf('twice', 1));
  await start('twice', three);
  await bed.confirm(transferLeaf('twice', 2, 8));
  await grant('twice');

  await bed.confirm(transferLeaf('twice', 1, 9), transferLeaf('twice', 2, 9));
  assert.equal((await bed.assets.get(workspaceId, 'twice')).vaultAddress, three);
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

test('while the first of two confirmations is repeated, a transfer under way stays under way', async () => {
  await create('again');
  await start('again', two);
  await bed.confirm(transferLeaf('again', 1));
  await start('again', one);
  await bed.confirm(transferLeaf('again', 1, 9));
  assert.equal((await bed.assets.get(workspaceId, 'again')).vaultAddress, two);
  await assert.rejects(start('again', three), { code: 'conflict' });
  await bed.confirm(transferLeaf('again', 2, 10));
  assert.equal((await bed.assets.get(workspaceId, 'again')).vaultAddress, one);
});

test('transfers of other things are left alone', async () => {
  await create('mine');
  await bed.confirm(transferLeaf('fil_1', 1), transferLeaf('mine', 1));
  assert.deepEqual([await eventsOf('mine'), await eventsOf('fil_1')], [[], []]);
  assert.equal((await bed.assets.get(workspaceId, 'mine')).vaultAddress, one);
});
