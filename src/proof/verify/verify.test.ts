/** What the vectors cannot say: content in pieces, nodes that fail or lag, and a document given as an object. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from 'viem';
import { makeClockedProof } from '../../../test/support/fixtures/clocked-proof.ts';
import { fixed, memoryChain, registry, utf8 } from '../../../test/support/fixtures/proof-fixture.ts';
import { plainNames } from '../../../test/support/fixtures/vectors.ts';
import {
  messageOf,
  optionsOf,
  readOnChain,
  statuses,
  verify,
} from '../../../test/support/fixtures/verify-fixture.ts';
import { NotNow } from '../../chain/rules/not-now.ts';
import type { EvmAnchor, Proof } from './proof.ts';
import type { StepName } from './steps.ts';
import { shippedTrust } from './trust.ts';
import { verifyProof } from './verify.ts';

const evm = ({ anchors: [anchor] }: Proof) => anchor as EvmAnchor;

for (const name of plainNames) {
  test(`the vector ${name} verifies by a node of its chain, given as text or parsed`, async () => {
    const vector = readOnChain(name);
    const result = await verify(vector);
    assert.deepEqual([...new Set(Object.values(statuses(result)))], ['pass'], JSON.stringify(result.steps));
    assert.equal(result.verdict, 'pass');
    assert.equal((await verifyProof(JSON.stringify(vector.proof), optionsOf(vector))).verdict, 'pass');
  });
}

test('the summary says what is proved, who vouches for it, and whether content was given', async () => {
  const vector = readOnChain('file-raw');
  const { summary, vouchers } = await verify(vector);
  assert.match(
    summary,
    /^The content existed on .*, says block \d+ of Ethereum, and was sealed by the vault 0x/,
  );
  assert.deepEqual(
    vouchers.map(({ isShipped }) => isShipped),
    [true],
  );
  const without = await verify(vector, { content: undefined });
  assert.equal(without.verdict, 'pass');
  assert.match(without.summary, /^What has the digest 0x.* No content was given\.$/);
  const other = await verify(vector, { content: utf8('something else') });
  assert.deepEqual([other.verdict, other.summary], ['fail', 'Something contradicts the proof: digest.']);
  const open = await verifyProof(vector.proof, { content: utf8(vector.content) });
  assert.equal(open.verdict, 'incomplete');
  assert.match(open.summary, /not everything was checked: time\.$/);
});

test('of a time that is still to come, it says only that the content existed before', async () => {
  const { proof, evm, content } = await makeClockedProof({ at: Date.UTC(2100, 0, 1) });
  const block = { chainId: evm.chainId, number: evm.blockNumber, hash: evm.blockHash };
  const trust = { ...shippedTrust, blocks: [block] };
  const alone = { ...proof, anchors: [evm] };
  const { summary, steps } = await verifyProof(alone, { trust, registry, content: utf8(content) });
  assert.match(summary, /^The content existed before 2099-12-31T23:59:30Z, says block /);
  assert.match(steps.at(-1)?.message ?? '', /^It existed before 2099-12-31T23:59:30Z, says block /);
});

test('a name that occurs twice shows only in text', async () => {
  const { proof } = readOnChain('file-raw');
  const text = JSON.stringify(proof).replace('"kind":', '"kind":"record","kind":');
  assert.equal((await verifyProof(JSON.parse(text))).verdict, 'incomplete');
  const result = await verifyProof(text);
  assert.match(messageOf(result, 'leaf'), /occurs twice/);
  assert.equal(result.verdict, 'fail');
  assert.equal((await verifyProof('{')).verdict, 'fail');
});

test('a chain node that does not answer skips the step instead of failing it', async () => {
  const vector = readOnChain('file-raw');
  const away = async () => {
    throw new Error('connect ECONNREFUSED');
  };
  const firstSkipped: Record<string, StepName> = {
    chainId: 'chain',
    genesisHash: 'chain',
    isDevelopmentNode: 'chain',
    block: 'chain',
    finalBlock: 'finality',
  };
  for (const [call, step] of Object.entries(firstSkipped)) {
    const chain = { ...memoryChain(vector.chain), [call]: away };
    const result = await verifyProof(vector.proof, { ...optionsOf(vector), chain });
    assert.equal(result.verdict, 'incomplete', call);
    const first = result.steps.find(({ status }) => status === 'skipped');
    assert.equal(first?.name, step);
    assert.match(first?.message ?? '', /ECONNREFUSED/);
    assert.equal(first?.notNow, undefined);
  }
});

test('a chain that is busy is worth another try, and the step says so', async () => {
  const vector = readOnChain('file-raw');
  const busy = async () => {
    throw new NotNow('Too many ask at once.', 1);
  };
  const chain = { ...memoryChain(vector.chain), block: busy };
  const { steps } = await verifyProof(vector.proof, { ...optionsOf(vector), chain });
  const step = steps.find(({ name }) => name === 'chain');
  assert.deepEqual([step?.status, step?.notNow], ['skipped', true]);
});

test('a chain node that has not reached the block of the anchor does not contradict it', async () => {
  const vector = readOnChain('file-raw');
  vector.chain.blocks = {};
  const result = await verify(vector);
  assert.equal(statuses(result).chain, 'skipped');
  assert.match(messageOf(result, 'chain'), /has not reached block/);
});

test('asks for no contract but a registry that is not the usual one', async () => {
  const vector = readOnChain('file-raw');
  const asked = new Set<string>();
  const chain = memoryChain(vector.chain);
  const spied = {
    ...chain,
    codeHash(address: Hex) {
      asked.add(address);
      return chain.codeHash(address);
    },
  };
  await verify(vector, { chain: spied });
  assert.deepEqual([...asked], []);
  const address: Hex = `0x${'99'.repeat(20)}`;
  evm(vector.proof).contract = address;
  assert.equal(statuses(await verify(vector, { chain: spied })).registry, 'fail');
  assert.deepEqual([...asked], []);
  const registry = { address, codeHash: fixed(0xc0) };
  assert.equal(statuses(await verify(vector, { chain: spied, registry })).registry, 'fail');
  assert.deepEqual([...asked], [address]);
  vector.chain.codeHashes[address] = registry.codeHash as Hex;
  assert.equal(statuses(await verify(vector, { registry })).registry, 'pass');
  assert.equal(statuses(await verify(vector, { registry, chain: undefined })).registry, 'skipped');
});

test('accepts content in pieces', async () => {
  for (const name of plainNames) {
    const vector = readOnChain(name);
    const pieces = async function* () {
      for (const byte of utf8(vector.content)) yield new Uint8Array([byte]);
    };
    assert.equal((await verify(vector, { content: pieces() })).verdict, 'pass', name);
  }
});
