/** Leaves of an earlier format, hashed anew: chains, claims and what names the newest leaf go with them. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { type Fixture, openFixture, type TestVault } from '../../test/support/fixtures/batcher-fixture.ts';
import type { Db } from '../db/database.ts';
import { runEach } from '../runtime/check.ts';
import { leavesPass } from './batching/leaves.check.ts';
import { firstLeaf } from './batching/pending.ts';
import { type AddedClaims, renewLeaves } from './leaf-renewal.ts';

let fixture: Fixture;
let vault: TestVault;
before(async () => {
  fixture = await openFixture();
  vault = await fixture.newVault();
});
after(() => fixture.close());
beforeEach(async () => {
  await fixture.clear();
  await sql`truncate renewed_leaves, leaf_renewal, files`.execute(fixture.db);
});

const lines: string[] = [];
const log = { info: (_details: object, message: string) => void lines.push(message) };
const renew = (db: Db = fixture.db, added: AddedClaims[] = []) =>
  renewLeaves(db, { log, added, pageRows: 3 });

/** As an earlier format had them: linked by hashes that are not those of today. */
async function makeOld(): Promise<void> {
  const { db } = fixture;
  await sql`update anchor_leaves set leaf = sha256(leaf),
    previous_leaf = case when previous_leaf = ${firstLeaf} then previous_leaf else sha256(previous_leaf) end`.execute(
    db,
  );
  await sql`update files set last_leaf = sha256(last_leaf)`.execute(db);
  await sql`insert into leaf_renewal (last_id) values (0)`.execute(db);
}

/** A file with this many versions, each of them between leaves of other subjects. */
async function acceptVersions(subjectId: string, count: number): Promise<Buffer> {
  let leaf: Buffer = firstLeaf;
  for (let version = 1; version <= count; version += 1) {
    leaf = await fixture.accept(vault, subjectId, {
      ...{ kind: 'file', version, canonicalization: version % 2 ? 'raw' : 'hmac-sha256' },
      after: leaf,
    });
    await fixture.accept(vault, `rec_${subjectId}_${version}`);
  }
  return leaf;
}

async function findings(): Promise<string[]> {
  const [report] = await runEach([{ name: 'leaves', passes: [leavesPass(fixture.db)] }], { settleMs: 0 });
  assert.ok(report && report.checked > 0);
  return report.findings.map(({ rule }) => rule);
}

const hashes = async () => (await fixture.leaves()).map(({ leaf }) => leaf.toString('hex')).sort();

test('leaves get the hashes that they would have today, over several pages, and so has what names the newest', async () => {
  const newest = await acceptVersions('fil_1', 5);
  await sql`insert into files (workspace_id, id, vault_id, version, last_leaf)
    values ('ws_1', 'fil_1', ${vault.id}, 5, ${newest})`.execute(fixture.db);
  const today = await hashes();
  await makeOld();
  assert.ok((await findings()).length > 0);
  await renew();
  assert.deepEqual(await hashes(), today);
  assert.deepEqual(await findings(), []);
  const file = await fixture.db.selectFrom('files').select('last_leaf').executeTakeFirst();
  assert.deepEqual(file?.last_leaf, newest);
  assert.equal(lines.length, 2, lines.join());
  assert.deepEqual(await fixture.db.selectFrom('renewed_leaves').selectAll().execute(), []);
  // A second time there is nothing to do.
  await renew();
  assert.deepEqual(await hashes(), today);
  assert.equal(lines.length, 2, lines.join());
});

test('a renewal that is killed goes on after the last page, also on two nodes at once', async () => {
  await acceptVersions('fil_1', 6);
  const today = await hashes();
  await makeOld();
  let pages = 0;
  const dying: AddedClaims = {
    kind: 'record',
    async find(_db, leaves) {
      pages += 1;
      if (pages === 3) throw new Error('killed');
      return leaves.map(() => null);
    },
  };
  await assert.rejects(renew(fixture.db, [dying]), /killed/);
  assert.notDeepEqual(await hashes(), today);
  await Promise.all([renew(), renew()]);
  assert.deepEqual(await hashes(), today);
  assert.deepEqual(await findings(), []);
});

test('claims that were added since are in the new leaf, with the new leaf of what they follow', async () => {
  const chained: AddedClaims = {
    kind: 'record',
    find: async (_db, leaves) =>
      leaves.map(({ subjectId }) => {
        const number = Number(subjectId.slice('rec_'.length));
        return {
          follows: number === 1 ? null : `rec_${number - 1}`,
          claims: (before) => ({ number, before: `0x${before.toString('hex')}` }),
        };
      }),
  };
  for (let number = 1; number <= 5; number += 1) {
    await fixture.accept(vault, `rec_${number}`, { claims: { externalId: `x${number}` } });
    await fixture.accept(vault, `fil_${number}`, { kind: 'file' });
  }
  await sql`update anchor_leaves set claims = null where subject_id = 'rec_4'`.execute(fixture.db);
  await makeOld();
  await renew(fixture.db, [chained]);
  assert.deepEqual(await findings(), []);
  const rows = await fixture.db
    .selectFrom('anchor_leaves')
    .select(['subject_id', 'claims', 'leaf'])
    .where('kind', '=', 'record')
    .orderBy('id')
    .execute();
  for (const [place, { subject_id, claims }] of rows.entries()) {
    if (subject_id === 'rec_4') {
      assert.equal(claims, null, 'what was erased stays erased');
      continue;
    }
    const { salt, ...said } = JSON.parse(claims ?? '');
    assert.match(salt, /^0x[0-9a-f]{64}$/);
    const before = rows[place - 1]?.leaf ?? firstLeaf;
    const number = place + 1;
    assert.deepEqual(said, { externalId: `x${number}`, number, before: `0x${before.toString('hex')}` });
  }
});
