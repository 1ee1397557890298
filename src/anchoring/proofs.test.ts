/** Proofs made from stored rows. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import {
  confirmBatch,
  type Fixture,
  openFixture,
  type TestVault,
} from '../../test/support/fixtures/batcher-fixture.ts';
import { recordDigest } from '../proof/content.ts';
import { fromHex, toHex } from '../proof/hex.ts';
import { type EvmAnchor, type ProofContent, parseProof } from '../proof/verify/proof.ts';
import { verifyProof } from '../proof/verify/verify.ts';
import type { AppError } from '../runtime/errors.ts';
import { batchStatuses, statusOf } from './anchored.ts';
import { beginSealEpoch } from './batching/seal-epoch.ts';
import { createProofs, type Proofs } from './proofs.ts';

let fixture: Fixture;
let vault: TestVault;
let proofs: Proofs;
before(async () => {
  fixture = await openFixture();
  vault = await fixture.newVault();
  proofs = createProofs(fixture);
  const registry = Buffer.alloc(20, 0xab);
  await sql`insert into chain (chain_id, genesis_hash, embedded, registry, submitter)
    values (31337, ${Buffer.alloc(32)}, true, ${registry}, ${Buffer.alloc(20, 0xcd)})`.execute(fixture.db);
});
after(() => fixture.close());

const jsonOf = (data: unknown) => new TextEncoder().encode(JSON.stringify(data));

function contentOf(data: unknown): ProofContent {
  const salt = toHex(randomBytes(32));
  return { algorithm: 'sha-256', digest: recordDigest(fromHex(salt), data), canonicalization: 'jcs', salt };
}

const accept = (subjectId: string, { digest }: ProofContent, rest: Parameters<Fixture['accept']>[2] = {}) =>
  fixture.accept(vault, subjectId, { digest: Buffer.from(fromHex(digest)), ...rest });

const key = (subjectId: string, version = 1) => ({
  workspaceId: 'ws_1',
  kind: 'record',
  subjectId,
  version,
});

test('the proof of every leaf of a batch is well formed and passes all steps that need no chain', async () => {
  const contents = new Map<string, { data: unknown; content: ProofContent }>();
  for (let count = 0; count < 9; count += 1) {
    const data = { count, text: 'ünïcödé' };
    const content = contentOf(data);
    contents.set(`rec_${count}`, { data, content });
    await accept(`rec_${count}`, content, { claims: { externalId: `x${count}` } });
  }
  // A vault with one leaf: its path is only the upper path.
  await fixture.accept(await fixture.newVault('ws_2'), 'rec_other');
  await confirmBatch(fixture);
  for (const [subjectId, { data, content }] of contents) {
    const proof = await proofs.make({ ...key(subjectId), content });
    assert.deepEqual(parseProof(JSON.parse(JSON.stringify(proof))).faults, []);
    const { steps } = await verifyProof(JSON.stringify(proof), { content: jsonOf(data) });
    assert.deepEqual(steps.map(({ name, status }) => `${name} ${status}`).slice(0, 5), [
      'digest pass',
      'claims pass',
      'leaf pass',
      'path pass',
      'seal pass',
    ]);
    assert.equal(proof.merkle.size, 10);
    assert.equal(proof.claims?.externalId, `x${subjectId.slice(4)}`);
    assert.deepEqual((proof.anchors[0] as EvmAnchor).contract, `0x${'ab'.repeat(20)}`);
  }
});

test('proofs from a large subtree share one tree, and too many waiting requests get Retry-After', async () => {
  const contents = Array.from({ length: 12 }, (_, count) => contentOf({ large: count }));
  for (const [place, content] of contents.entries()) await accept(`rec_large_${place}`, content);
  await confirmBatch(fixture);
  const { thread } = fixture;
  let built = 0;
  const counting = {
    keptPath: thread.keptPath,
    path(order: Parameters<typeof thread.path>[0]) {
      built += 1;
      return thread.path(order);
    },
  };
  const askFor = ({ make }: Proofs, count: number) =>
    contents.slice(0, count).map((content, place) => make({ ...key(`rec_large_${place}`), content }));
  const large = createProofs({ db: fixture.db, thread: counting, smallBytes: 64 });
  const together = await Promise.all(askFor(large, 12));
  assert.equal(built, 1);
  const alone = await Promise.all(askFor(proofs, 12));
  assert.deepEqual(together, alone);
  assert.equal(together[0]?.seal.leaves, 12);
  await Promise.all(askFor(large, 12));
  assert.equal(built, 1);

  const held = Promise.withResolvers<void>();
  const slow = {
    path: thread.path,
    async keptPath(order: Parameters<typeof thread.keptPath>[0]) {
      await held.promise;
      return thread.keptPath(order);
    },
  };
  const asked = askFor(createProofs({ db: fixture.db, thread: slow, smallBytes: 64, most: 4 }), 5);
  const settled = Promise.allSettled(asked);
  const refused = await Promise.race(
    asked.map((proof) =>
      proof.then(
        () => null,
        (error: AppError) => error,
      ),
    ),
  );
  assert.equal(refused?.code, 'service_unavailable');
  assert.ok((refused.retryAfterSeconds ?? 0) > 0);
  held.resolve();
  const outcomes = (await settled).map(({ status }) => status);
  assert.equal(outcomes.filter((status) => status === 'fulfilled').length, 4);
});

test('a seal of a later epoch has a number beyond 2^53, as a string, and verifies', async () => {
  await beginSealEpoch(fixture.db);
  const content = contentOf({ epoch: 'later' });
  await accept('rec_later', content);
  await confirmBatch(fixture);
  const proof = await proofs.make({ ...key('rec_later'), content });
  assert.ok(BigInt(proof.seal.sequence) > 2n ** 53n, proof.seal.sequence);
  const text = JSON.stringify(proof);
  assert.ok(text.includes(`"sequence":"${proof.seal.sequence}"`));
  const statusOfSeal = async (document: string) =>
    (await verifyProof(document)).steps.find(({ name }) => name === 'seal')?.status;
  assert.equal(await statusOfSeal(text), 'pass');
  // The next number, which a double cannot tell from this one.
  const next = text.replace(proof.seal.sequence, String(BigInt(proof.seal.sequence) + 1n));
  assert.equal(await statusOfSeal(next), 'fail');
});

test('a proof is a conflict before the confirmation, and not found for an unknown subject', async () => {
  const content = contentOf({});
  await accept('rec_early', content);
  const code = (wanted: string) => (error: AppError) => error.code === wanted;
  const ask = () => proofs.make({ ...key('rec_early'), content });
  await assert.rejects(ask(), code('conflict'));
  await fixture.batcher().step(fixture.lead);
  await assert.rejects(ask(), code('conflict'));
  await assert.rejects(proofs.make({ ...key('rec_early', 2), content }), code('resource_not_found'));
  await assert.rejects(
    proofs.make({ ...key('rec_early'), workspaceId: 'ws_2', content }),
    code('resource_not_found'),
  );
});

test('a proof with erased claims says so, and its path and seal still verify', async () => {
  const content = contentOf({ secret: 1 });
  await accept('rec_erased', content);
  await confirmBatch(fixture, 'finalized');
  await sql`update anchor_leaves set claims = null where subject_id = 'rec_erased'`.execute(fixture.db);
  const proof = await proofs.make({ ...key('rec_erased'), content: { ...content, salt: null } });
  assert.equal(proof.claims, null);
  const { steps } = await verifyProof(proof);
  assert.deepEqual(steps.map(({ name, status }) => `${name} ${status}`).slice(0, 5), [
    'digest pass',
    'claims skipped',
    'leaf pass',
    'path pass',
    'seal pass',
  ]);
});

test('makes no proof of a row that was changed in the database', async () => {
  const content = contentOf({});
  await accept('rec_changed', content);
  await accept('rec_beside', contentOf({}));
  const id = await confirmBatch(fixture);
  const ask = () => proofs.make({ ...key('rec_changed'), content });
  await ask();
  await assert.rejects(
    proofs.make({ ...key('rec_changed'), content: contentOf({}) }),
    /not as it was anchored/,
  );
  await sql`update anchor_subtrees set leaves = reverse(leaves) where batch_id = ${id}`.execute(fixture.db);
  await assert.rejects(ask(), /not as it was anchored/);
});

test('the status of a subject follows that of its batch', () => {
  const states = [null, 'batched', 'set_aside', 'submitted', 'confirmed', 'finalized'];
  assert.deepEqual(states.map(statusOf), [
    'pending',
    'batched',
    'batched',
    'submitted',
    'confirmed',
    'finalized',
  ]);
  for (const state of states) {
    if (state !== null) assert.ok(batchStatuses(statusOf(state)).includes(state));
  }
});
