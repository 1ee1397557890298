/** A record from its acceptance to a proof that stands on its own, through the whole service and a real chain. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registryAddress, registryCodeHash } from '../../src/chain/registry/registry.ts';
import { verifyProof } from '../../src/proof/verify/verify.ts';
import { relayReader } from '../support/chain/relay-reader.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const platform = '/api-v1/platform';
const longestMs = 60_000;

let service: Service;
before(async () => {
  const env = { HOLDFAST_ANCHOR_INTERVAL_MS: '200' };
  service = await startService({ chain: true, runLoops: false, env });
});
after(() => service?.close());

async function confirmed(recordId: string, version: number) {
  return waitUntil(async () => {
    const { json } = await service.call('GET', `${platform}/records/${recordId}?version=${version}`);
    return json.status === 'confirmed' || json.status === 'finalized' ? json : null;
  }, longestMs);
}

test('two versions are anchored in order, announced, listed and proved', async () => {
  const vault = (await service.call('POST', `${platform}/vaults`, { body: { name: 'Contracts' } })).json;
  const contents = [{ signed: false }, { signed: true }];
  const { id } = (
    await service.call('POST', `${platform}/records`, {
      body: { vaultAddress: vault.address, data: contents[0] },
    })
  ).json;
  assert.equal((await service.call('GET', `${platform}/records/${id}/proof`)).json.errorCode, 'conflict');
  // Not before, or it might be confirmed already when its proof is asked for.
  service.app.loops.start();
  await service.call('POST', `${platform}/records/${id}/versions`, { body: { data: contents[1] } });
  const versions = [await confirmed(id, 1), await confirmed(id, 2)];

  const { json: events } = await waitUntil(async () => {
    const answer = await service.call('GET', `${platform}/events?type=record.anchor.confirmed`);
    return answer.json.length === 2 ? answer : null;
  }, longestMs);
  assert.deepEqual(
    events.map(({ data }: { data: object }) => data),
    versions.map(({ version, anchor }) => ({
      record_id: id,
      vault_id: vault.id,
      version,
      tx_hash: anchor.transactionHash,
      block_number: anchor.blockNumber,
      anchored_at: anchor.anchoredAt,
    })),
  );

  const listed = await service.call('POST', `${platform}/vaults/${vault.address}/transactions`);
  assert.ok(Number(listed.headers.get('x-indexed-block')) >= versions[1].anchor.blockNumber);
  const hashes = new Set(versions.map(({ anchor }) => anchor.transactionHash));
  assert.deepEqual(new Set(listed.json.map(({ hash }: { hash: string }) => hash)), hashes);
  assert.ok(listed.json.every(({ to }: { to: string }) => to === registryAddress));

  let previousLeaf: string | null = null;
  for (const [place, data] of contents.entries()) {
    const { text, json } = await service.call('GET', `${platform}/records/${id}/proof?version=${place + 1}`);
    const { steps, verdict } = await verifyProof(text, {
      content: new TextEncoder().encode(JSON.stringify(data)),
      chain: relayReader(service),
      registry: { address: registryAddress, codeHash: registryCodeHash },
    });
    const passed = steps.filter(({ status }) => status === 'pass').map(({ name }) => name);
    // The two empty blocks that make it final may still be to come; the time of this chain never counts.
    assert.deepEqual(
      passed.filter((name) => name !== 'finality'),
      ['digest', 'claims', 'leaf', 'path', 'seal', 'registry', 'chain'],
    );
    assert.equal(verdict, 'incomplete');
    if (previousLeaf !== null) assert.equal(json.leaf.values[5], previousLeaf);
    previousLeaf = steps.find(({ name }) => name === 'leaf')?.message.match(/0x[0-9a-f]{64}/)?.[0] ?? null;
    assert.notEqual(previousLeaf, null);
  }
});
