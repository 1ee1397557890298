/** What a verifier does not know: what is skipped, what a chain cannot say, and content in other forms. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { fixed, memoryChain, utf8 } from '../../test/support/fixtures/proof-fixture.ts';
import { readVector, vectorNames } from '../../test/support/fixtures/vectors.ts';
import { messageOf, optionsOf, statuses, verify } from '../../test/support/fixtures/verify-fixture.ts';
import type { AnchorKey } from './chain-reader.ts';
import type { EvmAnchor, Proof } from './proof.ts';
import { sealTypedData } from './seal.ts';
import type { StepName } from './steps.ts';
import { type VerifyOptions, verifyProof } from './verify.ts';

const other = fixed(0x99);
const otherAddress: Hex = `0x${'99'.repeat(20)}`;
const evm = ({ anchors: [anchor] }: Proof) => anchor as EvmAnchor;

test('a depth beyond the path fails it, even if the fold gives the right root', async () => {
  const vector = readVector('single-leaf');
  vector.proof.seal.depth = 1;
  assert.equal(statuses(await verify(vector)).path, 'fail');
});

test('another record fails the digest, and content that is not JSON is named as such', async () => {
  const vector = readVector('second-vault');
  const digestOf = async (content: string) => {
    const result = await verify({ ...vector, content });
    return [statuses(result).digest, messageOf(result, 'digest')] as const;
  };
  assert.equal((await digestOf(' {"a":1.0, "b":2e0}\n'))[0], 'pass');
  assert.equal((await digestOf('{"a":1,"b":3}'))[0], 'fail');
  assert.match((await digestOf('{"a":0,"a":1,"b":2}')).join(), /fail.*occurs twice/);
  assert.match((await digestOf('{"a":1,')).join(), /fail.*not the JSON/);
});

test('refuses a name that occurs twice in a document given as text', async () => {
  const { proof } = readVector('file-raw');
  const text = JSON.stringify(proof).replace('"kind":', '"kind":"record","kind":');
  assert.equal((await verifyProof(JSON.parse(text))).verdict, 'incomplete');
  const result = await verifyProof(text);
  assert.match(messageOf(result, 'leaf'), /occurs twice/);
  assert.equal(result.verdict, 'fail');
  assert.equal((await verifyProof('{')).verdict, 'fail');
});

test('skips what cannot be checked, and a skipped step is never a pass', async () => {
  const vector = readVector('file-raw');
  const skippedWith = async (options: VerifyOptions, proof: Proof = vector.proof) => {
    const result = await verifyProof(proof, options);
    assert.equal(result.verdict, 'incomplete');
    return result.steps.filter(({ status }) => status === 'skipped').map(({ name }) => name);
  };
  const onChain = ['registry', 'chain', 'time', 'finality'];
  const { content, chain, registry } = optionsOf(vector);
  assert.deepEqual(await skippedWith({}), ['digest', ...onChain]);
  assert.deepEqual(await skippedWith({ content }), onChain);
  assert.deepEqual(await skippedWith({ content, registry }), onChain);
  assert.deepEqual(await skippedWith({ content, chain }), onChain);
  assert.deepEqual(await skippedWith({ chain, registry }), ['digest']);
  assert.deepEqual(await skippedWith({ content, chain, registry }, { ...vector.proof, claims: null }), [
    'claims',
  ]);
});

test('skips the time on the embedded chain, unless the proof contradicts it', async () => {
  const vector = readVector('file-raw');
  vector.chain.embedded = true;
  const result = await verify(vector);
  assert.equal(result.verdict, 'incomplete');
  assert.deepEqual(
    result.steps.filter(({ status }) => status !== 'pass').map(({ name, status }) => [name, status]),
    [['time', 'skipped']],
  );
  evm(vector.proof).blockTime += 1;
  assert.equal(statuses(await verify(vector)).time, 'fail');
});

test('skips finality for a block that is not final yet, and passes the last final one', async () => {
  const vector = readVector('file-raw');
  vector.chain.finalized = evm(vector.proof).blockNumber - 1;
  assert.equal(statuses(await verify(vector)).finality, 'skipped');
  assert.equal((await verify(vector)).verdict, 'incomplete');
  vector.chain.finalized += 1;
  assert.equal((await verify(vector)).verdict, 'pass');
});

test('a chain node that does not answer skips the step instead of failing it', async () => {
  const vector = readVector('file-raw');
  const away = async () => {
    throw new Error('connect ECONNREFUSED');
  };
  const options = optionsOf(vector);
  const calls = [
    'chainId',
    'codeHash',
    'storedAnchor',
    'transaction',
    'block',
    'isEmbedded',
    'finality',
  ] as const;
  const firstSkipped: Record<(typeof calls)[number], StepName> = {
    chainId: 'registry',
    codeHash: 'registry',
    storedAnchor: 'chain',
    transaction: 'chain',
    block: 'chain',
    isEmbedded: 'time',
    finality: 'finality',
  };
  for (const call of calls) {
    const chain = { ...memoryChain(vector.chain), [call]: away };
    const result = await verifyProof(vector.proof, { ...options, chain });
    assert.equal(result.verdict, 'incomplete', call);
    const first = result.steps.find(({ status }) => status === 'skipped');
    assert.equal(first?.name, firstSkipped[call]);
    assert.match(first?.message ?? '', /ECONNREFUSED/);
  }
});

test('a chain node that has not reached the block of the anchor does not contradict it', async () => {
  for (const [what, lacking] of [
    ['anchors', 'chain'],
    ['codeHashes', 'registry'],
  ] as const) {
    const vector = readVector('file-raw');
    vector.chain[what] = {};
    assert.equal(statuses(await verify(vector))[lacking], 'fail');
    vector.chain.head = evm(vector.proof).blockNumber - 1;
    const result = await verify(vector);
    assert.equal(statuses(result)[lacking], 'skipped');
    assert.match(messageOf(result, lacking), /the node is at block/);
  }
});

test('a chain node of another chain skips the steps, and contradicts nothing', async () => {
  const vector = readVector('file-raw');
  vector.chain.chainId = 11155111;
  const result = await verify(vector);
  assert.equal(result.verdict, 'incomplete');
  const onChain = ['registry', 'chain', 'time', 'finality'];
  assert.deepEqual(
    result.steps.filter(({ status }) => status !== 'pass').map(({ name, status }) => [name, status]),
    onChain.map((name) => [name, 'skipped']),
  );
  assert.match(
    messageOf(result, 'registry'),
    /belongs to chain 11155111, but the proof is anchored on chain 1\./,
  );
  evm(vector.proof).contract = otherAddress;
  assert.equal(statuses(await verify(vector)).registry, 'fail', 'no node is needed to see this');
});

test('reads nothing from the contract that the proof names', async () => {
  const vector = readVector('file-raw');
  const asked = new Set<string>();
  const chain = memoryChain(vector.chain);
  const spied = {
    ...chain,
    codeHash(address: Hex) {
      asked.add(address);
      return chain.codeHash(address);
    },
    storedAnchor(key: AnchorKey) {
      asked.add(key.registry);
      return chain.storedAnchor(key);
    },
  };
  await verify(vector, { chain: spied });
  evm(vector.proof).contract = otherAddress;
  await verify(vector, { chain: spied });
  assert.deepEqual([...asked], [vector.registry.address]);
});

test('checks the anchor on the chain that was asked, if there are several', async () => {
  const vector = readVector('file-raw');
  const elsewhere = { ...evm(vector.proof), chainId: 137, transactionHash: other, contract: otherAddress };
  vector.proof.anchors = [elsewhere, { type: 'bitcoin', height: 1 }, evm(vector.proof)];
  const result = await verify(vector);
  assert.equal(result.verdict, 'pass');
  assert.match(messageOf(result, 'chain'), /2 more on other chains were not checked/);
});

test("a proof without an anchor in the registry fails 'registry', even without a chain", async () => {
  const { proof, registry } = readVector('file-raw');
  evm(proof).contract = otherAddress;
  assert.equal(statuses(await verifyProof(proof, { registry })).registry, 'fail');
});

test('accepts the salt of an HMAC from its owner', async () => {
  const vector = readVector('file-hmac');
  const { salt } = vector.proof.content;
  assert.ok(salt);
  vector.proof.content.salt = null;
  assert.equal(statuses(await verify(vector)).digest, 'skipped');
  assert.equal((await verify(vector, { salt })).verdict, 'pass');
  assert.equal(statuses(await verify(vector, { salt: other })).digest, 'fail');
  vector.proof.content.salt = salt;
  assert.equal(statuses(await verify(vector, { salt: other })).digest, 'fail');
});

test('accepts content in pieces', async () => {
  for (const name of vectorNames) {
    const vector = readVector(name);
    const pieces = async function* () {
      for (const byte of utf8(vector.content)) yield new Uint8Array([byte]);
    };
    assert.equal((await verify(vector, { content: pieces() })).verdict, 'pass', name);
  }
});

test('the seal of another vault over the same subtree fails', async () => {
  const vector = readVector('file-raw');
  const { seal } = vector.proof;
  const stranger = privateKeyToAccount(fixed(0x33));
  const vault = stranger.address.toLowerCase() as Hex;
  const signature = await stranger.signTypedData(sealTypedData({ ...seal, vault }));
  vector.proof.seal = { ...seal, vault, signature };
  assert.equal(statuses(await verify(vector)).seal, 'fail');
  vector.proof.seal = { ...seal, signature: await stranger.signTypedData(sealTypedData(seal)) };
  assert.equal(statuses(await verify(vector)).seal, 'fail');
});
