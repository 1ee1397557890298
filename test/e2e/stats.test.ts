/** What the overview shows: counts over time, what waits, and only of one's own workspace. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApiKeys } from '../../src/access/api-keys/api-keys.ts';
import { findWorkspace } from '../../src/access/workspaces/workspaces.ts';
import { openDatabase } from '../../src/db/database.ts';
import type { Caller } from '../../src/runtime/caller.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { webhookSettings } from '../support/openapi/openapi-operations.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

/** As somebody who is signed in, works in the first workspace and does not lead it. */
async function makeKeyOfDeveloper(): Promise<string> {
  const database = openDatabase({
    connection: () => ({ connectionString: service.databaseUrl }),
    onError() {},
  });
  try {
    const { id: workspaceId } = await findWorkspace(database.db);
    const caller: Caller = {
      workspaceId,
      actor: { kind: 'user', id: 'usr_1' },
      scopes: [],
      requestId: null,
      person: {
        userId: 'usr_1',
        sessionId: 'ses_1',
        role: 'developer',
        isFresh: true,
        hasSecondFactor: false,
        lacksSecondFactor: false,
      },
    };
    const made = await createApiKeys(database).create(caller, { name: 'd', scopes: [], expiresAt: null });
    return made.key;
  } finally {
    await database.close();
  }
}

const stats = '/api-v1/platform/stats';

let service: Service;
before(async () => {
  service = await startService({ env: webhookSettings });
});
after(() => service.close());

test('a quiet workspace has buckets without gaps, and nothing in them', async () => {
  const from = '2026-01-01T00:00:00Z';
  const { json } = await service.call('GET', `${stats}?from=${from}&to=2026-01-02T00:00:00Z`);
  assert.equal(json.bucketSeconds, 3_600);
  assert.equal(json.buckets.length, 24);
  assert.deepEqual(json.buckets[1], {
    at: '2026-01-01T01:00:00.000Z',
    anchored: 0,
    anchorMsP50: null,
    anchorMsP95: null,
    delivered: 0,
    failed: 0,
    skipped: 0,
  });
});

test('counts pending anchors and deliveries and failing endpoints, but not those of others', async () => {
  const other = await service.makeKey({ newWorkspace: true });
  const { json: vault } = await service.call('POST', '/api-v1/platform/vaults', { body: { name: 'v' } });
  await service.call('POST', '/api-v1/platform/records', {
    body: { vaultAddress: vault.address, data: { a: 1 } },
  });
  await service.call('POST', '/api-v1/platform/webhooks/endpoints', {
    body: { url: 'https://127.0.0.1:9/hook', eventTypes: ['vault.deactivated'] },
  });
  await service.call('PATCH', `/api-v1/platform/vaults/${vault.address}/deactivate`);
  const seen = await waitUntil(async () => {
    const { json } = await service.call('GET', stats);
    return json.waiting.failingEndpoints === 1 ? json.waiting : null;
  });
  assert.equal(seen.anchors, 1);
  assert.equal(seen.deliveries, 1);
  assert.ok(Date.parse(seen.oldestDeliveryAt) <= Date.now());
  const { json: foreign } = await service.call('GET', stats, { key: other });
  assert.deepEqual(
    [foreign.waiting.anchors, foreign.waiting.deliveries, foreign.waiting.failingEndpoints],
    [0, 0, 0],
  );
});

test('counts confirmations and deliveries in their buckets', async () => {
  const from = new Date(Date.now() - 3_600_000);
  const { json: vault } = await service.call('POST', '/api-v1/platform/vaults', { body: { name: 'w' } });
  await service.sql(
    "insert into sender_accounts (address, next_nonce) values (decode(repeat('01', 20), 'hex'), 1)",
  );
  await service.sql(
    `with sent as (
       insert into outgoing_transactions (account, nonce, purpose, to_address, call_data, gas_limit, status, mined_hash,
         block_number, block_hash)
       select address, 0, 'anchor', address, '', 1, 'confirmed', decode(repeat('02', 32), 'hex'), 5,
         decode(repeat('03', 32), 'hex') from sender_accounts returning id
     ), batch as (
       insert into anchor_batches (root, size, outgoing_id, status, block_number, created_at, confirmed_at, evidence_root,
         head_path)
       select decode(repeat('04', 32), 'hex'), 3, id, 'confirmed', 5, now() - interval '800 ms', now(), sha256('e'), ''
       from sent returning id
     ), leaves as (
       insert into anchor_leaves (workspace_id, kind, subject_id, version, vault_id, digest, canonicalization, previous_leaf,
         claims_hash, leaf, created_at)
       select v.workspace_id, 'record', 'rec_' || n, 1, v.id, h, 'jcs', h, h, h, now() - ago
       from vaults v, decode(repeat('07', 32), 'hex') as h,
         unnest(array[interval '10 s', interval '4 s', interval '2 s']) with ordinality as accepted (ago, n)
       where v.id = $1 returning id, subject_id
     ), part as (
       insert into anchor_subtrees (batch_id, workspace_id, vault_id, root, leaves, first_place, sequence, signature, upper_path,
         previous_seal, seal_id, ids)
       select b.id, v.workspace_id, v.id, decode(repeat('04', 32), 'hex'), decode(repeat('05', 96), 'hex'), 0, 99,
         decode(repeat('06', 65), 'hex'), '', sha256('p'), sha256('s'),
         (select string_agg(int8send(id), '' order by subject_id) from leaves)
       from batch b, vaults v where v.id = $1 returning *
     )
     insert into anchor_places (first_id, batch_id, places)
     select id, batch_id, array[row_number() over (order by id) - 1] from leaves, part`,
    [vault.id],
  );
  const to = new Date(Date.now() + 60_000);
  const { json } = await service.call('GET', `${stats}?from=${from.toISOString()}&to=${to.toISOString()}`);
  const filled = json.buckets.filter(({ anchored }: { anchored: number }) => anchored > 0);
  assert.equal(filled.length, 1);
  assert.equal(filled[0].anchored, 3);
  // From when the three were accepted, not from when the batch was made.
  assert.deepEqual([filled[0].anchorMsP50, filled[0].anchorMsP95], [4_000, 10_000]);
});

test('shows figures of the whole installation to operators only', async () => {
  const other = await service.makeKey({ newWorkspace: true });
  const narrow = await service.makeKey({ scopes: ['events:read'] });
  const { json: second } = await service.call('POST', '/api-v1/platform/api-keys', {
    body: { name: 'second' },
  });
  const developers = await makeKeyOfDeveloper();
  const chain = { chain_id: 31337, hash: `\\x${'07'.repeat(32)}`, address: `\\x${'08'.repeat(20)}` };
  await service.sql(
    `insert into chain (chain_id, genesis_hash, embedded, registry, submitter)
     values ($1, $2, false, $3, $3) on conflict do nothing`,
    [chain.chain_id, chain.hash, chain.address],
  );
  // One batch with something of the first workspace, and one of nobody here.
  await service.sql(
    `update anchor_batches set status = 'set_aside', block_number = null, confirmed_at = null`,
  );
  await service.sql(
    `insert into anchor_batches (root, size, outgoing_id, status, evidence_root, head_path)
     select decode(repeat('09', 32), 'hex'), 1, id, 'set_aside', sha256('e'), '' from outgoing_transactions limit 1`,
  );
  const asideOf = async (key: string) =>
    (await service.call('GET', stats, { key })).json.waiting.setAsideBatches;
  assert.equal(await asideOf(service.key), 2, 'an operator sees all');
  assert.equal(await asideOf(second.key), 2, 'a key that an operator made sees all');
  assert.equal(await asideOf(developers), 1, 'a key that a developer made does not');
  assert.equal(await asideOf(narrow), 1, 'a key that is no operator sees those of its workspace');
  assert.equal(await asideOf(other), 0, 'another workspace sees its own, and has none');
});

test('refuses a range that ends before it begins, or is too long', async () => {
  const ask = (from: string, to: string) => service.call('GET', `${stats}?from=${from}&to=${to}`);
  assertError(await ask('2026-02-01T00:00:00Z', '2026-01-01T00:00:00Z'), 'invalid_request', /from/);
  assertError(await ask('2025-01-01T00:00:00Z', '2026-01-01T00:00:00Z'), 'invalid_request', /92 days/);
});
