/** Certificates and lists of revoked ones: stored once, also those of the former schema, and in proofs as far as they fit. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, afterEach, before, type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import {
  openStampingFixture,
  type StampingFixture,
} from '../../../test/support/fixtures/stamping-fixture.ts';
import { createTestDatabase } from '../../../test/support/service/database.ts';
import { openDatabase } from '../../db/database.ts';
import { knownMigrations, migrate } from '../../db/migrate.ts';
import { isTimestampAnchor } from '../../proof/verify/proof.ts';
import { createBatchClocks } from '../batch-clocks.ts';
import { fittingCrls, mostCrlBytes } from './timestamp-files.ts';
import { storeToken } from './timestamps.store.ts';

let fixture: StampingFixture;
before(async () => {
  fixture = await openStampingFixture();
});
after(() => fixture.close());
afterEach(() => fixture.clear());

const kilobytes = (count: number) => randomBytes(count * 1024);
const files = async () =>
  (await fixture.db.selectFrom('timestamp_files').select(sql<number>`length(bytes)`.as('length')).execute())
    .map(({ length }) => length)
    .toSorted((one, other) => one - other);

const store = (batchId: number, authority: string, crls: Buffer[], certificates: Buffer[] = []) =>
  storeToken(fixture.db, {
    ...{ batchId, authority, token: randomBytes(99), certificates, crls },
    ...{ vouchedAt: new Date(), validUntil: new Date(Date.now() + 1e10) },
  });

async function anchorsOf(batch: number) {
  await fixture.confirmAll();
  const clocks = (await createBatchClocks(fixture)([batch])).get(batch);
  return clocks?.anchors.filter(isTimestampAnchor) ?? [];
}

const sizes = (base64: string[]) => base64.map((text) => Buffer.from(text, 'base64').length);

test('two tokens with the same files store them once', async () => {
  const clocks = fixture.open();
  const [crl, certificate] = [kilobytes(200), kilobytes(1)];
  for (let made = 0; made < 3; made += 1) {
    const batch = await clocks.batch();
    await store(batch, 'https://one.example/', [crl], [certificate]);
    await store(batch, 'https://other.example/', [crl]);
    const [one, other] = await anchorsOf(batch);
    assert.deepEqual(one?.certificates, [certificate.toString('base64')]);
    assert.deepEqual([one?.crls, other?.crls], [[crl.toString('base64')], [crl.toString('base64')]]);
  }
  assert.deepEqual(await files(), [1024, 200 * 1024]);
});

test('a proof carries lists as far as they fit, for each token and in all', async () => {
  const clocks = fixture.open();
  const batch = await clocks.batch();
  await store(batch, 'https://large.example/', [kilobytes(300), kilobytes(2), kilobytes(255), kilobytes(3)]);
  for (let count = 0; count < 19; count += 1) {
    await store(batch, `https://${count}.example/`, [kilobytes(256)]);
  }
  const anchors = await anchorsOf(batch);
  assert.deepEqual(sizes(anchors[0]?.crls ?? []), [2048, 3072]);
  const all = anchors.flatMap(({ crls }) => sizes(crls)).reduce((sum, size) => sum + size, 0);
  assert.ok(all <= mostCrlBytes.perProof && all > mostCrlBytes.perProof - 300 * 1024, `${all} bytes`);
  assert.deepEqual(fittingCrls([kilobytes(1)], 1023), []);
});

test('a token that is not stored leaves no files behind', async () => {
  const batch = await fixture.open().batch();
  assert.equal(await store(batch, 'https://one.example/', [kilobytes(2)]), true);
  assert.equal(await store(batch, 'https://one.example/', [kilobytes(3)], [kilobytes(1)]), false);
  assert.deepEqual(await files(), [2048]);
});

/** A database of the schema before, with three batches. */
async function formerDatabase(t: TestContext) {
  const testDatabase = await createTestDatabase({ empty: true });
  const connection = { connectionString: testDatabase.url };
  const { pool, close } = openDatabase({ connection: () => connection, onError() {} });
  t.after(async () => {
    await close();
    await testDatabase.drop();
  });
  await migrate({
    connection,
    restoring: { upTo: (await knownMigrations()).indexOf('0031_renewals') },
  });
  await pool.query(`
    with account as (
      insert into sender_accounts (address, next_nonce) values (decode(repeat('ac', 20), 'hex'), 3) returning address
    ), sent as (
      insert into outgoing_transactions (account, nonce, purpose, to_address, call_data, gas_limit)
      select address, nonce, 'anchor', address, '', 1 from account, generate_series(0, 2) as nonce returning id
    )
    insert into anchor_batches (root, size, outgoing_id, evidence_root, head_path)
    select sha256(id::text::bytea), 1, id, sha256(''), '' from sent`);
  return { pool, upgrade: () => migrate({ connection }) };
}

test('files of the former schema are stored once, and named in their order', async (t) => {
  const { pool, upgrade } = await formerDatabase(t);
  await pool.query(`
    insert into timestamps (batch_id, kind, authority, proof, certificates, crls, complete, vouched_at, valid_until)
    select id, 'rfc3161', '', '', array['b', 'a']::bytea[], array['c']::bytea[], true, now(), now() from anchor_batches`);
  await upgrade();
  const { rows } = await pool.query(`
    select array(select f.bytes::text from unnest(certificate_hashes) with ordinality as h (sha256, n)
      join timestamp_files f using (sha256) order by n) as certificates,
      crl_hashes = array[sha256('c')] as has_crl, (select count(*)::int from timestamp_files) as files
    from timestamps`);
  assert.deepEqual(
    rows.map(({ certificates, has_crl, files }) => [certificates.map(fromHex), has_crl, Number(files)]),
    Array(3).fill([['b', 'a'], true, 3]),
  );
});

test('a token that was renewed too early in the former schema is renewed once more', async (t) => {
  const { pool, upgrade } = await formerDatabase(t);
  await pool.query(`
    insert into timestamps (batch_id, kind, authority, proof, complete, covered, renewed, vouched_at, valid_until)
    select id, 'rfc3161', '', '', true, id < 3, id < 3, ('{2026-01-01,2026-06-01,2027-12-01}'::timestamptz[])[id],
      ('{2027-01-01,2028-01-01,2038-01-01}'::timestamptz[])[id] from anchor_batches`);
  await pool.query(`
    insert into evidence (head_batch_id, position, sha256, timestamp_id)
    select batch_id + 1, 0, sha256(''), id from timestamps where batch_id < 3`);
  await upgrade();
  const { rows } = await pool.query('select renewed from timestamps order by batch_id');
  assert.deepEqual(
    rows.map(({ renewed }) => renewed),
    [false, true, false],
  );
});

const fromHex = (text: string) => Buffer.from(text.slice(2), 'hex').toString();
