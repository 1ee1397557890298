/** Files validated through the whole service and a real chain: what holds, what does not, and results that outlive nodes. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { registryAddress, registryCodeHash } from '../../src/chain/registry/registry.ts';
import { verifyProof } from '../../src/proof/verify/verify.ts';
import { relayReader } from '../support/chain/relay-reader.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { withClient } from '../support/service/database.ts';
import { serve, waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const platform = '/api-v1/platform';
const longestMs = 60_000;
const env = { HOLDFAST_ANCHOR_INTERVAL_MS: '200', HOLDFAST_MASTER_KEY: randomBytes(32).toString('hex') };

let service: Service;
let owner: { id: string; address: string };
let other: { id: string; address: string };

before(async () => {
  service = await startService({ chain: true, env });
  owner = (await service.call('POST', `${platform}/vaults`, { body: { name: 'Owner' } })).json;
  other = (await service.call('POST', `${platform}/vaults`, { body: { name: 'Other' } })).json;
});
after(() => service?.close());

const hashOf = (text: string) => `0x${createHash('sha256').update(text).digest('hex')}`;

async function newFile(content: string): Promise<string> {
  const body = { vaultAddress: owner.address, name: 'deed.txt', contentHash: hashOf(content) };
  const { status, text, json } = await service.call('POST', `${platform}/files`, { body });
  assert.equal(status, 202, text);
  return json.id;
}

async function validate(fileId: string, body: object): Promise<string> {
  const { status, text, json } = await service.call('POST', `${platform}/files/${fileId}/validate`, { body });
  assert.equal(status, 202, text);
  return json.id;
}

function completed(fileId: string, id: string) {
  return waitUntil(async () => {
    const { json } = await service.call('GET', `${platform}/files/${fileId}/validations/${id}`);
    return json.status === 'completed' ? json : null;
  }, longestMs);
}

async function eventsOf(id: string): Promise<object[]> {
  const { json } = await service.call('GET', `${platform}/events?type=file.validation.completed&limit=1000`);
  return json
    .map(({ data }: { data: { validation_id: string } }) => data)
    .filter(({ validation_id }: { validation_id: string }) => validation_id === id);
}

test('validations requested before the confirmation report what holds and what does not', async () => {
  const fileId = await newFile('signed');
  const cases = [
    { body: { contentHash: hashOf('signed') }, holds: [true, true, true], vault: owner },
    { body: { contentHash: hashOf('forged') }, holds: [false, true, true], vault: owner },
    {
      body: { contentHash: hashOf('signed'), vaultAddress: other.address },
      holds: [true, true, false],
      vault: other,
    },
  ];
  const ids: string[] = [];
  for (const { body } of cases) ids.push(await validate(fileId, body));
  for (const [place, { holds, vault }] of cases.entries()) {
    const id = ids[place] ?? '';
    const validation = await completed(fileId, id);
    const [integrity, authenticity, ownership] = holds;
    const result = holds.every(Boolean) ? 'valid' : 'invalid';
    const { validatedAt } = validation;
    assert.equal(new Date(validatedAt).toISOString(), validatedAt);
    const verdict = { result, integrity, authenticity, ownership };
    assert.deepEqual(validation, { id, fileId, version: 1, status: 'completed', ...verdict, validatedAt });
    const events = await waitUntil(async () => {
      const found = await eventsOf(id);
      return found.length > 0 ? found : null;
    });
    assert.deepEqual(events, [
      {
        file_id: fileId,
        vault_id: vault.id,
        version: 1,
        validation_id: id,
        ...verdict,
        validated_at: validatedAt,
      },
    ]);
  }
});

test('anchors a result beside the versions, with a proof of its own', async () => {
  const fileId = await newFile('to be proved');
  const id = await validate(fileId, { contentHash: hashOf('to be proved') });
  const { validatedAt } = await completed(fileId, id);
  const proof = await waitUntil(async () => {
    const answer = await service.call('GET', `${platform}/files/${fileId}/validations/${id}/proof`);
    if (answer.status === 200) return answer;
    assertError(answer, 'conflict');
    return null;
  }, longestMs);
  const { steps } = await verifyProof(proof.text, {
    content: new TextEncoder().encode('to be proved'),
    chain: relayReader(service),
    registry: { address: registryAddress, codeHash: registryCodeHash },
    // Blocks of the embedded chain that follow each other fast are ahead of the clock.
    at: Date.now() + 60 * 60 * 1000,
  });
  const passed = steps.filter(({ status }) => status === 'pass').map(({ name }) => name);
  assert.deepEqual(
    passed.filter((name) => name !== 'finality'),
    ['digest', 'claims', 'leaf', 'path', 'seal', 'registry', 'chain'],
  );
  const { salt, ...claims } = proof.json.claims;
  assert.deepEqual(claims, {
    validationId: id,
    fileVersion: 1,
    vaultAddress: owner.address.toLowerCase(),
    result: 'valid',
    integrity: true,
    authenticity: true,
    ownership: true,
    validatedAt,
  });
  assert.equal(proof.json.kind, 'validation');
});

test('a file whose rows were changed is no longer authentic', async () => {
  const fileId = await newFile('to be changed');
  const first = await validate(fileId, { contentHash: hashOf('to be changed') });
  assert.equal((await completed(fileId, first)).result, 'valid');
  await withClient({ connectionString: service.databaseUrl }, (client) =>
    client.query('update file_versions set content_hash = $2 where file_id = $1', [
      fileId,
      Buffer.from(hashOf('changed').slice(2), 'hex'),
    ]),
  );
  const second = await validate(fileId, { contentHash: hashOf('changed') });
  assert.partialDeepStrictEqual(await completed(fileId, second), {
    result: 'invalid',
    integrity: false,
    authenticity: false,
    ownership: true,
  });
});

test('another node completes a validation after a kill, and announces it once', async () => {
  const fileId = await newFile('outlives its node');
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-killed-'));
  const node = await serve({
    HOLDFAST_DATA_DIR: dataDir,
    HOLDFAST_BLOB_URL: pathToFileURL(join(service.config.dataDir, 'blobs')).href,
    DATABASE_URL: service.databaseUrl,
    HOLDFAST_MASTER_KEY: env.HOLDFAST_MASTER_KEY,
    HOLDFAST_ROLES: 'api',
  });
  try {
    const answer = await fetch(`${node.url}${platform}/files/${fileId}/validate`, {
      method: 'POST',
      headers: { 'x-api-key': service.key, 'content-type': 'application/json' },
      body: JSON.stringify({ contentHash: hashOf('outlives its node') }),
    });
    const { id } = (await answer.json()) as { id: string };
    node.child.kill('SIGKILL');
    assert.equal(await node.exited, 'SIGKILL');
    assert.equal((await completed(fileId, id)).result, 'valid');
    await waitUntil(async () => (await eventsOf(id)).length > 0);
    const { rows } = await withClient({ connectionString: service.databaseUrl }, (client) =>
      client.query(
        `select (select count(*) from events where envelope like '%' || $1 || '%')::int as events,
                (select count(*) from anchor_leaves where claims like '%' || $1 || '%')::int as leaves`,
        [id],
      ),
    );
    assert.deepEqual(rows, [{ events: 1, leaves: 1 }]);
  } finally {
    node.child.kill('SIGKILL');
    await node.exited;
    await rm(dataDir, { recursive: true, force: true });
  }
});
