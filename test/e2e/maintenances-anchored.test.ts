/** An entry and its sign-offs from their acceptance to proofs that stand on their own, through a real chain. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registryAddress, registryCodeHash } from '../../src/chain/registry/registry.ts';
import { verifySignoff } from '../../src/maintenance/signing/signoff.ts';
import type { Proof } from '../../src/proof/verify/proof.ts';
import { verifyProof } from '../../src/proof/verify/verify.ts';
import { relayReader } from '../support/chain/relay-reader.ts';
import {
  licence,
  type MaintenanceFixture,
  openMaintenanceFixture,
} from '../support/fixtures/maintenance-fixture.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const longestMs = 60_000;

let service: Service;
let fixture: MaintenanceFixture;
before(async () => {
  service = await startService({ chain: true, env: { HOLDFAST_ANCHOR_INTERVAL_MS: '200' } });
  fixture = await openMaintenanceFixture(service);
});
after(() => service?.close());

async function assertProved(path: string, content: object): Promise<Proof> {
  const { text, json, status } = await service.call('GET', fixture.view(path));
  assert.equal(status, 200, text);
  const { steps } = await verifyProof(text, {
    content: new TextEncoder().encode(JSON.stringify(content)),
    chain: relayReader(service),
    registry: { address: registryAddress, codeHash: registryCodeHash },
  });
  const passed = steps.filter(({ status }) => status === 'pass').map(({ name }) => name);
  // The two empty blocks that make it final may still be to come; the time of this chain never counts.
  assert.deepEqual(
    passed.filter((name) => name !== 'finality'),
    [
      'digest',
      ...(json.kind === 'signoff' ? ['signature'] : []),
      'claims',
      'leaf',
      'path',
      'seal',
      'registry',
      'chain',
    ],
  );
  return json;
}

test('an entry is anchored, announced and proved, together with its sign-offs', async () => {
  const certifier = await fixture.newWorker({ licences: [licence('repair', 'DK.66.1')] });
  const { maintenanceId, maintenanceHash } = await fixture.made({ data: { torque: 42.5 } });
  const early = await service.call('GET', fixture.view(`${maintenanceId}/proof/`));
  assert.equal(early.json.errorCode, 'conflict');
  for (const [workerAddress, role] of [
    [fixture.worker, 'performed'],
    [certifier, 'certified'],
  ]) {
    const signed = await fixture.signOff(maintenanceId, { workerAddress, role });
    assert.equal(signed.status, 201, signed.text);
  }
  const isConfirmed = ({ status }: { status: string }) => status === 'confirmed' || status === 'finalized';
  const entry = await waitUntil(async () => {
    const { json } = await service.call('GET', fixture.view(`${maintenanceId}/details/`));
    return isConfirmed(json) && json.signoffs.every(isConfirmed) ? json : null;
  }, longestMs);

  const { json: events } = await waitUntil(async () => {
    const answer = await service.call('GET', '/api-v1/platform/events?type=maintenance.anchor.confirmed');
    return answer.json.length > 0 ? answer : null;
  }, longestMs);
  assert.deepEqual(
    events.map(({ data }: { data: object }) => data),
    [
      {
        asset_id: fixture.assetId,
        maintenance_id: maintenanceId,
        vault_id: fixture.vault.id,
        tx_hash: entry.anchor.transactionHash,
        block_number: entry.anchor.blockNumber,
        anchored_at: entry.anchor.anchoredAt,
      },
    ],
  );

  const found = await service.call('GET', fixture.view(`${maintenanceId}/`));
  assert.deepEqual(found.json, {
    chainId: entry.anchor.chainId,
    maintenance: { assetId: fixture.assetId, maintenanceId, maintenanceHash },
  });
  // In this order: it may become final at any moment.
  const listed = new Set<string>();
  for (const status of ['confirmed', 'finalized']) {
    const { json } = await service.call('GET', fixture.view(`?status=${status}`));
    for (const one of json) listed.add(one.maintenanceId);
  }
  assert.deepEqual([...listed], [maintenanceId]);

  const proof = await assertProved(`${maintenanceId}/proof/`, entry.entry);
  assert.equal(proof.content.digest, maintenanceHash);
  assert.deepEqual(
    { ...proof.claims, salt: '' },
    { salt: '', assetId: fixture.assetId, number: 1, previousEntry: `0x${'00'.repeat(32)}` },
  );
  for (const number of [1, 2]) {
    const { document } = (await service.call('GET', fixture.view(`${maintenanceId}/signoffs/${number}/`)))
      .json;
    assert.deepEqual(await verifySignoff(document, { ...entry.entry, maintenanceHash }), []);
    const signoff = await assertProved(`${maintenanceId}/signoffs/${number}/proof/`, document);
    assert.equal(signoff.kind, 'signoff');
    assert.equal(signoff.leaf.values[4], String(number));
  }
});
