/** A taken name is found before it joins the statement that everybody's writes share, which it would fail. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  caller,
  openAssetFixture,
  vaultAddresses,
} from '../../../test/support/fixtures/stored-assets-fixture.ts';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import type { Database } from '../../db/database.ts';
import { createGroupCommit } from '../../db/writes.ts';
import type { Keyring } from '../../keys/keyring.ts';
import { createWorkers } from '../workers/workers.ts';

let database: Database;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

function watchedCommit() {
  const shared = createGroupCommit(database.pool);
  const watched = {
    joined: 0,
    async commit(...given: Parameters<typeof shared>) {
      watched.joined += 1;
      await shared(...given);
    },
  };
  return watched;
}

test('of an asset', async () => {
  const watched = watchedCommit();
  const { assets } = await openAssetFixture(database, watched.commit);
  const create = () =>
    assets.create(
      caller,
      { vaultAddress: vaultAddresses[0] ?? '', name: 'Pump', assetId: 'taken' },
      () => [],
    );
  await create();
  await assert.rejects(create(), { code: 'conflict', message: 'There is already an asset taken.' });
  assert.equal(watched.joined, 1);
});

test('of a worker, in whatever case the address is written', async () => {
  const watched = watchedCommit();
  const keyring = {} as Keyring;
  const workers = createWorkers({ db: database.db, commit: watched.commit, keyring });
  const address = `0x${'ab'.repeat(20)}`;
  const create = (given: string) => workers.create(caller, { name: 'Ann', address: given }, () => []);
  await create(address);
  await assert.rejects(create(address.toUpperCase().replace('0X', '0x')), { code: 'conflict' });
  assert.equal(watched.joined, 1);
});
