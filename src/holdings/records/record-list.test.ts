/** Lists of records with every filter, and records in every anchor status. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import type { Database } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import { type AnchorStatus, anchorStatuses } from '../../proof/anchor-status.ts';
import { timeOf } from '../../runtime/ids.ts';
import { firstVersion, recordContent } from './record-content.ts';
import { listRecords, type RecordQuery } from './record-list.ts';
import type { RecordVersion } from './records.store.ts';

const workspaceId = 'ws_1';
let database: Database;
/** All records of the workspace, newest first, each with its assigned status. */
let all: RecordVersion[];

before(async () => {
  database = await openTestDatabase();
  await database.pool.query(
    "insert into workspaces (id, name, slug) values ('ws_1', 'a', 'a'), ('ws_2', 'b', 'b')",
  );
  await database.pool.query(
    `insert into vaults (workspace_id, id, name, description, address)
     select w, w || v, '', '', '0x' || lpad(w || v, 40, '0') from unnest(array['ws_1', 'ws_2']) w, unnest(array['a', 'b']) v`,
  );
  await database.pool.query(
    `insert into chain (chain_id, genesis_hash, embedded, registry, submitter)
     values (31337, sha256(''), true, substr(sha256(''), 1, 20), substr(sha256(''), 1, 20))`,
  );
  const statuses = ['finalized', 'set_aside', 'confirmed', 'finalized', 'submitted', 'batched'];
  const batches = new Map<string, RecordVersion[]>();
  all = [];
  for (let n = 0; n < 140; n += 1) {
    const record = await addRecord(workspaceId, n % 3 ? 'a' : 'b', n % 5 ? '' : `five ${n % 10}`);
    await addRecord('ws_2', 'a', 'five 5');
    const status = n % 7 === 6 ? 'pending' : (statuses[n % 7] ?? '');
    const shown = status === 'set_aside' ? 'batched' : status;
    all.unshift({ ...record, status: shown as AnchorStatus });
    if (status !== 'pending') batches.set(status, [...(batches.get(status) ?? []), record]);
  }
  for (const [status, records] of batches) await batch(status, records);
});
after(() => database.close());

async function addRecord(workspaceId: string, vault: string, externalId: string): Promise<RecordVersion> {
  const id = workspaceId + vault;
  const { record, write } = firstVersion({
    workspaceId,
    vault: { id, address: `0x${id.replaceAll(/[^0-9a-f]/g, '').padStart(40, '0')}` },
    externalId,
    content: recordContent({}, 'data'),
  });
  await insertAll(database.db, [write]);
  return record;
}

/** Puts leaves into a batch of this status, as the batcher and the sender would do. */
async function batch(status: string, records: RecordVersion[]): Promise<void> {
  const mined = status === 'confirmed' || status === 'finalized';
  await database.pool.query(
    `with account as (
       insert into sender_accounts (address, next_nonce) values (substr(sha256($1::text::bytea), 1, 20), 1) returning address
     ), sent as (
       insert into outgoing_transactions (account, nonce, purpose, to_address, call_data, gas_limit)
       select address, 0, 'anchor', address, '', 1 from account returning id
     ), made as (
       insert into anchor_batches (root, size, outgoing_id, status, transaction_hash, block_number, block_hash, block_time,
         evidence_root, head_path)
       select sha256($1::text::bytea), $2, id, $1::text, sha256('tx'), $3::int, sha256('block'), 1800000000, sha256('e'), ''
       from sent returning id
     )
     insert into anchor_places (first_id, batch_id, places)
     select l.id, made.id, array[t.place - 1]
     from made, unnest($4::text[]) with ordinality as t (id, place) join anchor_leaves l on l.subject_id = t.id`,
    [status, records.length, mined ? 7 : null, records.map(({ id }) => id)],
  );
}

async function walk(query: Omit<RecordQuery, 'limit'>, limit = 7): Promise<RecordVersion[]> {
  const items: RecordVersion[] = [];
  for (let before: string | undefined; ; ) {
    const page = await listRecords(database.db, workspaceId, { ...query, before, limit });
    assert.ok(page.items.length <= limit);
    items.push(...page.items);
    if (page.next === null) return items;
    before = page.next;
  }
}

const ids = (records: RecordVersion[]) => records.map(({ id }) => id);
const statusesOf = (records: RecordVersion[]) => records.map(({ id, status }) => [id, status]);

test('lists every record of the workspace once, newest first, with its status', async () => {
  assert.deepEqual(statusesOf(await walk({})), statusesOf(all));
});

test('filters by vault, by external id, by time, and by all of them', async () => {
  const inVault = all.filter(({ vaultId }) => vaultId === 'ws_1b');
  assert.deepEqual(ids(await walk({ vaultId: 'ws_1b' })), ids(inVault));
  const named = all.filter(({ externalId }) => externalId === 'five 5');
  assert.deepEqual(ids(await walk({ externalId: 'five 5' })), ids(named));
  const from = timeOf(all[100]?.id ?? '');
  const to = timeOf(all[20]?.id ?? '');
  const within = ({ createdAt }: RecordVersion) => createdAt >= from && createdAt < to;
  assert.deepEqual(ids(await walk({ from, to })), ids(all.filter(within)));
  assert.ok(all.filter(within).length > 0);
  const both = { vaultId: 'ws_1b', externalId: 'five 5', from };
  assert.deepEqual(
    ids(await walk(both)),
    ids(inVault.filter((one) => named.includes(one) && one.createdAt >= from)),
  );
});

for (const status of anchorStatuses) {
  test(`filters by status ${status}, alone and with other filters`, async () => {
    const wanted = all.filter((record) => record.status === status);
    assert.ok(wanted.length >= 20);
    assert.deepEqual(ids(await walk({ status })), ids(wanted));
    assert.deepEqual(
      ids(await walk({ status, vaultId: 'ws_1a' })),
      ids(wanted.filter(({ vaultId }) => vaultId === 'ws_1a')),
    );
    assert.deepEqual(
      ids(await walk({ status, externalId: 'five 0' })),
      ids(wanted.filter(({ externalId }) => externalId === 'five 0')),
    );
  });

  test(`finds the same by status ${status} in short steps, although pages may be short`, async () => {
    const wanted = ids(all.filter((record) => record.status === status));
    const items: RecordVersion[] = [];
    let pages = 0;
    for (let before: string | undefined; ; pages += 1) {
      const query = { status, before, limit: 100 };
      const bounds = { fewLeaves: 3, walkLength: 5, walksPerPage: 2 };
      const page = await listRecords(database.db, workspaceId, query, bounds);
      assert.ok(page.items.length <= 10);
      items.push(...page.items);
      if (page.next === null) break;
      before = page.next;
    }
    assert.deepEqual(ids(items), wanted);
    // All 140 records, ten per page, and one more page that finds the end.
    assert.equal(pages, 14);
  });
}

test('shows an anchor only once it is confirmed', async () => {
  for (const { status, anchor } of await walk({}, 1000)) {
    const confirmed = {
      chainId: 31337,
      transactionHash: `0x${createHash('sha256').update('tx').digest('hex')}`,
      blockNumber: 7,
      anchoredAt: new Date(1_800_000_000_000),
    };
    assert.deepEqual(anchor, status === 'confirmed' || status === 'finalized' ? confirmed : null, status);
  }
});

test('new records do not shift the pages being read', async () => {
  const query = { vaultId: 'ws_1a', limit: 10 };
  const first = await listRecords(database.db, workspaceId, query);
  const added = await addRecord(workspaceId, 'a', '');
  const second = await listRecords(database.db, workspaceId, { ...query, before: first.next ?? '' });
  const wanted = all.filter(({ vaultId }) => vaultId === 'ws_1a').slice(0, 20);
  assert.deepEqual(ids([...first.items, ...second.items]), ids(wanted));
  assert.equal((await listRecords(database.db, workspaceId, query)).items[0]?.id, added.id);
});
