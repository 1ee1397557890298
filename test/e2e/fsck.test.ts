/** Every check on a database in which all is right, and on the same with one thing broken at a time. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import { type CheckDeps, runChecks } from '../../src/app/checks.ts';
import type { BlobStore } from '../../src/blobs/blob-store.ts';
import { openDiskStore } from '../../src/blobs/disk-store.ts';
import { deployerAddress, deployerRuntimeCode } from '../../src/chain/registry/registry.ts';
import { createChainRpc } from '../../src/chain/rpc/rpc.ts';
import type { Db } from '../../src/db/database.ts';
import { type Keyring, openKeyring } from '../../src/keys/keyring.ts';
import { zeroHash } from '../../src/proof/hex.ts';
import { type CheckReport, NotMade } from '../../src/runtime/check.ts';
import { type Anvil, anvilMissing, startAnvil } from '../support/chain/anvil.ts';
import { storeBlobs } from '../support/fixtures/blob-rows.ts';
import { buildFixture, type Fixture } from '../support/fixtures/fsck-fixture.ts';
import { command } from '../support/service/commands.ts';
import { openTestDatabase } from '../support/service/database.ts';
import { holdfast } from '../support/service/process.ts';

const skip = await anvilMissing();
let dir: string;
let database: Awaited<ReturnType<typeof openTestDatabase>>;
let keyring: Keyring;
let anvil: Anvil;
let fixture: Fixture;
let blobStore: BlobStore;

before(async () => {
  if (skip !== false) return;
  dir = await mkdtemp(join(tmpdir(), 'holdfast-fsck-'));
  database = await openTestDatabase();
  keyring = await openKeyring({ db: database.db, source: masterKey() });
  anvil = await startAnvil({ alloc: { [deployerAddress]: { balance: '0x0', code: deployerRuntimeCode } } });
  fixture = await buildFixture(database, keyring, anvil);
  blobStore = await openDiskStore(join(dir, 'blobs'));
  await storeBlobs({ db: database.db, keyring, store: blobStore }, fixture.workspaceId);
});
after(async () => {
  if (skip !== false) return;
  await fixture?.rpc.close();
  await anvil?.stop();
  await keyring?.close();
  await database?.close();
  await rm(dir, { recursive: true, force: true });
});

const masterKey = () => ({ file: join(dir, 'master.key'), generated: true });

function depsOn(db: Db): CheckDeps {
  return {
    db,
    keyring: async () => keyring,
    blobStore: async () => blobStore,
    chain: async () => fixture.client,
    retentionDays: 90,
  };
}

function run(deps: CheckDeps): Promise<CheckReport[]> {
  return runChecks(deps, { settleMs: 0 });
}

function rulesOf(reports: CheckReport[]): string[] {
  return reports.flatMap(({ findings }) => findings.map(({ rule }) => rule)).sort();
}

function skippedOf(reports: CheckReport[]) {
  return reports.flatMap(({ skipped }) => skipped);
}

/** Breaks something, looks, and takes it back. */
async function broken(break_: (db: Db) => Promise<unknown>, keyringOn?: (db: Db) => Promise<Keyring>) {
  const takeBack = new Error('taken back');
  let reports: CheckReport[] = [];
  await database.db
    .transaction()
    .execute(async (db) => {
      await break_(db);
      const used = await keyringOn?.(db);
      reports = await run({ ...depsOn(db), ...(used && { keyring: async () => used }) });
      await used?.close();
      throw takeBack;
    })
    .catch((error) => {
      if (error !== takeBack) throw error;
    });
  return reports;
}

/** Checks of what the fixture does not have: tests beside them break it. */
const testedApart = ['files', 'validations', 'assets', 'maintenances'];

test('where all is right nothing is found, and everything was looked at', { skip }, async () => {
  const reports = await run(depsOn(database.db));
  assert.deepEqual(rulesOf(reports), []);
  assert.deepEqual(skippedOf(reports), []);
  const staged = reports.filter(({ name }) => !testedApart.includes(name));
  assert.deepEqual(
    staged.map(({ name }) => name),
    [
      'audit',
      'keys',
      'blobs',
      'events',
      'nonces',
      'blocks',
      'transactions',
      'anchors',
      'records',
      'announcements',
    ],
  );
  for (const { name, checked } of staged) assert.ok(checked > 1, `${name} looked at ${checked} rows`);
});

/** What is done to the database, and the rules that are broken by it: all of them, and no other. */
const queueAgain = sql`
  insert into webhook_queue (workspace_id, delivery_id, created_at, event_id, endpoint_id, next_attempt_at)
  select workspace_id, id, created_at, event_id, endpoint_id, now() from webhook_deliveries
  where type = 'vault.deactivated'`;

const cases: [name: string, statements: RawBuilder<unknown>[], rules: string[]][] = [
  [
    'bytes that are counted and not stored',
    [
      sql`insert into workspace_usage (workspace_id, budget, day, used)
        select workspace_id, budget, day, 1 from workspace_usage where budget = 'stored_bytes' limit 1`,
    ],
    ['stored_bytes_differ'],
  ],
  [
    'an audit entry that was changed',
    [
      sql`alter table audit_entries disable trigger audit_entries_no_update`,
      sql`update audit_entries set action = 'vault.delete' where sequence = 2`,
    ],
    ['audit_entry_changed'],
  ],
  [
    'an audit entry that was taken out',
    [
      sql`alter table audit_entries disable trigger audit_entries_no_delete`,
      sql`delete from audit_entries where sequence = 2`,
    ],
    ['audit_chain_gap'],
  ],
  [
    'an audit entry whose hash was changed',
    [
      sql`alter table audit_entries disable trigger audit_entries_no_update`,
      sql`update audit_entries set hash = sha256('x') where sequence = (select max(sequence) from audit_entries)`,
    ],
    ['audit_chain_broken'],
  ],
  [
    'an audit entry that nobody chained',
    [
      sql`alter table audit_entries disable trigger audit_entries_no_update`,
      sql`alter table audit_entries disable trigger audit_entries_no_delete`,
      sql`update audit_entries set sequence = null, hash = null, at = at - interval '1 hour'
          where sequence = (select max(sequence) from audit_entries)`,
    ],
    ['audit_entry_changed', 'audit_entry_unchained'],
  ],
  [
    'an event without a place',
    [
      sql`update events set position = null, created_at = created_at
          where position = (select max(position) from events)`,
      sql`update webhook_endpoints set updated_at = now() + interval '1 day'`,
      sql`update events set created_at = created_at - interval '1 hour' where position is null`,
    ],
    ['event_without_place'],
  ],
  [
    'a gap in the feed',
    [sql`update events set position = position + 1 where position = (select max(position) from events)`],
    ['feed_gap'],
  ],
  [
    'an event whose envelope names another',
    [sql`update events set envelope = replace(envelope, id, 'evt_0') where position = 1`],
    ['event_envelope'],
  ],
  [
    'an event that an endpoint was not sent',
    [sql`delete from webhook_deliveries where type = 'vault.deactivated'`],
    ['event_without_delivery'],
  ],
  [
    'a delivery whose event is gone',
    [
      sql`delete from events where type = 'vault.deactivated'`,
      sql`update events set position = position - 1 where position > 1`,
    ],
    ['delivery_without_event'],
  ],
  [
    'a delivery of another type than its event',
    [sql`update webhook_deliveries set type = 'vault.reactivated' where type = 'vault.deactivated'`],
    ['delivery_of_other_type'],
  ],
  [
    'a delivery that succeeded without a success',
    [
      sql`update webhook_deliveries set attempts = jsonb_set(attempts, '{0,statusCode}', '500')
          where type = 'vault.deactivated'`,
    ],
    ['delivery_without_success'],
  ],
  [
    'a delivery with an attempt too few',
    [sql`update webhook_deliveries set attempt_count = 2 where type = 'vault.deactivated'`],
    ['delivery_attempts'],
  ],
  [
    'a pending delivery that is not in the queue',
    [sql`update webhook_deliveries set status = 'pending' where type = 'vault.deactivated'`],
    ['delivery_state'],
  ],
  ['a delivery that is done and still in the queue', [queueAgain], ['delivery_state']],
  [
    'an open delivery of an endpoint that is long deleted',
    [
      sql`update webhook_endpoints set deleted_at = now() - interval '2 days'`,
      sql`update webhook_deliveries set status = 'pending' where type = 'vault.deactivated'`,
      queueAgain,
    ],
    ['delivery_of_deleted_endpoint'],
  ],
  ['an account that skips nonces', [sql`update sender_accounts set next_nonce = 9`], ['nonce_gap']],
  [
    'a transaction with another nonce than its bytes',
    [
      sql`update outgoing_transactions set nonce = 5 where nonce = 2`,
      sql`update sender_accounts set next_nonce = 6`,
    ],
    ['attempt_bytes', 'nonce_gap'],
  ],
  [
    'a transaction that was never signed',
    [
      sql`delete from outgoing_attempts where transaction_id = (select id from outgoing_transactions where nonce = 2)`,
    ],
    ['mined_unknown_attempt', 'outgoing_without_attempt'],
  ],
  [
    'signed bytes that were changed',
    [
      sql`update outgoing_attempts set raw = set_byte(raw, 20, 255 - get_byte(raw, 20))
          where transaction_id = (select id from outgoing_transactions where nonce = 2)`,
    ],
    ['attempt_bytes'],
  ],
  [
    'signed bytes for another address than the row',
    [sql`update outgoing_transactions set to_address = account where nonce = 0`],
    ['attempt_bytes'],
  ],
  [
    'a confirmed transaction of which only the no-op was mined',
    [
      sql`update outgoing_attempts set no_op = true
          where transaction_id = (select id from outgoing_transactions where nonce = 0)`,
    ],
    ['attempt_bytes', 'outgoing_state'],
  ],
  [
    'a block that is missing',
    [sql`delete from chain_blocks where number = 1`],
    ['block_gap', 'outgoing_off_chain'],
  ],
  [
    'a block with another hash',
    [sql`update chain_blocks set hash = sha256('x') where number = 2`],
    ['batch_off_chain', 'block_not_on_chain', 'block_unlinked', 'outgoing_off_chain'],
  ],
  [
    'a first block that is not that of the chain',
    [sql`update chain set genesis_hash = sha256('x')`],
    ['block_differs'],
  ],
  [
    'a block with another time',
    [sql`update chain_blocks set time_seconds = time_seconds - 100000 where number = 1`],
    ['block_time', 'outgoing_off_chain'],
  ],
  [
    'a transaction of a vault in a block that is not kept',
    [sql`update chain_blocks set kept = false where number = 3`],
    ['transaction_off_chain'],
  ],
  [
    'a transaction that a vault never sent',
    [
      sql`update vault_transactions t set from_address = v.address from vaults v
          where v.id = t.vault_id and v.name = 'Two'`,
    ],
    ['every-sent-transaction'],
  ],
  [
    'a leaf whose version was changed',
    [
      sql`update anchor_leaves set version = 3 where version = 2`,
      sql`update records set version = 3 where version = 2`,
    ],
    ['announced_unknown', 'leaf_changed', 'previous_leaf_wrong', 'record_unannounced', 'record_version_gap'],
  ],
  [
    'a leaf whose claims were changed',
    [sql`update anchor_leaves set claims = replace(claims, '2026', '2025') where version = 2`],
    ['claims_changed'],
  ],
  ['a leaf whose claims were erased, which is allowed', [sql`update anchor_leaves set claims = null`], []],
  [
    'a leaf that follows one that is not there',
    [sql`update anchor_leaves set previous_leaf = sha256('x') where version = 2`],
    ['leaf_changed', 'previous_leaf_missing'],
  ],
  [
    'a second version that follows none',
    [sql`update anchor_leaves set previous_leaf = decode(repeat('00', 32), 'hex') where version = 2`],
    ['leaf_changed', 'previous_leaf_wrong'],
  ],
  [
    'a leaf that is batched before the one it follows',
    [
      sql`update anchor_leaves l set batch_id = null, place = null
          where version = 1 and exists (select 1 from anchor_leaves n where n.previous_leaf = l.leaf)`,
    ],
    ['batched_before_predecessor', 'place_without_leaf'],
  ],
  [
    'a batch with other leaves than those that name it',
    [sql`update anchor_subtrees set leaves = sha256('x') where sequence = 2`],
    ['leaf_not_in_batch', 'subtree_root'],
  ],
  [
    'a batch whose vaults have another root',
    [sql`update anchor_subtrees set root = sha256('x') where sequence = 2`],
    ['batch_root', 'seal', 'subtree_root'],
  ],
  [
    'a batch with another root',
    [sql`update anchor_batches set root = sha256('x') where size = 1`],
    ['anchored_times', 'batch_root', 'batch_transaction', 'not_anchored'],
  ],
  [
    'a path that leads elsewhere',
    [sql`update anchor_subtrees set upper_path = sha256('x') where sequence = 2`],
    ['upper_path'],
  ],
  [
    'a seal under another number',
    [sql`update anchor_subtrees set sequence = 7 where sequence = 2`],
    ['seal'],
  ],
  [
    'a seal of somebody else',
    [
      sql`update anchor_subtrees s set signature = o.signature from anchor_subtrees o
          where s.sequence = 2 and o.sequence = 1 and o.vault_id <> s.vault_id`,
    ],
    ['seal'],
  ],
  [
    'seals whose numbers go backwards',
    [
      sql`update anchor_subtrees set sequence = 9
          where sequence = 1 and vault_id in (select vault_id from anchor_subtrees where sequence = 2)`,
    ],
    ['seal', 'sequence_order'],
  ],
  [
    'a number that seals twice',
    [
      sql`alter table anchor_subtrees drop constraint anchor_subtrees_vault_id_sequence_key`,
      sql`update anchor_subtrees set sequence = 1 where sequence = 2`,
    ],
    ['seal', 'sequence_twice', 'sequence_twice'],
  ],
  [
    'a batch of another size',
    [sql`update anchor_batches set size = 5 where size = 1`],
    ['anchored_elsewhere', 'anchored_otherwise', 'batch_size', 'batch_transaction'],
  ],
  [
    'a confirmed batch whose transaction is not',
    [
      sql`update outgoing_transactions set status = 'submitted', mined_hash = null, block_number = null, block_hash = null
          where nonce = 2`,
    ],
    ['batch_state'],
  ],
  [
    'a confirmed batch in another block',
    [sql`update anchor_batches set block_hash = sha256('x') where size = 1`],
    ['anchored_elsewhere', 'batch_off_chain', 'batch_state'],
  ],
  [
    'a confirmed batch that nobody announced',
    [sql`update anchor_batches set announced = 0, confirmed_at = now() - interval '1 hour' where size = 1`],
    ['batch_unannounced'],
  ],
  [
    'two batches in one transaction',
    [
      sql`update anchor_batches set outgoing_id = (select outgoing_id from anchor_batches where size = 1) where size = 2`,
    ],
    ['batch_shares_transaction', 'batch_shares_transaction', 'batch_state', 'batch_transaction'],
  ],
  [
    'a record whose data were changed',
    [sql`update records set data = replace(data, '23', '99') where version = 2`],
    ['record_changed'],
  ],
  [
    'a record without a leaf',
    [
      sql`insert into records (workspace_id, id, version, vault_id, data, salt, data_hash)
          select workspace_id, 'rec_extra', 1, vault_id, data, salt, data_hash from records where version = 2`,
    ],
    ['record_without_leaf', 'stored_bytes_differ'],
  ],
  [
    'an old version that counts as the newest',
    [sql`update records r set current = true where version = 1`],
    ['record_current'],
  ],
  [
    'a record that is gone',
    [sql`delete from records where version = 2`, sql`update records set current = true`],
    ['leaf_without_record', 'stored_bytes_differ'],
  ],
  [
    'a confirmed record that was not announced',
    [
      sql`delete from webhook_deliveries where event_id in (select id from events where position = (select max(position) from events))`,
      sql`delete from events where position = (select max(position) from events)`,
    ],
    ['record_unannounced'],
  ],
];

for (const [name, statements, rules] of cases) {
  test(`found: ${name}`, { skip }, async () => {
    const reports = await broken(async (db) => {
      for (const statement of statements) await statement.execute(db);
    });
    assert.deepEqual(skippedOf(reports), []);
    assert.deepEqual(rulesOf(reports), [...rules].sort());
  });
}

const keyCases: [name: string, statement: RawBuilder<unknown>, rules: string[]][] = [
  ['a vault without a key', sql`delete from secrets where id like 'vlt_%'`, ['key_missing', 'key_missing']],
  ['a worker without a key', sql`delete from secrets where id like 'wrk_%'`, ['key_missing']],
  [
    'a key that was changed',
    sql`update secrets set ciphertext = set_byte(ciphertext, 20, 255 - get_byte(ciphertext, 20)) where id like 'wrk_%'`,
    ['key_unusable'],
  ],
];

for (const [name, statement, rules] of keyCases) {
  test(`found: ${name}`, { skip }, async () => {
    const reports = await broken(
      (db) => statement.execute(db),
      (db) => openKeyring({ db, source: masterKey() }),
    );
    assert.deepEqual(rulesOf(reports), rules);
  });
}

test('without the chain the rest is checked, and what needs it is named as not checked', {
  skip,
}, async () => {
  const away = async () => {
    throw new NotMade('the chain is away');
  };
  const reports = await run({ ...depsOn(database.db), chain: away });
  assert.deepEqual(rulesOf(reports), []);
  assert.deepEqual(skippedOf(reports), [
    { what: 'the chain itself', reason: 'the chain is away' },
    { what: 'blocks against the chain', reason: 'the chain is away' },
    { what: 'lists of vaults', reason: 'the chain is away' },
    { what: 'confirmed batches against the chain', reason: 'the chain is away' },
  ]);
});

test('the command tells findings in words, then counts them, and its exit code says how it went', {
  skip,
}, async () => {
  const settings = { DATABASE_URL: database.url, HOLDFAST_DATA_DIR: dir };
  const whole = await holdfast({ ...settings, HOLDFAST_CHAIN_RPC_URLS: anvil.url }, 'fsck');
  assert.equal(whole.code, 0, whole.stdout + whole.stderr);
  assert.match(whole.stdout, /^audit +\d+ +0$/m);
  assert.match(whole.stdout, /Everything is in order\.\n$/);
  assert.match(whole.stderr, /audit: audit entries, 0 of \d+\n/);

  const without = await command(settings, 'fsck', '--json', '--only', 'blocks');
  assert.equal(without.code, 2, without.stdout + without.stderr);
  assert.equal(without.stderr, '');
  const told = JSON.parse(without.stdout);
  assert.deepEqual([told.found, told.skipped], [0, 2]);

  await database.db.updateTable('sender_accounts').set({ next_nonce: 9 }).execute();
  try {
    const found = await command(settings, 'fsck', '--only', 'nonces,blocks');
    assert.equal(found.code, 1, found.stdout + found.stderr);
    assert.match(found.stdout, /^nonce_gap: The next nonce of the account 0x[0-9a-f]{40} is 9, .*\n {2}\S/m);
    assert.match(found.stdout, /\n1 finding\.\n$/);
  } finally {
    await database.db.updateTable('sender_accounts').set({ next_nonce: 3 }).execute();
  }

  const wrong = await command(settings, 'fsck', '--only', 'nothing');
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /There is no check nothing\. Available checks: audit, /);
});

test('another chain than the one that was anchored on is a finding', { skip }, async () => {
  const other = createChainRpc({ urls: () => [anvil.url], chainId: 31_337, genesisHash: zeroHash });
  const reports = await run({ ...depsOn(database.db), chain: async () => other.client });
  await other.close();
  assert.deepEqual(rulesOf(reports), ['other_chain']);
  assert.deepEqual(
    skippedOf(reports).map(({ what }) => what),
    ['blocks against the chain', 'lists of vaults', 'confirmed batches against the chain'],
  );
});

test('what a reorganisation took away from the chain is found', { skip }, async () => {
  await anvil.client.request({ method: 'anvil_reorg', params: [1, []] } as never);
  const reports = await run(depsOn(database.db));
  assert.deepEqual(rulesOf(reports), ['anchored_times', 'block_not_on_chain', 'not_anchored']);
});
