/** What the anchor reader makes of the answers of a real chain node and of faulty ones. */
// tier: process
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { encodeAbiParameters, encodeEventTopics, type Hex } from 'viem';
import { type Anvil, startAnvil } from '../../../test/support/chain/anvil.ts';
import { needs } from '../../../test/support/programs/needs.ts';
import type { ChainReader } from '../../proof/verify/chain-reader.ts';
import type { RpcCall } from '../rules/rpc-call.ts';
import { createAnchorReader } from './anchor-reader.ts';
import {
  deployerAddress,
  deployerRuntimeCode,
  registryAbi,
  registryAddress,
  registryCodeHash,
  registryDeploymentData,
} from './registry.ts';
import { registryCreationCode } from './registry-code.ts';

const onAnvil = needs('anvil');
const root: Hex = `0x${'ab'.repeat(32)}`;
const unknown: Hex = `0x${'cd'.repeat(32)}`;
const registry = registryAddress.toLowerCase() as Hex;

let anvil: Anvil;
let reader: ChainReader;
onAnvil.before(async () => {
  anvil = await startAnvil({ alloc: { [deployerAddress]: { balance: '0x0', code: deployerRuntimeCode } } });
  reader = createAnchorReader((method, params) => anvil.client.request({ method, params } as never));
});
onAnvil.after(() => anvil.stop());

onAnvil.test('reads from a real chain what the verifier needs', async () => {
  const { client, accounts, mined } = anvil;
  const [account] = accounts;
  const submitter = account.address.toLowerCase() as Hex;
  assert.equal(await reader.codeHash(registry), null);
  const common = { account, chain: client.chain, gas: 2_000_000n } as const;
  const deployed = { ...common, to: deployerAddress, data: registryDeploymentData() };
  await mined(await client.sendTransaction(deployed));
  assert.equal(await reader.codeHash(registry), registryCodeHash);

  const anchor = { ...common, address: registryAddress, abi: registryAbi, functionName: 'anchor' } as const;
  const hash = await client.writeContract({ ...anchor, args: [root, 3n] });
  const receipt = await mined(hash);
  const number = Number(receipt.blockNumber);
  const { timestamp } = await client.getBlock({ blockNumber: receipt.blockNumber });
  assert.deepEqual(await reader.transaction(hash), {
    succeeded: true,
    blockNumber: number,
    blockHash: receipt.blockHash,
    anchored: [{ registry, submitter, root, size: 3 }],
  });
  assert.deepEqual(await reader.block(number), {
    number,
    hash: receipt.blockHash,
    time: Number(timestamp),
    transactions: [hash],
  });
  assert.equal(await reader.finalBlock(2), number - 2);
  assert.deepEqual([await reader.chainId(), await reader.isDevelopmentNode()], [31_337, true]);
  const { hash: first } = await client.getBlock({ blockNumber: 0n });
  assert.equal(await reader.genesisHash(), first);

  assert.equal(await reader.transaction(unknown), null);
  assert.equal(await reader.transaction(unknown), null);
  assert.equal(await reader.block(number + 1), null);
});

onAnvil.test(
  'names the contract that logged an anchor, and finds none in a reverted transaction',
  async () => {
    const { client, accounts, mined } = anvil;
    const [, account] = accounts;
    const common = { account, chain: client.chain, gas: 2_000_000n } as const;
    const { contractAddress } = await mined(
      await client.sendTransaction({ ...common, data: registryCreationCode }),
    );
    const twin = contractAddress as Hex;
    const args = { ...common, address: twin, abi: registryAbi, functionName: 'anchor' } as const;
    const { transactionHash } = await mined(await client.writeContract({ ...args, args: [root, 1n] }));
    const found = await reader.transaction(transactionHash);
    assert.deepEqual(found?.anchored, [
      { registry: twin, submitter: account.address.toLowerCase(), root, size: 1 },
    ]);

    const broken = { ...common, to: twin, data: '0xdeadbeef' } as const;
    const reverted = await mined(await client.sendTransaction(broken));
    const seen = await reader.transaction(reverted.transactionHash);
    assert.deepEqual([seen?.succeeded, seen?.anchored], [false, []]);
  },
);

const block = {
  number: '0x5',
  hash: `0x${'b1'.repeat(32)}`,
  timestamp: '0x10',
  transactions: [root],
};
const anchored = {
  address: registryAddress,
  transactionHash: root,
  topics: encodeEventTopics({ abi: registryAbi, eventName: 'Anchored', args: { submitter: registry, root } }),
  data: encodeAbiParameters([{ type: 'uint64' }], [9n]),
};

/** A node that answers from this table: by method, or by method and first parameter. */
function answering(answers: Record<string, unknown>): ChainReader {
  const call: RpcCall = async (method, params) => {
    const [found] = [`${method} ${params[0]}`, method].filter((name) => Object.hasOwn(answers, name));
    if (found === undefined) throw new Error(`${method} is not answered`);
    return structuredClone(answers[found]);
  };
  return createAnchorReader(call);
}

test('distinguishes a block that the chain node has pruned from one that does not exist', async () => {
  const latest = { 'eth_getBlockByNumber latest': { ...block, number: '0x64' } };
  const pruned = answering({ ...latest, eth_getBlockByNumber: null, eth_getTransactionReceipt: null });
  await assert.rejects(pruned.block(5), /no longer has block 5/);
  assert.equal(await pruned.transaction(unknown), null);
  assert.equal(await pruned.block(101), null);
  const silent = answering({ ...latest });
  await assert.rejects(silent.block(5), /not answered/);
});

test('a transaction without a receipt is none, whatever logs the chain node has', async () => {
  const node = answering({
    eth_getTransactionReceipt: null,
    eth_getBlockByNumber: block,
    eth_getLogs: [anchored],
  });
  assert.equal(await node.transaction(root), null);
});

test('ignores logs that only resemble an anchor', async () => {
  const receipt = { transactionHash: root, status: '0x1', blockNumber: '0x5', blockHash: block.hash };
  const lookAlikes = [
    { ...anchored, topics: anchored.topics.slice(0, 2) },
    { ...anchored, data: '0x' },
    { ...anchored, topics: [unknown] },
    { ...anchored, topics: [] },
  ];
  const node = answering({ eth_getTransactionReceipt: { ...receipt, logs: [...lookAlikes, anchored] } });
  assert.equal((await node.transaction(root))?.anchored.length, 1);
});

test('rejects an answer of an unexpected form', async () => {
  const receipt = {
    transactionHash: root,
    status: '0x1',
    blockNumber: '0x5',
    blockHash: block.hash,
    logs: [],
  };
  const head = { eth_getBlockByNumber: block };
  const bad: [Record<string, unknown>, (node: ChainReader) => Promise<unknown>][] = [
    [{ eth_chainId: 1 }, (node) => node.chainId()],
    [{ eth_chainId: '0x' }, (node) => node.chainId()],
    [{ eth_chainId: `0x${'f'.repeat(16)}` }, (node) => node.chainId()],
    [{ web3_clientVersion: null }, (node) => node.isDevelopmentNode()],
    [{ web3_clientVersion: '' }, (node) => node.isDevelopmentNode()],
    [{ eth_getBlockByNumber: null }, (node) => node.genesisHash()],
    [{ ...head, eth_getCode: null }, (node) => node.codeHash(registry)],
    [{ ...head, eth_getCode: '0xabc' }, (node) => node.codeHash(registry)],
    [{ eth_getTransactionReceipt: 'yes' }, (node) => node.transaction(root)],
    [{ eth_getTransactionReceipt: { ...receipt, transactionHash: unknown } }, (n) => n.transaction(root)],
    [{ eth_getTransactionReceipt: { ...receipt, status: null } }, (node) => node.transaction(root)],
    [{ eth_getTransactionReceipt: { ...receipt, logs: null } }, (node) => node.transaction(root)],
    [{ eth_getBlockByNumber: { ...block, hash: '0xb1' } }, (node) => node.block(5)],
    [{ eth_getBlockByNumber: { ...block, timestamp: 16 } }, (node) => node.block(5)],
    [{ eth_getBlockByNumber: { ...block, transactions: ['0x01'] } }, (node) => node.block(5)],
  ];
  for (const [answers, ask] of bad) await assert.rejects(ask(answering(answers)), JSON.stringify(answers));
});

test('knows the final block by the tag of the chain, or by depth', async () => {
  const latest = { ...block, number: '0x64' };
  const tagged = { eth_getBlockByNumber: latest, 'eth_getBlockByNumber finalized': block };
  assert.equal(await answering(tagged).finalBlock('finalized'), 5);
  const untagged = answering({ ...tagged, 'eth_getBlockByNumber finalized': null });
  await assert.rejects(untagged.finalBlock('finalized'), /which block is final/);
  assert.equal(await answering(tagged).finalBlock(10), 90);
  assert.equal(await answering(tagged).finalBlock(256), -1);
});

test('recognizes programs for development, and no others', async () => {
  for (const name of ['anvil/v1.7.1', 'HardhatNetwork/2.26.0', 'Ganache/v7.9.2', 'EthereumJS TestRPC/v2']) {
    assert.equal(await answering({ web3_clientVersion: name }).isDevelopmentNode(), true, name);
  }
  for (const name of ['Geth/v1.16.7-stable/linux-amd64/go1.24', 'erigon/3.0', 'holdfast/1']) {
    assert.equal(await answering({ web3_clientVersion: name }).isDevelopmentNode(), false, name);
  }
});

test('does not depend on Node.js', () => {
  for (const file of [
    'anchor-reader.ts',
    '../rules/finality.ts',
    '../../proof/evm/known-chains.ts',
    '../rules/rpc-call.ts',
  ]) {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8');
    assert.doesNotMatch(text, /node:|from '(?!viem'|viem\/utils'|\.)/, file);
  }
});
