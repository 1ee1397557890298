/** The search for assets when one page does not get through all of them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  caller,
  openAssetFixture,
  vaultAddresses,
  workspaceId,
} from '../../../test/support/fixtures/stored-assets-fixture.ts';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import type { Database } from '../../db/database.ts';
import { type FoundAssets, searchAssets } from './asset-search.ts';

let database: Database;
before(async () => {
  database = await openTestDatabase();
  const { assets } = await openAssetFixture(database);
  for (let place = 0; place < 7; place += 1) {
    const name = place % 3 === 0 ? 'Pump' : 'Valve';
    await assets.create(
      caller,
      { vaultAddress: vaultAddresses[0] ?? '', name, assetId: `${place}` },
      () => [],
    );
  }
});
after(() => database.close());

async function walk(q: string, { limit, examined }: { limit: number; examined: number }) {
  const pages: string[][] = [];
  for (let next: FoundAssets['next'] | undefined; next !== null; ) {
    const page = await searchAssets(database.db, workspaceId, { q, before: next, limit }, examined);
    pages.push(page.items.map(({ assetId }) => assetId));
    next = page.next;
  }
  return pages;
}

test('a page ends at its limit of examined rows, and the next continues there until the end', async () => {
  assert.deepEqual(await walk('pump', { limit: 10, examined: 100 }), [['6', '3', '0']]);
  assert.deepEqual(await walk('pump', { limit: 10, examined: 2 }), [['6'], ['3'], [], ['0']]);
  assert.deepEqual(await walk('pump', { limit: 1, examined: 100 }), [['6'], ['3'], ['0']]);
  assert.deepEqual((await walk('pump', { limit: 1, examined: 3 })).flat(), ['6', '3', '0']);
  assert.deepEqual((await walk('valve', { limit: 2, examined: 3 })).flat(), ['5', '4', '2', '1']);
  assert.deepEqual((await walk('nothing', { limit: 2, examined: 7 })).flat(), []);
});
