/** A file's whole life through the service and a real chain: anchored, versioned, handed on, and proved as one history. */
// tier: process
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { registryAddress, registryCodeHash } from '../../src/chain/registry/registry.ts';
import { verifyHistory } from '../../src/proof/verify/history.ts';
import { verifyProof } from '../../src/proof/verify/verify.ts';
import { relayReader } from '../support/chain/relay-reader.ts';
import { sendForm } from '../support/clients/upload.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

const platform = '/api-v1/platform';
const longestMs = 60_000;

let service: Service;
before(async () => {
  service = await startService({ chain: true, env: { HOLDFAST_ANCHOR_INTERVAL_MS: '200' } });
});
after(() => service?.close());

const get = async (path: string) => (await service.call('GET', `${platform}${path}`)).json;

function events(type: string, count: number): Promise<{ data: Record<string, unknown> }[]> {
  return waitUntil(async () => {
    const told = await get(`/events?type=${type}`);
    return told.length === count ? told : null;
  }, longestMs);
}

test('a file is created, versioned, transferred, and proved with its history', async () => {
  const newVault = async (name: string) =>
    (await service.call('POST', `${platform}/vaults`, { body: { name } })).json;
  const [giver, taker] = [await newVault('Giver'), await newVault('Taker')];
  const contents = ['first', 'second', 'third'].map((text) => Buffer.from(text));
  const send = (path: string, content: Buffer | undefined, vaultAddress: string) =>
    sendForm(service, path, {
      parts: [
        ['vaultAddress', vaultAddress],
        ['file', new File([content as never], 'contract.txt', { type: 'text/plain' })],
      ],
    });
  const { id } = (await send(`${platform}/files`, contents[0], giver.address)).json;
  const added = await send(`${platform}/files/${id}/versions`, contents[1], giver.address);
  assert.equal(added.status, 202, added.text);
  const body = { destinationVaultAddress: taker.address };
  const transfer = await service.call('POST', `${platform}/files/${id}/transfer`, { body });
  assert.equal(transfer.status, 202, transfer.text);

  const [transferred] = await events('file.transfer.completed', 1);
  const file = await get(`/files/${id}`);
  assert.deepEqual([file.vaultId, file.version], [taker.id, 2]);
  const history = await get(`/files/${id}/history?proofs=true`);
  const [, , moved] = history;
  assert.deepEqual(transferred?.data, {
    file_id: id,
    from_vault_id: giver.id,
    to_vault_id: taker.id,
    version: 2,
    tx_hash: moved.anchor.transactionHash,
    block_number: moved.anchor.blockNumber,
    transferred_at: moved.anchor.anchoredAt,
  });
  const after = await send(`${platform}/files/${id}/versions`, contents[2], taker.address);
  assert.equal(after.status, 202, after.text);
  const confirmed = await events('file.anchor.confirmed', 3);
  const versions = (await get(`/files/${id}/versions`)).reverse();
  assert.deepEqual(
    confirmed.map(({ data }) => data),
    versions.map(({ version, vaultId, anchor }: Answer['json']) => ({
      file_id: id,
      vault_id: vaultId,
      version,
      tx_hash: anchor.transactionHash,
      block_number: anchor.blockNumber,
      anchored_at: anchor.anchoredAt,
    })),
  );

  const registry = { address: registryAddress, codeHash: registryCodeHash };
  const { text } = await service.call('GET', `${platform}/files/${id}/history?format=proof`);
  const [one, two, three] = contents;
  const verified = await verifyHistory(text, {
    // The transfer is of the bytes of the version that it handed over.
    contents: [one, two, two, three],
    chain: relayReader(service),
    registry,
  });
  assert.equal(verified.chain.status, 'pass', verified.chain.message);
  assert.equal(verified.proofs.length, 4);
  for (const { steps } of verified.proofs) {
    const failed = steps.filter(({ status }) => status === 'fail');
    assert.deepEqual(failed, []);
    const passed = new Set(steps.filter(({ status }) => status === 'pass').map(({ name }) => name));
    for (const name of ['digest', 'claims', 'leaf', 'path', 'seal', 'registry', 'chain'] as const) {
      assert.ok(passed.has(name), name);
    }
  }
  assert.deepEqual(
    history.map(({ proof }: { proof: object }) => proof),
    JSON.parse(text).proofs.slice(0, 3),
  );

  assert.equal((await service.call('DELETE', `${platform}/files/${id}/content`)).status, 204);
  const proof = await service.call('GET', `${platform}/files/${id}/proof?version=1`);
  const { steps } = await verifyProof(proof.text, { content: one, chain: relayReader(service), registry });
  assert.deepEqual(
    steps.filter(({ status }) => status === 'fail'),
    [],
  );
});
