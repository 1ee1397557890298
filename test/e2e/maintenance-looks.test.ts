/** Looks at maintenance entries over HTTP: one by one and in lists, by those who may, each in the access log. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ErrorCode } from '../../src/runtime/errors.ts';
import { randomAddress } from '../support/fixtures/asset-fixture.ts';
import { type MaintenanceFixture, openMaintenanceFixture } from '../support/fixtures/maintenance-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: MaintenanceFixture;
/** Of another workspace. */
let stranger: string;
const chainId = 424_242;
/** What was told of an entry, and of one that is not there, while no chain was known. */
let unknown: Answer;
let missing: Answer;

before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openMaintenanceFixture(service);
  stranger = await service.makeKey({ newWorkspace: true });
  const { maintenanceId } = await fixture.made();
  unknown = await service.call('GET', fixture.view(`${maintenanceId}/`));
  missing = await service.call('GET', fixture.view('mnt_none/'));
  await storeChain();
});
after(() => service.close());

/** As a first lead would have stored it. */
async function storeChain(): Promise<void> {
  const bytes = (length: number) => `\\x${'11'.repeat(length)}`;
  await fixture.sql(
    'insert into chain (chain_id, genesis_hash, embedded, registry, submitter) values ($1, $2, false, $3, $3)',
    [chainId, bytes(32), bytes(20)],
  );
}

test('the lookup is 503 while the chain id is unknown, but only after all other checks', async () => {
  assertError(unknown, 'service_unavailable');
  assert.ok(Number(unknown.headers.get('retry-after')) > 0);
  assertError(missing, 'resource_not_found');
  const { maintenanceId } = await fixture.made();
  assert.equal((await service.call('GET', fixture.view(`${maintenanceId}/`))).status, 200);
});

test('accepts an entry, and the lookup returns its ids, hash and chain, with and without the slash', async () => {
  const answer = await fixture.post();
  assert.equal(answer.status, 202, answer.text);
  const { maintenanceId, maintenanceHash } = answer.json;
  assert.match(maintenanceId, /^mnt_[0-9A-Z]{26}$/);
  assert.match(maintenanceHash, /^0x[0-9a-f]{64}$/);
  const { assetId } = fixture;
  assert.deepEqual(answer.json, { assetId, maintenanceId, maintenanceHash, status: 'pending' });
  for (const path of [`${maintenanceId}/`, maintenanceId]) {
    const found = await service.call('GET', fixture.view(path));
    assert.equal(found.status, 200, found.text);
    assert.deepEqual(found.json, { chainId, maintenance: { assetId, maintenanceId, maintenanceHash } });
  }
});

test('a deactivated owner prevents new entries, but not lookups', async () => {
  const vault = await fixture.newVault();
  const assetId = await fixture.newAsset({ vault, workers: [fixture.worker] });
  const { maintenanceId } = await fixture.made({}, assetId);
  await service.call('PATCH', `/api-v1/platform/vaults/${vault.address}/deactivate`);
  assertError(await fixture.post({}, { assetId }), 'vault_deactivated');
  const path = `/api-v1/damc/assets/${encodeURIComponent(assetId)}/maintenances/${maintenanceId}/`;
  assert.equal((await service.call('GET', `${path}?viewerAddress=${vault.address}`)).status, 200);
});

test('the lookup checks form, asset, viewer and entry in this order', async () => {
  const { maintenanceId } = await fixture.made();
  const nobody = randomAddress();
  const cases: [string, ErrorCode][] = [
    [fixture.url(`${maintenanceId}/`), 'invalid_request'],
    [`${fixture.url(`${maintenanceId}/`)}?viewerAddress=`, 'invalid_address'],
    [fixture.view(`${maintenanceId}/`, '0x1234'), 'invalid_address'],
    [fixture.view(`${maintenanceId}/`, swapCase(fixture.vault.address)), 'invalid_address'],
    [`/api-v1/damc/assets/none/maintenances/${maintenanceId}/?viewerAddress=0x12`, 'invalid_address'],
    [`/api-v1/damc/assets/none/maintenances/${maintenanceId}/?viewerAddress=${nobody}`, 'resource_not_found'],
    [fixture.view('mnt_none/', nobody), 'viewer_not_allowed'],
    [fixture.view('mnt_none/'), 'resource_not_found'],
    [`${fixture.view(`${maintenanceId}/`)}&more=1`, 'invalid_request'],
  ];
  for (const [path, code] of cases) assertError(await service.call('GET', path), code);
  for (const viewer of [fixture.vault.address.toLowerCase(), fixture.worker]) {
    assert.equal((await service.call('GET', fixture.view(`${maintenanceId}/`, viewer))).status, 200);
  }
  const elsewhere = await fixture.newAsset({ workers: [fixture.worker] });
  const path = `/api-v1/damc/assets/${encodeURIComponent(elsewhere)}/maintenances/${maintenanceId}/`;
  assertError(
    await service.call('GET', `${path}?viewerAddress=${fixture.vault.address}`),
    'resource_not_found',
  );
  const foreign = await service.call('GET', fixture.view(`${maintenanceId}/`), { key: stranger });
  assertError(foreign, 'resource_not_found');
});

/**
 * The same address with one letter in the other case: one of those that most letters have, or all would be in the same
 * case now and then, and that is an address too.
 */
function swapCase(address: string): string {
  const letters = [...address].map((letter, place) => (place > 1 && /[a-f]/i.test(letter) ? letter : ''));
  const upper = letters.filter((letter) => /[A-F]/.test(letter)).length;
  const lower = letters.filter((letter) => /[a-f]/.test(letter)).length;
  const at = letters.findIndex((letter) => (upper > lower ? /[A-F]/ : /[a-f]/).test(letter));
  const letter = letters[at] ?? '';
  const other = upper > lower ? letter.toLowerCase() : letter.toUpperCase();
  return `${address.slice(0, at)}${other}${address.slice(at + 1)}`;
}

test('logs every access before it answers, even a refused one, on every route', async () => {
  const { maintenanceId } = await fixture.made();
  const viewer = randomAddress();
  const looks = async () =>
    (
      await fixture.sql(
        'select what, target_id, allowed from asset_access_log where viewer = $1 order by id desc limit 1',
        [viewer.toLowerCase()],
      )
    ).rows[0];
  const paths: [string, string][] = [
    [`${maintenanceId}/`, 'maintenance'],
    [`${maintenanceId}/details/`, 'maintenance details'],
    [`${maintenanceId}/proof/`, 'maintenance proof'],
    ['', 'maintenances'],
    ['count/', 'maintenance count'],
  ];
  for (const [path, what] of paths) {
    assertError(await service.call('GET', fixture.view(path, viewer)), 'viewer_not_allowed');
    const target_id = path.startsWith('mnt_') ? maintenanceId : null;
    assert.deepEqual(await looks(), { what, target_id, allowed: false });
  }
  await fixture.grant(viewer, new Date(Date.now() - 3_600_000));
  assertError(await service.call('GET', fixture.view(`${maintenanceId}/`, viewer)), 'viewer_not_allowed');
  await fixture.sql("update asset_viewers set until = now() + interval '1 hour' where address = $1", [
    viewer.toLowerCase(),
  ]);
  assert.equal((await service.call('GET', fixture.view(`${maintenanceId}/`, viewer))).status, 200);
  assert.deepEqual(await looks(), { what: 'maintenance', target_id: maintenanceId, allowed: true });
});

test('reading needs assets:read, and recording needs assets:write', async () => {
  const { maintenanceId } = await fixture.made();
  const reader = await service.makeKey({ scopes: ['assets:read'] });
  assert.equal((await service.call('GET', fixture.view(`${maintenanceId}/`), { key: reader })).status, 200);
  assertError(await fixture.post({}, { key: reader }), 'forbidden');
  const other = await service.makeKey({ scopes: ['records:read'] });
  assertError(await service.call('GET', fixture.view(`${maintenanceId}/`), { key: other }), 'forbidden');
});

test('pages by time of the work, with filters and a count, and a cursor is valid only for its list', async () => {
  const assetId = await fixture.newAsset({ workers: [fixture.worker] });
  const made: string[] = [];
  for (const [day, type] of [
    [3, 'check'],
    [1, 'repair'],
    [5, 'check'],
    [4, 'repair'],
    [2, 'check'],
  ] as const) {
    const { maintenanceId } = await fixture.made({ type, performedAt: `2026-01-0${day}T10:00:00Z` }, assetId);
    made[day] = maintenanceId;
  }
  const base = `/api-v1/damc/assets/${encodeURIComponent(assetId)}/maintenances/`;
  const get = (path: string, query = '') =>
    service.call('GET', `${base}${path}?viewerAddress=${fixture.vault.address}${query}`);
  const ids = ({ json }: Answer) => json.map((one: { maintenanceId: string }) => one.maintenanceId);
  assert.deepEqual(ids(await get('')), [made[5], made[4], made[3], made[2], made[1]]);
  assert.deepEqual(ids(await get('', '&type=check')), [made[5], made[3], made[2]]);
  const range = '&from=2026-01-02T10:00:00Z&to=2026-01-04T10:00:00Z';
  assert.deepEqual(ids(await get('', range)), [made[3], made[2]]);
  assert.deepEqual(ids(await get('', '&status=pending&limit=2')), [made[5], made[4]]);
  assert.deepEqual(ids(await get('', '&status=confirmed')), []);
  assert.deepEqual((await get('count/')).json, { count: 5 });
  assert.deepEqual((await get('count/', `&type=check${range}`)).json, { count: 2 });
  const first = await get('', '&limit=2');
  const cursor = first.headers.get('x-next-cursor');
  assert.match(first.headers.get('link') ?? '', /rel="next"/);
  const second = await get('', `&limit=2&cursor=${cursor}`);
  assert.deepEqual([...ids(first), ...ids(second)], [made[5], made[4], made[3], made[2]]);
  const last = await get('', `&limit=2&cursor=${second.headers.get('x-next-cursor')}`);
  assert.deepEqual([ids(last), last.headers.get('x-next-cursor')], [[made[1]], null]);
  assertError(await get('', `&type=check&cursor=${cursor}`), 'invalid_cursor');
  assertError(await service.call('GET', fixture.view(`?cursor=${cursor}`)), 'invalid_cursor');
  assertError(await get('', '&from=2026-01-04T00:00:00Z&to=2026-01-03T00:00:00Z'), 'invalid_date_range');
});
