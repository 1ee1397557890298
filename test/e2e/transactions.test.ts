/** The list of a vault's transactions over HTTP; its pages and reorgs are tested beside the code. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { getAddress, type Hex, keccak256, stringToHex } from 'viem';
import { insertBlocks, insertTransactions, undoBlocks } from '../../src/chain/indexer/indexer.store.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Service, startService } from '../support/service/service.ts';

const vaults = '/api-v1/platform/vaults';
const stranger: Hex = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed';
const sixHours = 21_600;
/** The middle of 2026-03-01. */
const firstSeconds = Date.parse('2026-03-01T03:00:00Z') / 1000;

let service: Service;
let database: Database;
let vault: { id: string; address: Hex };
let other: { id: string; address: Hex };
/** What the list was before the first block was indexed. */
let empty: Awaited<ReturnType<typeof list>>;
/** Newest first. */
const hashes = Array.from({ length: 12 }, (_, place) => hashOf(`transaction first ${11 - place}`));

before(async () => {
  service = await startService({ runLoops: false });
  database = openDatabase({ connection: () => ({ connectionString: service.databaseUrl }), onError() {} });
  vault = (await service.call('POST', vaults, { body: { name: 'Watched' } })).json;
  other = (await service.call('POST', vaults, { body: { name: 'Other' } })).json;
  empty = await list();
  await storeBlocks([...hashes.keys()], 'first');
});
after(async () => {
  await database.close();
  await service.close();
});

function list(body?: unknown, options: { address?: string; key?: string | null } = {}) {
  const { address = vault.address, ...rest } = options;
  return service.call('POST', `${vaults}/${address}/transactions`, { body, ...rest });
}

function hashOf(name: string): Hex {
  return keccak256(stringToHex(name));
}

async function storeBlocks(numbers: number[], branch: string): Promise<void> {
  const { workspace_id: workspaceId } = await database.db
    .selectFrom('vaults')
    .select('workspace_id')
    .where('id', '=', vault.id)
    .executeTakeFirstOrThrow();
  const timeOf = (number: number) => firstSeconds + number * sixHours;
  const blocks = numbers.map((number) => ({
    number,
    hash: hashOf(`${branch} ${number}`),
    parentHash: hashOf(`${branch} ${number - 1}`),
    timeSeconds: timeOf(number),
    transactions: [],
  }));
  await insertBlocks(database.db, blocks, new Set(numbers));
  await insertTransactions(
    database.db,
    numbers.map((number) => ({
      workspaceId,
      vaultId: vault.id,
      blockNumber: number,
      index: 0,
      hash: hashOf(`transaction ${branch} ${number}`),
      from: number % 2 === 0 ? stranger : (vault.address.toLowerCase() as Hex),
      to: number % 2 === 0 ? (vault.address.toLowerCase() as Hex) : stranger,
      valueWei: String(2n ** 255n + BigInt(number)),
      timeSeconds: timeOf(number),
    })),
  );
}

test('the list is empty without headers before the first block is indexed', () => {
  assert.equal(empty.status, 200);
  assert.deepEqual(empty.json, []);
  assert.equal(empty.headers.get('x-indexed-block'), null);
  assert.equal(empty.headers.get('x-next-cursor'), null);
});

test('items have exactly five fields, newest first, and headers give the indexed block', async () => {
  const answer = await list({});
  assert.equal(answer.status, 200);
  assert.deepEqual(
    answer.json.map(({ hash }: { hash: Hex }) => hash),
    hashes,
  );
  assert.equal(answer.headers.get('x-indexed-block'), '11');
  assert.equal(answer.headers.get('x-next-cursor'), null);
  assert.deepEqual(answer.json[11], {
    hash: hashes[11],
    from: getAddress(stranger),
    to: getAddress(vault.address),
    value: String(2n ** 255n),
    timestamp: '2026-03-01T03:00:00.000Z',
  });
  assert.equal(answer.json[0].from, getAddress(vault.address));
  assert.deepEqual((await list(undefined)).json, answer.json, 'no body is an empty one');
  assert.deepEqual((await list({}, { address: vault.address.toLowerCase() })).json, answer.json);
  assert.deepEqual((await list({}, { address: other.address })).json, []);
});

test('both kinds of cursors lead through all pages', async () => {
  for (const nextOf of [
    (answer: Awaited<ReturnType<typeof list>>) => answer.headers.get('x-next-cursor'),
    (answer: Awaited<ReturnType<typeof list>>) =>
      answer.headers.has('x-next-cursor') ? answer.json.at(-1).hash : null,
  ]) {
    const seen: Hex[] = [];
    let cursor: string | null | undefined;
    do {
      const answer = await list({ limit: 5, ...(cursor && { cursor }) });
      assert.equal(answer.status, 200, answer.text);
      seen.push(...answer.json.map(({ hash }: { hash: Hex }) => hash));
      cursor = nextOf(answer);
    } while (cursor);
    assert.deepEqual(seen, hashes);
  }
});

test('both dates of a range are inclusive', async () => {
  const times = async (body: object) =>
    (await list(body)).json.map(({ timestamp }: { timestamp: string }) => timestamp.slice(0, 13));
  assert.deepEqual(await times({ initialDate: '2026-03-02', finalDate: '2026-03-02' }), [
    '2026-03-02T21',
    '2026-03-02T15',
    '2026-03-02T09',
    '2026-03-02T03',
  ]);
  assert.equal((await times({ initialDate: '2026-03-03' })).length, 4);
  assert.equal((await times({ finalDate: '2026-03-02' })).length, 8);
  assert.equal((await times({ finalDate: '2026-02-28' })).length, 0);
  assert.equal((await times({ initialDate: '0001-01-01', finalDate: '9999-12-31' })).length, 12);
});

test('refuses dates that do not exist and reversed ranges', async () => {
  for (const body of [
    { initialDate: '2026-02-30' },
    { finalDate: '2026-13-01' },
    { initialDate: '2026-3-1' },
    { finalDate: '2026-03-01T00:00:00Z' },
    { initialDate: '' },
    { initialDate: '2026-03-02', finalDate: '2026-03-01' },
  ]) {
    assertError(await list(body), 'invalid_date_range');
  }
});

test('refuses bodies that the schema does not allow', async () => {
  for (const body of [
    { limit: 0 },
    { limit: 1001 },
    { limit: '10' },
    { limit: 1.5 },
    { cursor: 1 },
    { initialDate: 20260301 },
    { page: 2 },
    [],
  ]) {
    assertError(await list(body), 'invalid_request');
  }
});

test('a cursor is valid only for its vault and dates, and no other text is one', async () => {
  const signed = (await list({ limit: 2 })).headers.get('x-next-cursor') ?? '';
  const hash = hashes[1] ?? '';
  assert.equal((await list({ cursor: signed })).status, 200);
  assert.equal((await list({ cursor: hash })).status, 200);
  assertError(await list({ cursor: signed }, { address: other.address }), 'invalid_cursor');
  assertError(await list({ cursor: hash }, { address: other.address }), 'invalid_cursor');
  assertError(await list({ cursor: signed, initialDate: '2026-03-01' }), 'invalid_cursor');
  assertError(await list({ cursor: signed, finalDate: '2026-03-09' }), 'invalid_cursor');
  const changed = `${signed.slice(0, -1)}${signed.endsWith('A') ? 'B' : 'A'}`;
  for (const cursor of ['', 'x', '0x', changed, `${signed}=`, hash.slice(0, -1), `0x${'00'.repeat(32)}`]) {
    assertError(await list({ cursor }), 'invalid_cursor');
  }
});

test('only readers of the workspace get the list', async () => {
  assertError(await list({}, { key: null }), 'unauthorized');
  const foreign = await service.makeKey({ newWorkspace: true });
  assertError(await list({}, { key: foreign }), 'resource_not_found');
  const writer = await service.makeKey({ scopes: ['vaults:write'] });
  assertError(await list({}, { key: writer }), 'forbidden');
  const reader = await service.makeKey({ scopes: ['vaults:read'] });
  assert.equal((await list({}, { key: reader })).status, 200);
  assertError(await list({}, { address: stranger }), 'resource_not_found');
  assertError(await list({}, { address: '0x12' }), 'invalid_address');
});

test('cursors of both kinds survive a reorg', async () => {
  const first = await list({ limit: 2 });
  const cursors = [first.headers.get('x-next-cursor'), first.json.at(-1).hash];
  await database.db.transaction().execute((db) => undoBlocks(db, { forkNumber: 7, oldHead: 11 }));
  await storeBlocks([8, 9], 'second');
  for (const cursor of cursors) {
    const rest = await list({ cursor });
    assert.equal(rest.headers.get('x-indexed-block'), '9');
    assert.deepEqual(
      rest.json.map(({ hash }: { hash: Hex }) => hash),
      [hashOf('transaction second 9'), hashOf('transaction second 8'), ...hashes.slice(4)],
    );
  }
});
