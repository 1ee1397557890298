/** `holdfast archive`: old records move into files, from which they are read, proved and erased as before. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { registryAddress, registryCodeHash } from '../../src/chain/registry/registry.ts';
import { verifyProof } from '../../src/proof/verify/verify.ts';
import { relayReader } from '../support/chain/relay-reader.ts';
import { type ArchiveFixture, openArchiveFixture } from '../support/fixtures/archive-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { command } from '../support/service/commands.ts';
import type { Settings } from '../support/service/process.ts';
import type { Service } from '../support/service/service.ts';

const platform = '/api-v1/platform';
const records = `${platform}/records`;

let fixture: ArchiveFixture;
let service: Service;
let settings: Settings;
let stranger: string;
let { newRecord, addVersion, erase, get, final, archive, count, isHere, isArchived } = {} as ArchiveFixture;

before(async () => {
  fixture = await openArchiveFixture();
  ({ service, settings } = fixture);
  ({ newRecord, addVersion, erase, get, final, archive, count, isHere, isArchived } = fixture);
  stranger = await service.makeKey({ newWorkspace: true });
});
after(() => fixture?.close());

async function storedBytes(): Promise<number> {
  const { rows } = await service.sql(
    `select (select used from budget_use(id, 'stored_bytes', 'epoch'))::int as used from workspaces where slug = 'default'`,
  );
  return rows[0].used;
}

test('an archived record answers as before, with each version and its proof, and is in no list', async () => {
  const id = await newRecord({ signed: false, note: 'Größe „7“' });
  assert.equal((await addVersion(id, { signed: true })).status, 202);
  await final(id);
  const paths = ['', '?version=1', '/versions', '/proof', '/proof?version=1'];
  const read = async () => Promise.all(paths.map(async (path) => (await get(id, path)).text));
  const was = await read();
  const bytes = await storedBytes();

  const planned = await archive('--dry-run');
  assert.ok(planned.records >= 1 && planned.rowBytes > 0 && planned.files === 0, JSON.stringify(planned));
  assert.equal(await isHere(id), true);
  const done = await archive();
  assert.equal(done.records, planned.records);
  assert.equal(done.versions, planned.versions);
  assert.equal(done.files, 1);
  assert.deepEqual([await isHere(id), await isArchived(id)], [false, true]);

  assert.deepEqual(await read(), was);
  assert.equal(await storedBytes(), bytes);
  assertError(await get(id, '?version=3'), 'resource_not_found');
  assertError(await get(id, '/proof?version=3'), 'resource_not_found');
  const { json: listed, headers } = await service.call('GET', records);
  assert.ok(Date.parse(headers.get('x-archived-before') ?? '') <= Date.now());
  const later = await service.call('GET', `${records}?from=2999-01-01T00:00:00Z`);
  assert.equal(later.headers.get('x-archived-before'), null);
  assert.equal(
    listed.some((record: { id: string }) => record.id === id),
    false,
  );
  const again = await archive();
  assert.deepEqual([again.records, again.files, again.removedFiles], [0, 0, 0]);
});

test('the proof of an archived record verifies without the service', async () => {
  const data = { weight: 12 };
  const id = await newRecord(data);
  await final(id);
  await archive();
  assert.equal(await isArchived(id), true);
  const { text } = await get(id, '/proof');
  const { steps } = await verifyProof(text, {
    content: new TextEncoder().encode(JSON.stringify(data)),
    chain: relayReader(service),
    registry: { address: registryAddress, codeHash: registryCodeHash },
  });
  const passed = steps.filter(({ status }) => status === 'pass').map(({ name }) => name);
  assert.deepEqual(
    passed.filter((name) => name !== 'finality'),
    ['digest', 'claims', 'leaf', 'path', 'seal', 'registry', 'chain'],
  );
  const file = join(fixture.dir, 'proof.json');
  const content = join(fixture.dir, 'data.json');
  await writeFile(file, text);
  await writeFile(content, JSON.stringify(data));
  const offline = await command(settings, 'verify', file, content);
  assert.equal(offline.code, 2, offline.stdout + offline.stderr);
  await writeFile(content, JSON.stringify({ weight: 13 }));
  assert.equal((await command(settings, 'verify', file, content)).code, 1);
});

test('another workspace sees nothing of it', async () => {
  const id = await newRecord({ secret: 1 });
  await final(id);
  await archive();
  const key = { key: stranger };
  for (const path of ['', '?version=1', '/proof', '/evidence'])
    assertError(await get(id, path, key), 'resource_not_found');
  assertError(await get(id, '/versions', key), 'resource_not_found');
  assertError(await addVersion(id, { mine: 1 }, key), 'resource_not_found');
  assertError(await erase(id, key), 'resource_not_found');
  const held = { body: { recordId: id, held: true, reason: 'x' }, ...key };
  assertError(await service.call('PUT', `${platform}/holds`, held), 'resource_not_found');
  assert.equal(await isArchived(id), true);
});

test('a new version brings the record back, and it moves again later', async () => {
  const id = await newRecord({ n: 1 });
  await final(id);
  await archive();
  const before = (await get(id, '?version=1')).text;
  const added = await Promise.all([addVersion(id, { n: 2 }), addVersion(id, { n: 3 })]);
  assert.deepEqual(
    added.map(({ status }) => status),
    [202, 202],
  );
  assert.deepEqual([await isHere(id), await isArchived(id)], [true, false]);
  assert.equal((await archive()).records, 0, 'it is not final');
  await final(id);
  assert.equal((await get(id, '?version=1')).text, before);
  const { json } = await get(id, '/versions');
  assert.deepEqual(
    json.map(({ version }: { version: number }) => version),
    [3, 2, 1],
  );
  await archive();
  assert.deepEqual([await isHere(id), await isArchived(id)], [false, true]);
  assert.equal((await get(id, '/proof?version=2')).status, 200);
  // Which of the two came first is open.
  const newest = added.findIndex(({ json }) => json.version === 3);
  assert.deepEqual((await get(id, '?version=3')).json.data, { n: newest + 2 });
});

test('erasing an archived record erases it, also from the file, unless it is held', async () => {
  const id = await newRecord({ canary: 'canary-77' });
  await final(id);
  const bytes = await storedBytes();
  await archive();
  const hold = (held: boolean) =>
    service.call('PUT', `${platform}/holds`, {
      body: { recordId: id, held, ...(held && { reason: 'Dispute 3' }) },
    });
  assert.equal((await hold(true)).status, 200);
  assertError(await erase(id), 'on_hold');
  assert.equal(await isArchived(id), true);
  assert.equal((await hold(false)).status, 200);
  const erased = await erase(id);
  assert.equal(erased.status, 200, erased.text);
  assert.deepEqual(erased.json.versions, [1]);
  assert.equal(await storedBytes(), bytes - erased.json.bytes);
  const { json } = await get(id);
  assert.deepEqual([json.erased, json.data], [true, {}]);
  assert.equal(await isArchived(id), false, 'its key is gone');
  const proof = (await get(id, '/proof')).text;
  await archive();
  assert.equal(await isArchived(id), true);
  assert.equal((await get(id, '/proof')).text, proof);
  const again = await erase(id);
  assert.deepEqual([again.status, again.json.bytes], [200, 0]);
});

test('a request that is repeated after its record was archived gets the same answer', async () => {
  const headers = { 'idempotency-key': 'archived-1' };
  const body = { vaultAddress: fixture.vault, data: { once: true } };
  const first = await service.call('POST', records, { body, headers });
  await final(first.json.id);
  await archive();
  const second = await service.call('POST', records, { body, headers });
  assert.equal(second.text, first.text);
});

test('checks find nothing wrong with an archive, and what is wrong with a broken one', async () => {
  const id = await newRecord({ checked: true });
  await final(id);
  await archive();
  const fsck = async () => {
    const only = ['--only', 'blobs,anchors,records,archive,announcements', '--json'];
    const { stdout, stderr } = await command(settings, 'fsck', ...only);
    assert.ok(stdout !== '', stderr);
    const { checks } = JSON.parse(stdout) as {
      checks: { name: string; checked: number; findings: { rule: string; ids: { record?: string } }[] }[];
    };
    return {
      archived: checks.find(({ name }) => name === 'archive')?.checked,
      rules: checks.flatMap(({ findings }) => findings.map(({ rule }) => rule)),
    };
  };
  const archived = await count('archived_records');
  assert.deepEqual(await fsck(), { archived, rules: [] });

  const breaks: [statement: string, back: string, rule: string][] = [
    [
      `update archived_records set key = set_byte(key, 0, 255 - get_byte(key, 0)) where id = '${id}'`,
      `update archived_records set key = set_byte(key, 0, 255 - get_byte(key, 0)) where id = '${id}'`,
      'archived_record_unreadable',
    ],
    [
      `update archived_records set data_bytes = data_bytes + 1 where id = '${id}'`,
      `update archived_records set data_bytes = data_bytes - 1 where id = '${id}'`,
      'archived_record_changed',
    ],
  ];
  for (const [statement, back, rule] of breaks) {
    await service.sql(statement);
    const { rules } = await fsck();
    assert.ok(rules.includes(rule), `${rule}: ${rules}`);
    await service.sql(back);
  }
  const { rows } = await service.sql('select * from archived_leaves');
  await service.sql('delete from archived_leaves');
  const { rules } = await fsck();
  assert.ok(rules.includes('place_without_leaf') && rules.includes('archived_leaf_not_noted'), `${rules}`);
  for (const { block, bits } of rows)
    await service.sql('insert into archived_leaves (block, bits) values ($1, $2::text::bit(256))', [
      block,
      bits,
    ]);
  assert.deepEqual((await fsck()).rules, []);
});

test('refuses a time in the future and one that is none', async () => {
  for (const [time, message] of [
    ['2999-01-01', /is in the future: give a time in the past/],
    ['soon', /"soon" is not a time/],
  ] as const) {
    const { code, stderr } = await command(settings, 'archive', '--before', time);
    assert.equal(code, 1);
    assert.match(stderr, message);
  }
  const { code, stderr } = await command(settings, 'archive', '--before', '1d', '--workspace', 'nowhere');
  assert.equal(code, 1, stderr);
});
