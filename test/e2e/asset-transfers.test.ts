/** Assets that change hands: what is refused meanwhile, and a sale through the whole service and a real chain. */
// tier: process
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registryAddress, registryCodeHash } from '../../src/chain/registry/registry.ts';
import { verifyHistory } from '../../src/proof/verify/history.ts';
import { relayReader } from '../support/chain/relay-reader.ts';
import {
  type AssetFixture,
  fromNow,
  openAssetFixture,
  randomAddress,
} from '../support/fixtures/asset-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const longestMs = 60_000;

/** Until the loops run nothing is confirmed, so what is under way stays so. */
let service: Service;
let fixture: AssetFixture;
before(async () => {
  service = await startService({
    chain: true,
    runLoops: false,
    env: { HOLDFAST_ANCHOR_INTERVAL_MS: '200' },
  });
  fixture = openAssetFixture(service);
});
after(() => service.close());

const transfer = (assetId: string, destinationVaultAddress: string, headers = {}) =>
  fixture.call('POST', assetId, 'transfer/', { body: { destinationVaultAddress }, headers });

test('accepts a transfer as pending, with a leaf of the giving vault that names the receiving one', async () => {
  const [from, to] = [await fixture.newVault(), await fixture.newVault()];
  const assetId = await fixture.newAsset({ vaultAddress: from.address });
  const headers = { 'idempotency-key': 'sale' };
  const answer = await transfer(assetId, to.address.toLowerCase(), headers);
  assert.equal(answer.status, 202, answer.text);
  const { id, ...rest } = answer.json;
  assert.match(id, /^trf_/);
  const addresses = { fromVaultAddress: from.address, toVaultAddress: to.address };
  assert.deepEqual(rest, { assetId, ...addresses, status: 'pending', anchor: null });
  assert.deepEqual((await transfer(assetId, to.address.toLowerCase(), headers)).json, answer.json);
  assert.deepEqual((await fixture.call('GET', assetId, 'transfers/')).json, [answer.json]);
  const { rows } = await fixture.sql(
    'select kind, version, vault_id, digest, previous_leaf, leaf, claims from anchor_leaves where subject_id = $1 order by id',
    [assetId],
  );
  const [made, given] = rows;
  const { salt, ...claims } = JSON.parse(given.claims);
  assert.deepEqual(claims, { to: to.address.toLowerCase(), transferId: id, assetVersion: 1 });
  assert.deepEqual([given.kind, given.version, given.vault_id], ['transfer', 1, from.id]);
  assert.deepEqual([given.digest, given.previous_leaf], [made.digest, made.leaf]);
});

test('an asset in transfer keeps its owner, and cannot be changed, installed or transferred again', async () => {
  const [from, to] = [await fixture.newVault(), await fixture.newVault()];
  const [assetId, engine] = [
    await fixture.newAsset({ vaultAddress: from.address }),
    await fixture.newAsset(),
  ];
  const answers = await Promise.all(Array.from({ length: 5 }, () => transfer(assetId, to.address)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [202, 409, 409, 409, 409]);
  const third = await fixture.newVault();
  await fixture.refused(() => transfer(assetId, third.address), 'conflict', /being transferred/);
  const put = () => fixture.call('PUT', assetId, '', { body: { name: 'Other' } });
  await fixture.refused(put, 'conflict', /asset.transfer.completed/);
  const install = () =>
    fixture.call('POST', assetId, 'install/', { body: { parentAssetId: engine, at: fromNow(-1) } });
  await fixture.refused(install, 'conflict', /being transferred/);
  assert.equal((await fixture.call('GET', assetId)).json.vaultAddress, from.address);
});

test('transfers only to another existing, active vault, but also from a deactivated one', async () => {
  const [from, to] = [await fixture.newVault(), await fixture.newVault()];
  const assetId = await fixture.newAsset({ vaultAddress: from.address });
  await fixture.refused(() => transfer(assetId, from.address), 'conflict', /already/);
  await fixture.refused(() => transfer(assetId, randomAddress()), 'resource_not_found', /no vault/);
  await fixture.refused(() => transfer('nothing', to.address), 'resource_not_found', /no asset/);
  await fixture.refused(() => transfer(assetId, '0x1'), 'invalid_address', /destinationVaultAddress/);
  const key = await service.makeKey({ newWorkspace: true });
  const theirs = await service.call('POST', '/api-v1/platform/vaults', { key, body: { name: 'V' } });
  await fixture.refused(() => transfer(assetId, theirs.json.address), 'resource_not_found', /no vault/);
  await fixture.setStatus(to, 'deactivate');
  await fixture.refused(() => transfer(assetId, to.address), 'vault_deactivated', /deactivated/);
  await fixture.setStatus(to, 'reactivate');
  await fixture.setStatus(from, 'deactivate');
  assert.equal((await transfer(assetId, to.address)).status, 202);
});

test('a sale is confirmed on the chain, announced, and proved up to the new owner', async () => {
  service.app.loops.start();
  const [from, to] = [await fixture.newVault(), await fixture.newVault()];
  const assetId = await fixture.newAsset({ vaultAddress: from.address, metadata: { é: 1 } });
  const [viewer, worker] = [randomAddress(), await fixture.newWorker()];
  await fixture.call('POST', assetId, 'viewers/', { body: { viewers: [viewer] } });
  await fixture.call('POST', assetId, 'workers/', { body: { workers: [worker] } });
  await fixture.call('PUT', assetId, '', { body: { name: 'Overhauled pump' } });
  const body = { destinationVaultAddress: to.address };
  const sold = await fixture.call('POST', assetId, 'transfer/', { body });
  assert.equal(sold.status, 202, sold.text);

  const [event] = await waitUntil(async () => {
    const { json } = await service.call('GET', '/api-v1/platform/events?type=asset.transfer.completed');
    const ours = json.filter(({ data }: { data: { asset_id: string } }) => data.asset_id === assetId);
    return ours.length > 0 ? ours : null;
  }, longestMs);
  const [transferred] = (await fixture.call('GET', assetId, 'transfers/')).json;
  assert.equal(transferred.id, sold.json.id);
  assert.deepEqual(event.data, {
    asset_id: assetId,
    from_vault_id: from.id,
    to_vault_id: to.id,
    tx_hash: transferred.anchor.transactionHash,
    block_number: transferred.anchor.blockNumber,
    transferred_at: transferred.anchor.anchoredAt,
  });
  const owned = (await fixture.call('GET', assetId)).json;
  assert.deepEqual([owned.vaultId, owned.name, owned.version], [to.id, 'Overhauled pump', 2]);
  assert.deepEqual((await fixture.call('GET', assetId, 'viewers/')).json, []);
  assert.deepEqual((await fixture.call('GET', assetId, 'workers/')).json, []);
  for (const gone of [viewer, worker, from.address]) {
    assertError(await fixture.call('GET', assetId, `due/?viewerAddress=${gone}`), 'viewer_not_allowed');
  }

  assert.equal((await fixture.call('PUT', assetId, '', { body: { name: 'Mine' } })).status, 200);
  const { json: history } = await waitUntil(async () => {
    const answer = await fixture.call('GET', assetId, 'history/');
    return answer.status === 200 && answer.json.proofs.length === 4 ? answer : null;
  }, longestMs);
  const { json: versions } = await fixture.call('GET', assetId, 'versions/');
  const document = (version: number) =>
    Buffer.from(
      JSON.stringify(versions.find((one: { version: number }) => one.version === version).document),
    );
  const verified = await verifyHistory(history, {
    contents: [1, 2, 2, 3].map(document),
    chain: relayReader(service),
    registry: { address: registryAddress, codeHash: registryCodeHash },
  });
  assert.equal(verified.chain.status, 'pass', JSON.stringify(verified.chain));
  for (const { steps } of verified.proofs) {
    const failed = steps.filter(({ status }) => status === 'fail');
    assert.deepEqual(failed, []);
    assert.equal(steps.find(({ name }) => name === 'digest')?.status, 'pass');
  }
  const kinds = history.proofs.map(({ kind, seal }: { kind: string; seal: { vault: string } }) => [
    kind,
    seal.vault,
  ]);
  const [giver, taker] = [from.address.toLowerCase(), to.address.toLowerCase()];
  assert.deepEqual(kinds, [
    ['asset', giver],
    ['asset', giver],
    ['transfer', giver],
    ['asset', taker],
  ]);
  const { json: proof } = await fixture.call('GET', assetId, 'proof/?version=2');
  assert.deepEqual(proof, history.proofs[1]);
});
