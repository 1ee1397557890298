/** The authenticity of a validation when the proof, the chain or the index is not as it should be. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import {
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
import { createAnchorReader } from '../../../chain/registry/anchor-reader.ts';
import { registryCodeHash } from '../../../chain/registry/registry.ts';
import { registryRuntimeCode } from '../../../chain/registry/registry-code.ts';
import { toBytea } from '../../../db/bytea.ts';
import type { EvmAnchor, Proof } from '../../../proof/proof.ts';
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
  now.blocks[tip] = { number: tip, hash: fixed(0x71), time: 1_800_000_100 };
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
  remembered.embedded = true;
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
    { ...proof, seal: { ...proof.seal, sequence: 2 } },
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
  for (const facts of [now, remembered]) facts.anchors = {};
  const result = await check();
  assert.equal(result.authentic, false);
  assert.match(result.reason, /no anchor/);
});

test('an anchor moved by a reorg has no verdict until the index has caught up', async () => {
  const moved = { number: 101, hash: fixed(0x77), time: 1_800_000_001 };
  const [anchor] = proof.anchors as [EvmAnchor];
  for (const facts of [now, remembered]) {
    const transaction = facts.transactions[anchor.transactionHash];
    assert.ok(transaction);
    facts.transactions[anchor.transactionHash] = { ...transaction, blockNumber: 101, blockHash: moved.hash };
    facts.blocks = { 101: moved, [tip]: { number: tip, hash: fixed(0x72), time: 1_800_000_100 } };
    for (const stored of Object.values(facts.anchors)) stored.time = moved.time;
  }
  const waiting = await check();
  assert.equal(waiting.authentic, null);
  assert.match(waiting.reason, /moved/);

  await database.db.deleteFrom('chain_blocks').execute();
  await index(fixed(0x72));
  const followed = { ...anchor, blockNumber: 101, blockHash: moved.hash, blockTime: moved.time };
  proof = { ...proof, anchors: [followed] };
  assert.equal((await check()).authentic, true);
});

test('cached answers from before a reorg condemn nothing', async () => {
  remembered.blocks = {};
  assert.equal((await check()).authentic, true);
});

function silent(): ReturnType<typeof memoryChain> {
  const refuse = () => Promise.reject(new Error('no answer'));
  return new Proxy(memoryChain(now), { get: () => refuse });
}

test('a lagging chain node behind the address gives no verdict, and the validation waits', async () => {
  const { blockNumber, blockHash } = proof.anchors[0] as EvmAnchor;
  const quantity = (value: number) => `0x${value.toString(16)}`;
  const asked: string[] = [];
  // Headers come from a chain node that is up to date; the contract calls go to one that does not know the anchor yet.
  const chain = createAnchorReader(async (method, params) => {
    asked.push(method);
    if (method === 'eth_chainId') return quantity(424_242);
    if (method === 'web3_clientVersion') return 'Geth/v1.16.7';
    if (method === 'eth_getBlockByNumber') {
      const number = params[0] === 'latest' ? tip : Number(params[0]);
      const hash = number === blockNumber ? blockHash : fixed(0x71);
      return { number: quantity(number), hash, timestamp: quantity(1_800_000_100), transactions: [] };
    }
    const lagging = params[1] === 'latest';
    if (method === 'eth_getCode' && lagging) return registryRuntimeCode;
    if (method === 'eth_call' && lagging) return `0x${'00'.repeat(64)}`;
    throw new Error('header not found');
  });
  const { authentic, reason } = await checkAuthenticity(
    {
      workspaceId: proof.subject.workspaceId,
      fileId: 'fil_1',
      version: 1,
      contentHash: toBytea(proof.content.digest),
      canonicalization: 'raw',
    },
    {
      db: database.db,
      proofs: { make: async () => proof },
      chain,
      freshChain: chain,
      registry: { ...registry, codeHash: registryCodeHash },
    },
  );
  assert.equal(authentic, null, reason);
  assert.match(reason, /header not found/);
  assert.ok(asked.indexOf('eth_getBlockByNumber') < asked.indexOf('eth_getCode'), 'the head comes first');
});
