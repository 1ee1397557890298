/** Assets over HTTP: created, found, listed, and refused with nothing stored. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type AssetFixture,
  fromNow,
  openAssetFixture,
  pathOf,
  randomAddress,
} from '../support/fixtures/asset-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Service, startService } from '../support/service/service.ts';

const url = '/api-v1/damc/assets/';

let service: Service;
let fixture: AssetFixture;

before(async () => {
  service = await startService({ runLoops: false });
  fixture = openAssetFixture(service);
});
after(() => service.close());

const create = (body: object, headers = {}) => service.call('POST', url, { body, headers });
const install = (assetId: string, parentAssetId: string, at = fromNow(-1000)) =>
  fixture.call('POST', assetId, 'install/', { body: { parentAssetId, at } });

test('creates an asset as pending under its own id, and finds it with and without the slash', async () => {
  const vault = await fixture.newVault();
  const startedAt = new Date().toISOString();
  const given = {
    vaultAddress: vault.address.toLowerCase(),
    assetId: 'Pumpe Nr. 7 (groß) #3?',
    name: 'Fuel pump',
    serialNumber: 'SN-1',
    partNumber: 'PN-9',
    metadata: { maker: { name: 'é' }, list: [1, 2.5] },
    usage: { hours: 12.5 },
  };
  const answer = await create(given);
  assert.equal(answer.status, 201, answer.text);
  const { createdAt, updatedAt, ...rest } = answer.json;
  assert.deepEqual(rest, {
    ...given,
    vaultAddress: vault.address,
    vaultId: vault.id,
    usage: { hours: 12.5, cycles: 0 },
    usageFromParents: { hours: 0, cycles: 0 },
    parentAssetId: null,
    version: 1,
    status: 'pending',
    anchor: null,
  });
  assert.ok(createdAt >= startedAt && createdAt <= new Date().toISOString(), createdAt);
  assert.equal(updatedAt, createdAt);
  for (const path of [pathOf(given.assetId), pathOf(given.assetId).slice(0, -1)]) {
    assert.deepEqual((await service.call('GET', path)).json, answer.json);
  }
  const made = (await create({ vaultAddress: vault.address, name: 'Unnamed' })).json;
  assert.match(made.assetId, /^ast_[0-9A-Z]{26}$/);
  assert.deepEqual([made.serialNumber, made.partNumber, made.metadata], ['', '', {}]);
});

test('an assetId is unique in its workspace, even in a race, and free in another one', async () => {
  const { address: vaultAddress } = await fixture.newVault();
  const body = { vaultAddress, name: 'Pump', assetId: 'twice' };
  const answers = await Promise.all(Array.from({ length: 8 }, () => create(body)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(7).fill(409)]);
  await fixture.refused(() => create(body), 'conflict', /already an asset twice/);

  const key = await service.makeKey({ newWorkspace: true });
  const theirs = await service.call('POST', '/api-v1/platform/vaults', { key, body: { name: 'V' } });
  const elsewhere = { ...body, vaultAddress: theirs.json.address };
  assert.equal((await service.call('POST', url, { key, body: elsewhere })).status, 201);
  const { rows } = await fixture.sql("select count(*)::int as count from assets where asset_id = 'twice'");
  assert.equal(rows[0].count, 2);
});

test('refuses an assetId that is not printable, is a path, or looks like an id of the service', async () => {
  const { address: vaultAddress } = await fixture.newVault();
  for (const [assetId, message] of [
    ['', /assetId must not be empty/],
    ['x'.repeat(256), /at most 255/],
    ['a/b', /slash/],
    ['a\\b', /slash/],
    ['..', /must not be "\." or "\.\."/],
    ['a\tb', /printable/],
    ['a\u202eb', /direction/],
    ['a\u200bb', /printable/],
    [' a', /space/],
    ['e\u0301', /normalization form C/],
    ['ast_1', /begin with ast_/],
    ['FIL_01HZ', /begin with FIL_/],
  ] as const) {
    await fixture.refused(() => create({ vaultAddress, name: 'Pump', assetId }), 'invalid_request', message);
  }
  for (const assetId of ['x'.repeat(255), 'PN_77', '日本-1', '%2F', 'a+b=c;d']) {
    const made = await create({ vaultAddress, name: 'Pump', assetId });
    assert.equal(made.status, 201, made.text);
    assert.equal((await fixture.call('GET', assetId)).json?.assetId, assetId);
  }
});

test('refuses an invalid body, and an unknown or deactivated vault', async () => {
  const vault = await fixture.newVault();
  const body = { vaultAddress: vault.address, name: 'Pump' };
  await fixture.refused(() => create({ ...body, name: ' ' }), 'invalid_request', /name/);
  await fixture.refused(() => create({ ...body, owner: 'x' }), 'invalid_request', /owner/);
  await fixture.refused(() => create({ ...body, usage: { hours: -1 } }), 'invalid_request', /usage.hours/);
  await fixture.refused(() => create({ ...body, usage: { cycles: 1.5 } }), 'invalid_request', /usage.cycles/);
  await fixture.refused(() => create({ ...body, metadata: [] }), 'invalid_request', /metadata/);
  const huge = `{"vaultAddress":"${vault.address}","name":"P","metadata":{"n":12345678901234567890}}`;
  await fixture.refused(() => service.call('POST', url, { body: huge }), 'invalid_request', /metadata.n/);
  const twice = `{"vaultAddress":"${vault.address}","name":"P","metadata":{"n":1,"n":2}}`;
  await fixture.refused(() => service.call('POST', url, { body: twice }), 'invalid_request', /twice/);
  const bad = { ...body, vaultAddress: '0xabc' };
  await fixture.refused(() => create(bad), 'invalid_address', /vaultAddress/);
  const nobody = { ...body, vaultAddress: randomAddress() };
  await fixture.refused(() => create(nobody), 'resource_not_found', /no vault/);
  const assetId = await fixture.newAsset({ vaultAddress: vault.address });
  await fixture.setStatus(vault, 'deactivate');
  await fixture.refused(() => create(body), 'vault_deactivated', /deactivated/);
  const rename = () => fixture.call('PUT', assetId, '', { body: { name: 'Other' } });
  await fixture.refused(rename, 'vault_deactivated', /deactivated/);
  await fixture.setStatus(vault, 'reactivate');
  assert.equal((await rename()).status, 200);
});

test('a repeat with the same Idempotency-Key creates nothing and gets the same answer', async () => {
  const { address: vaultAddress } = await fixture.newVault();
  const body = { vaultAddress, name: 'Pump', assetId: 'kept' };
  const headers = { 'idempotency-key': 'asset-1' };
  const first = await create(body, headers);
  const second = await create(body, headers);
  assert.deepEqual([first.status, second.status], [201, 201]);
  assert.equal(second.text, first.text);
  assertError(await create({ ...body, name: 'Other' }, headers), 'idempotency_key_reused');
});

test('finds assets by any words of their id, name, serial number and part number', async () => {
  const tag = randomAddress().slice(2, 12);
  const made: string[] = [];
  for (const [place, more] of [
    { name: `Fuel Pump ${tag}`, serialNumber: 'SN-77/a', partNumber: 'P 100%' },
    { name: `Oil pump ${tag}`, serialNumber: 'SN-78_b' },
    { name: `Äxle ${tag}` },
  ].entries()) {
    made.push(await fixture.newAsset({ assetId: `thing-${place}-${tag}`, ...more }));
  }
  const [fuel, oil, axle] = made;
  const find = async (q: string, more = '') => {
    const query = `?q=${encodeURIComponent(q)}${more}`;
    const answer = await service.call('GET', url + query);
    assert.equal(answer.status, 200, answer.text);
    return answer.json.map(({ assetId }: { assetId: string }) => assetId);
  };
  assert.deepEqual(await find(tag.toUpperCase()), [axle, oil, fuel]);
  assert.deepEqual(await find(`pump ${tag}`), [oil, fuel]);
  assert.deepEqual(await find(`sn-77 ${tag}`), [fuel]);
  assert.deepEqual(await find(`100% ${tag}`), [fuel]);
  assert.deepEqual(await find(`78_b ${tag} PUMP`), [oil]);
  assert.deepEqual(await find(`äXLE ${tag}`), [axle]);
  assert.deepEqual(await find(`HING-0-${tag}`), [fuel]);
  assert.deepEqual(await find(`nothing ${tag}`), []);
  assert.deepEqual(await find(`sn-77 ${tag}`, '&serialNumber=SN-78_b'), []);
  for (const q of ['', '%20']) assertError(await service.call('GET', `${url}?q=${q}`), 'invalid_request');
  const other = await service.makeKey({ newWorkspace: true });
  assert.deepEqual((await service.call('GET', `${url}?q=${tag}`, { key: other })).json, []);

  const found: string[] = [];
  for (let path = `${url}?q=${tag}&limit=1`; ; ) {
    const { json, headers } = await service.call('GET', path);
    found.push(...json.map(({ assetId }: { assetId: string }) => assetId));
    const cursor = headers.get('x-next-cursor');
    if (cursor === null) break;
    path = `${url}?q=${tag}&limit=1&cursor=${cursor}`;
  }
  assert.deepEqual(found, [axle, oil, fuel]);
});

test('lists assets newest first through all pages, by vault, serial number and parent', async () => {
  const vault = await fixture.newVault();
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    const body = { vaultAddress: vault.address, assetId: `listed ${n}`, serialNumber: n % 2 ? 'odd' : '' };
    ids.unshift(await fixture.newAsset(body));
  }
  await install('listed 1', 'listed 0');
  const walk = async (query: string) => {
    const found: string[] = [];
    for (let next = `${url}?${query}&limit=2`; ; ) {
      const { json, headers } = await service.call('GET', next);
      found.push(...json.map(({ assetId }: { assetId: string }) => assetId));
      const cursor = headers.get('x-next-cursor');
      if (cursor === null) return found;
      next = `${url}?${query}&limit=2&cursor=${cursor}`;
    }
  };
  assert.deepEqual(await walk(`vaultAddress=${vault.address}`), ids);
  assert.deepEqual(await walk('serialNumber=odd'), ['listed 3', 'listed 1']);
  assert.deepEqual(await walk('parentAssetId=listed%200'), ['listed 1']);
  assertError(await service.call('GET', `${url}?serialNumber=`), 'invalid_request');
});

test('an asset and everything about it does not exist for another workspace', async () => {
  const [assetId, engine] = [await fixture.newAsset(), await fixture.newAsset()];
  const key = await service.makeKey({ newWorkspace: true });
  const { json: vault } = await service.call('POST', '/api-v1/platform/vaults', { key, body: { name: 'V' } });
  const own = { vaultAddress: vault.address, name: 'Pump', assetId: 'their own' };
  assert.equal((await service.call('POST', url, { key, body: own })).status, 201);
  const address = randomAddress();
  const at = fromNow(0);
  const requests: [string, string, object?][] = [
    ['GET', ''],
    ['PUT', '', { name: 'x' }],
    ['GET', 'versions/'],
    ['GET', 'proof/'],
    ['GET', 'history/'],
    ['POST', 'transfer/', { destinationVaultAddress: (await fixture.newVault()).address }],
    ['GET', 'transfers/'],
    ['POST', 'viewers/', { viewers: [address] }],
    ['GET', 'viewers/'],
    ['DELETE', `viewers/${address}/`],
    ['GET', `viewers/verify/?viewerAddress=${address}`],
    ['POST', 'workers/', { workers: [address] }],
    ['GET', 'workers/'],
    ['DELETE', `workers/${address}/`],
    ['POST', 'install/', { parentAssetId: engine, at }],
    ['POST', 'remove/', { at }],
    ['GET', 'installations/'],
    ['POST', 'intervals/', { every: { days: 1 }, lastDone: { at } }],
    ['GET', 'intervals/'],
    ['GET', `due/?viewerAddress=${address}`],
    ['GET', 'access-log/'],
  ];
  for (const [method, path, body] of requests) {
    await fixture.refused(
      () => fixture.call(method, assetId, path, { key, ...(body && { body }) }),
      'resource_not_found',
      /There is no/,
    );
  }
  const { json } = await service.call('GET', url, { key });
  assert.deepEqual(
    json.map(({ assetId }: { assetId: string }) => assetId),
    ['their own'],
  );
});
