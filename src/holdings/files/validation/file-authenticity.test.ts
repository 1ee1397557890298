/** The authenticity of a validation when the proof, the chain or the index is not as it should be. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import {
  anchorOf,
  type ChainFacts,
  factsOf,
  fixed,
  makeProofs,
  memoryChain,
  registry,
  utf8,
} from '../../../../test/support/fixtures/proof-fixture.ts';
import { openTestDatabase } from '../../../../test/support/service/database.ts';
import { NotAsAnchored } from '../../../anchoring/proofs.ts';
import { toBytea } from '../../../db/bytea.ts';
import type { Proof } from '../../../proof/verify/proof.ts';
import { AppError } from '../../../runtime/errors.ts';
import { checkAuthenticity } from './file-authenticity.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let proof: Proof;
/** What the chain says now, and what was cached of it earlier. */
let now: ChainFacts;
let remembered: ChainFacts;
const tip = 120;

before(async () => {
  database = await openTestDatabase();
});
after(() => database?.close());

beforeEach(async () => {
  const thing = { kind: 'file', id: 'fil_1', content: utf8('signed'), canonicalization: 'raw' } as const;
  const place = { sequence: 1, chainId: 424_242, blockNumber: 100, blockTime: 1_800_000_000 };
  const [made] = await makeProofs([{ ...thing, key: fixed(0x11) }], place);
  assert.ok(made);
  proof = made.proof;
  now = factsOf(proof);
  now.blocks[tip] = { number: tip, hash: fixed(0x71), time: 1_800_000_100, transactions: [] };
  remembered = structuredClone(now);
  await database.db.deleteFrom('chain_blocks').execute();
  await index(fixed(0x71));
});

async function index(hash: `0x${string}`): Promise<void> {
  await database.db
    .insertInto('chain_blocks')
    .values({
      number: tip,
      hash: toBytea(hash),
      parent_hash: toBytea(fixed(0x70)),
      time_seconds: 1_800_000_100,
    })
    .execute();
}

function check({
  make = async () => proof,
  chain = memoryChain(remembered),
  freshChain = memoryChain(now),
} = {}) {
  const version = {
    workspaceId: proof.subject.workspaceId,
    fileId: 'fil_1',
    version: 1,
    contentHash: toBytea(proof.content.digest),
    canonicalization: 'raw',
  } as const;
  return checkAuthenticity(version, { db: database.db, proofs: { make }, chain, freshChain, registry });
}

test('a proof that the chain confirms is authentic, final or not, and on a development chain too', async () => {
  assert.equal((await check()).authentic, true);
  remembered.development = true;
  remembered.finalized = 0;
  assert.equal((await check()).authentic, true);
});

test('a proof with erased claims is authentic too', async () => {
  proof = { ...proof, claims: null };
  assert.equal((await check()).authentic, true);
});

test('a wrong seal, path or claims are not authentic, and the chain is not asked again', async () => {
  const other = fixed(0x99);
  for (const forged of [
    { ...proof, seal: { ...proof.seal, sequence: '2' } },
    { ...proof, merkle: { ...proof.merkle, proof: [other] } },
    { ...proof, claims: { salt: other } },
  ]) {
    const result = await check({ make: async () => forged, freshChain: silent() });
    assert.equal(result.authentic, false, result.reason);
  }
});

test('rows that differ from what was anchored are not authentic', async () => {
  const make = () => Promise.reject(new NotAsAnchored('fil_1'));
  assert.deepEqual(await check({ make }), { authentic: false, reason: 'fil_1 is not as it was anchored' });
});

test('a version that is no longer confirmed has no verdict yet', async () => {
  const make = () => Promise.reject(new AppError('conflict', 'It is not confirmed on the chain yet.'));
  assert.equal((await check({ make })).authentic, null);
});

test('a chain that does not answer leaves the verdict open', async () => {
  const result = await check({ chain: silent(), freshChain: silent() });
  assert.equal(result.authentic, null);
  assert.match(result.reason, /could not be queried/);
});

test('a missing anchor is not authentic as long as the index agrees with the chain', async () => {
  for (const facts of [now, remembered])
    facts.blocks[100] = { ...(now.blocks[100] ?? assert.fail()), hash: fixed(0x66) };
  const result = await check();
  assert.equal(result.authentic, false);
  assert.match(result.reason, /not \(or no longer\)/);
});

test('an anchor moved by a reorg has no verdict until the index has caught up', async () => {
  const place = { sequence: 1, chainId: 424_242, blockNumber: 101, blockTime: 1_800_000_001 };
  const { merkle } = proof;
  const followed = await anchorOf(merkle, place);
  const moved = factsOf({ ...proof, anchors: [followed] });
  for (const facts of [now, remembered]) {
    facts.blocks = {
      ...moved.blocks,
      100: { number: 100, hash: fixed(0x67), time: 1_800_000_000, transactions: [] },
      [tip]: { number: tip, hash: fixed(0x72), time: 1_800_000_100, transactions: [] },
    };
  }
  const waiting = await check();
  assert.equal(waiting.authentic, null);
  assert.match(waiting.reason, /moved/);

  await database.db.deleteFrom('chain_blocks').execute();
  await index(fixed(0x72));
  proof = { ...proof, anchors: [followed] };
  assert.equal((await check()).authentic, true);
});

test('cached answers from before a reorg condemn nothing', async () => {
  remembered.blocks[100] = { number: 100, hash: fixed(0x68), time: 1_800_000_000, transactions: [] };
  assert.equal((await check()).authentic, true);
});

function silent(): ReturnType<typeof memoryChain> {
  const refuse = () => Promise.reject(new Error('no answer'));
  return new Proxy(memoryChain(now), { get: () => refuse });
}

test('a chain node that has not reached the block gives no verdict, and the validation waits', async () => {
  for (const facts of [now, remembered]) delete facts.blocks[100];
  const { authentic, reason } = await check();
  assert.equal(authentic, null, reason);
  assert.match(reason, /has not reached block 100/);
});
