/** The proof that a dossier ends with is one that needs no chain node, if there is time for it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase, withClient } from '../../../test/support/service/database.ts';
import { toHex } from '../../proof/hex.ts';
import { createDossierSeals, type DossierSealsDeps } from './dossier-seal.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

test('waits for the block of a confirmed seal to be read, but not longer than it may', async () => {
  const root = Buffer.alloc(32, 7);
  await withClient({ connectionString: database.url }, async (client) => {
    // Without the transaction that it refers to.
    await client.query('set session_replication_role = replica');
    await client.query(
      `insert into anchor_batches (root, size, outgoing_id, status, evidence_root, head_path, transaction_hash, block_number,
         block_hash, block_time, confirmed_at)
       values ($1, 1, 1, 'confirmed', $1, '', $1, 5, $1, 5, now())`,
      [root],
    );
  });
  let asked = 0;
  const seals = createDossierSeals({
    db: database.db,
    assetAccess: { requireWith: () => {} },
    async manyProofs() {
      asked += 1;
      if (asked === 3)
        await database.pool.query("update anchor_batches set inclusion_refused = 'odd receipts'");
      return [{ merkle: { root: toHex(root) } }];
    },
  } as unknown as DossierSealsDeps);
  const within = (longestMs: number) =>
    seals.proofWithin({
      ...{ workspaceId: 'ws_1', dossier: { dossierId: 'dos_1', digest: Buffer.alloc(32) } },
      ...{ longestMs, isWanted: () => true },
    });
  assert.notEqual(await within(0), null);
  assert.equal(asked, 1);
  assert.notEqual(await within(60_000), null);
  assert.equal(asked, 3);
});
