/** Every check on a database in which all is right, and on the same with one thing broken at a time. */
// tier: process
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import { type Anvil, startAnvil } from '../support/chain/anvil.ts';
import { storeBlobs } from '../support/fixtures/blob-rows.ts';
import { fsckCases } from '../support/fixtures/fsck-cases.ts';
import { buildFixture, type Fixture } from '../support/fixtures/fsck-fixture.ts';
import { needs } from '../support/programs/needs.ts';
import { command } from '../support/service/commands.ts';
import { openTestDatabase } from '../support/service/database.ts';
import { holdfast } from '../support/service/process.ts';

const { after, before, test } = needs('anvil');
let dir: string;
let database: Awaited<ReturnType<typeof openTestDatabase>>;
let keyring: Keyring;
let anvil: Anvil;
let fixture: Fixture;
let blobStore: BlobStore;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-fsck-'));
  database = await openTestDatabase();
  keyring = await openKeyring({ db: database.db, source: masterKey() });
  anvil = await startAnvil({ alloc: { [deployerAddress]: { balance: '0x0', code: deployerRuntimeCode } } });
  fixture = await buildFixture(database, keyring, anvil);
  blobStore = await openDiskStore(join(dir, 'blobs'));
  await storeBlobs({ db: database.db, keyring, store: blobStore }, fixture.workspaceId);
});
after(async () => {
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
    clocks: { authorities: [], rootsFile: null },
  };
}

function run(deps: CheckDeps, options: { since?: Date } = {}): Promise<CheckReport[]> {
  return runChecks(deps, { settleMs: 0, ...options });
}

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 60 * 60 * 1000);

function rulesOf(reports: CheckReport[]): string[] {
  return reports.flatMap(({ findings }) => findings.map(({ rule }) => rule)).sort();
}

function skippedOf(reports: CheckReport[]) {
  return reports.flatMap(({ skipped }) => skipped);
}

/** Breaks something, looks, and takes it back. */
async function broken(break_: (db: Db) => Promise<unknown>, keyringOn?: (db: Db) => Promise<Keyring>) {
  return (await brokenBoth(break_, keyringOn)).whole;
}

/** Looks at all, and at what was written since yesterday, which is the same. */
async function brokenBoth(
  break_: (db: Db) => Promise<unknown>,
  keyringOn?: (db: Db) => Promise<Keyring>,
): Promise<{ whole: CheckReport[]; lately: CheckReport[] }> {
  const takeBack = new Error('taken back');
  let whole: CheckReport[] = [];
  let lately: CheckReport[] = [];
  await database.db
    .transaction()
    .execute(async (db) => {
      await break_(db);
      const used = await keyringOn?.(db);
      const deps = { ...depsOn(db), ...(used && { keyring: async () => used }) };
      whole = await run(deps);
      lately = await run(deps, { since: hoursAgo(24) });
      await used?.close();
      throw takeBack;
    })
    .catch((error) => {
      if (error !== takeBack) throw error;
    });
  return { whole, lately };
}

/** Rules of what only a check of everything looks at. */
const onlyOfAll = [
  'stored_bytes_differ',
  'every-sent-transaction',
  'every-received-amount',
  'transaction_off_chain',
];

/** Checks of what the fixture does not have: tests beside them break it. */
const testedApart = [
  ...['lost-commits', 'embedded-chain', 'files', 'validations', 'assets', 'maintenances'],
  ...['passkeys', 'approvals', 'published-pages', 'dossiers', 'archive'],
];

test('finds nothing in correct data, and checks everything', async () => {
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
      'timestamps',
      'records',
      'announcements',
    ],
  );
  for (const { name, checked } of staged) assert.ok(checked > 1, `${name} looked at ${checked} rows`);
});

for (const [name, statements, rules] of fsckCases) {
  test(`gives the right findings for ${name}`, async () => {
    const { whole, lately } = await brokenBoth(async (db) => {
      for (const statement of statements) await statement.execute(db);
    });
    assert.deepEqual(skippedOf(whole), []);
    assert.deepEqual(rulesOf(whole), [...rules].sort());
    assert.deepEqual(skippedOf(lately), []);
    assert.deepEqual(rulesOf(lately), rules.filter((rule) => !onlyOfAll.includes(rule)).sort());
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
  test(`finds ${name}`, async () => {
    const reports = await broken(
      (db) => statement.execute(db),
      (db) => openKeyring({ db, source: masterKey() }),
    );
    assert.deepEqual(rulesOf(reports), rules);
  });
}

test('checks the rest without the chain, and names what needs it as not checked', async () => {
  const away = async () => {
    throw new NotMade('the chain is away');
  };
  const reports = await run({ ...depsOn(database.db), chain: away });
  assert.deepEqual(rulesOf(reports), []);
  assert.deepEqual(skippedOf(reports), [
    { what: 'sending accounts on the chain', reason: 'the chain is away' },
    { what: 'the chain itself', reason: 'the chain is away' },
    { what: 'blocks against the chain', reason: 'the chain is away' },
    { what: 'lists of vaults', reason: 'the chain is away' },
    { what: 'confirmed batches against the chain', reason: 'the chain is away' },
  ]);
});

test('the command describes and counts findings, and its exit code gives the result', async () => {
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

  const lately = await holdfast(
    { ...settings, HOLDFAST_CHAIN_RPC_URLS: anvil.url },
    'fsck',
    '--since',
    '24h',
  );
  assert.equal(lately.code, 0, lately.stdout + lately.stderr);
  assert.match(
    lately.stdout,
    /Not looked at: rows from before (\S+Z)\.\nNot looked at, because .*: objects of the blob store, .*\.\nAll that was written since \1 is in order\.\n$/,
  );
  const never = await command(settings, 'fsck', '--since', 'yesterday');
  assert.equal(never.code, 2);
  assert.match(never.stderr, /^"yesterday" is not a time\. Give how long ago \(30m, 24h, 7d, 2w\), a day /);

  const wrong = await command(settings, 'fsck', '--only', 'nothing');
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /There is no check nothing\. Available checks: audit, /);
});

test('reports a chain other than the one that was anchored on', async () => {
  const other = createChainRpc({ urls: () => [anvil.url], chainId: 31_337, genesisHash: zeroHash });
  const reports = await run({ ...depsOn(database.db), chain: async () => other.client });
  await other.close();
  assert.deepEqual(rulesOf(reports), ['other_chain']);
  assert.deepEqual(
    skippedOf(reports).map(({ what }) => what),
    [
      'sending accounts on the chain',
      'blocks against the chain',
      'lists of vaults',
      'confirmed batches against the chain',
    ],
  );
});

test('finds what a reorganisation removed from the chain', async () => {
  await anvil.client.request({ method: 'anvil_reorg', params: [1, []] } as never);
  const reports = await run(depsOn(database.db));
  assert.deepEqual(rulesOf(reports), ['anchored_times', 'block_not_on_chain', 'not_anchored']);
});
