/** Inclusions built from the answers of nodes: invented ones, a real block, the embedded chain, and anvil. */
// tier: process
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeFunctionData, type Hex, keccak256, numberToHex } from 'viem';
import { startAnvil } from '../../../test/support/chain/anvil.ts';
import {
  anchorLog,
  blastBlock,
  type InventedBlock,
  inventBlock,
  mixedReceipts,
  nodeWith,
} from '../../../test/support/chain/inclusion-fixtures.ts';
import { alloc, openFixture, owner } from '../../../test/support/fixtures/embedded-chain-fixture.ts';
import { needs } from '../../../test/support/programs/needs.ts';
import { anchoredIn, readInclusion } from '../../proof/evm/inclusion.ts';
import { NotNow } from '../rules/not-now.ts';
import type { RpcCall } from '../rules/rpc-call.ts';
import { buildInclusion } from './inclusion.ts';
import {
  deployerAddress,
  deployerRuntimeCode,
  registryAbi,
  registryAddress,
  registryDeploymentData,
} from './registry.ts';

const root: Hex = `0x${'ab'.repeat(32)}`;

/** The transaction at an index of a block. */
function at({ hash, transactionHashes }: InventedBlock, index: number) {
  return { blockHash: hash, transactionHash: transactionHashes[index] ?? assert.fail(`${index}`) };
}

/** What the built inclusion says; it must show the anchor of `root` by `submitter`. */
async function requireAnchor(
  call: RpcCall,
  given: { blockHash: Hex; transactionHash: Hex; submitter: Hex; size: number },
) {
  const { inclusion } = await buildInclusion(call, given);
  assert.ok(inclusion);
  const reading = readInclusion(inclusion);
  if ('fault' in reading) assert.fail(reading.fault);
  assert.equal(reading.blockHash, given.blockHash);
  const { submitter, size } = given;
  assert.equal(anchoredIn(reading, { registry: registryAddress, submitter, root, size }), true);
  return { inclusion, reading };
}

for (const size of [1, 2, 16, 17, 127, 128, 129, 300]) {
  test(`builds what another library builds, for a block with ${size} transactions`, async () => {
    const block = await inventBlock(mixedReceipts(size), { later: size % 7 });
    for (const index of new Set([0, 1, 15, 16, 126, 127, 128, 255, 256, size - 1])) {
      if (index >= size) continue;
      const { inclusion } = await buildInclusion(nodeWith(block), at(block, index));
      assert.deepEqual(inclusion, await block.inclusionOf(index));
    }
  });
}

test('builds the inclusion of a real block of the OP Stack', async () => {
  const { hash, transactionHash } = blastBlock;
  const given = { blockHash: hash, transactionHash };
  const { inclusion } = await buildInclusion(nodeWith(blastBlock), given);
  assert.ok(inclusion);
  assert.deepEqual(readInclusion(inclusion), {
    blockHash: hash,
    blockNumber: 274,
    blockTime: 0x65da607b,
    succeeded: true,
    logs: [],
  });
});

test('knows the receipts of rollups: deposits before and after Canyon, and the types of Arbitrum', async () => {
  const block = await inventBlock([
    { type: 0x7e, deposit: { nonce: 7 } },
    { type: 0x7e, deposit: { nonce: 0, version: 1 } },
    { type: 0x6a },
    { type: 0x64 },
    { type: 0x78, succeeded: false },
  ]);
  for (let index = 0; index < 5; index += 1) {
    const { inclusion } = await buildInclusion(nodeWith(block), at(block, index));
    assert.deepEqual(inclusion, await block.inclusionOf(index));
  }
});

test('asks for the receipts one by one if the node does not give them at once', async () => {
  const block = await inventBlock(mixedReceipts(20));
  const asked: string[] = [];
  const node = nodeWith(block, { without: ['eth_getBlockReceipts'], asked });
  const { inclusion } = await buildInclusion(node, at(block, 3));
  assert.deepEqual(inclusion, await block.inclusionOf(3));
  assert.equal(asked.filter((method) => method === 'eth_getTransactionReceipt').length, 20);

  for (const answer of [null, 'no', {}]) {
    const none: RpcCall = async (method, params) =>
      method === 'eth_getBlockReceipts' ? answer : nodeWith(block)(method, params);
    assert.deepEqual((await buildInclusion(none, at(block, 3))).inclusion, inclusion);
  }
});

test('a receipt without a type has the oldest form', async () => {
  const block = await inventBlock([{ type: 0 }, { type: 2 }]);
  const [first, ...others] = block.receipts;
  const untyped = { ...block, receipts: [{ ...first, type: undefined }, ...others] };
  const { inclusion } = await buildInclusion(nodeWith(untyped), at(block, 1));
  assert.deepEqual(inclusion, await block.inclusionOf(1));
});

test('asks for no more than a bounded number of receipts, a few at a time', async () => {
  const hashes = Array.from({ length: 1_001 }, (_, index) => keccak256(numberToHex(index)));
  const { block, hash } = await inventBlock([]);
  const asked: string[] = [];
  const node = nodeWith(
    { block: { ...block, transactions: hashes }, receipts: [], hash },
    { without: ['eth_getBlockReceipts'], asked },
  );
  const [first = root] = hashes;
  const given = { blockHash: hash, transactionHash: first };
  assert.match(await reasonOf(node, given), /receipts one by one, and the block has 1001/);
  assert.deepEqual(asked, ['eth_getBlockByHash', 'eth_getBlockReceipts']);
  const many = { ...block, transactions: Array.from({ length: 3_001 }, () => first) };
  assert.match(await reasonOf(nodeWith({ block: many, receipts: [], hash }), given), /more than 3000/);

  let running = 0;
  let most = 0;
  const small = await inventBlock(mixedReceipts(40));
  const counting: RpcCall = async (method, params) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return nodeWith(small, { without: ['eth_getBlockReceipts'] })(method, params);
  };
  assert.ok((await buildInclusion(counting, at(small, 0))).inclusion);
  assert.equal(most, 8);
});

test('leaves out the receipt that some blocks of Polygon end with, but only that', async () => {
  const block = await inventBlock(mixedReceipts(5));
  const extra = { ...block.receipts[0], transactionHash: root };
  const withExtra = {
    hash: block.hash,
    block: { ...block.block, transactions: [...block.transactionHashes, root] },
    receipts: [...block.receipts, extra],
  };
  const { inclusion } = await buildInclusion(nodeWith(withExtra), at(block, 4));
  assert.deepEqual(inclusion, await block.inclusionOf(4));
  const own = { blockHash: block.hash, transactionHash: root };
  assert.match(await reasonOf(nodeWith(withExtra), own), /do not lead to the receipts root/);
});

test('says why a chain does not allow it', async () => {
  const block = await inventBlock(mixedReceipts(4));
  const [receipt] = block.receipts;
  const given = at(block, 1);
  const withReceipt = (change: object) => ({
    ...block,
    receipts: block.receipts.with(0, { ...receipt, ...change }),
  });
  const withHeader = (change: object) => ({ ...block, block: { ...block.block, ...change } });
  const cases: [InventedBlock, RegExp][] = [
    [withHeader({ extraData: '0x' }), /the header has another hash/],
    [withHeader({ baseFeePerGas: null }), /the header has another hash/],
    [withHeader({ mixHash: undefined }), /no usable mixHash/],
    [withHeader({ nonce: '0x0' }), /no usable nonce/],
    [withHeader({ number: 5 }), /no usable number/],
    [withHeader({ timestamp: '0x' }), /no usable timestamp/],
    [withReceipt({ status: undefined, root: block.hash }), /no usable status of a receipt/],
    [withReceipt({ logsBloom: undefined }), /no usable logsBloom of a receipt/],
    [withReceipt({ logs: null }), /no usable logs of a receipt/],
    [withReceipt({ logs: ['0x'] }), /a log of a receipt is not usable/],
    [withReceipt({ logs: [{ address: '0x1', topics: [], data: '0x' }] }), /no usable address of a log/],
    [withReceipt({ type: '0x102' }), /a receipt has the type 0x0102/],
    [withReceipt({ type: '0xff' }), /a receipt has the type 0xff/],
    [withReceipt({ cumulativeGasUsed: '0x1' }), /do not lead to the receipts root/],
    [withReceipt({ type: '0x7e', depositReceiptVersion: '0x1' }), /no usable depositNonce/],
    [{ ...block, receipts: block.receipts.slice(1) }, /4 transactions, but 3 receipts/],
  ];
  for (const [wrong, reason] of cases) assert.match(await reasonOf(nodeWith(wrong), given), reason);
});

test('an anchor whose own receipt no verifier would read is not built', async () => {
  const large = anchorLog({ registry: registryAddress, submitter: owner.address, root, size: 1 });
  const block = await inventBlock([{ logs: [{ ...large, data: `0x${'11'.repeat(70_000)}` }] }]);
  assert.match(await reasonOf(nodeWith(block), at(block, 0)), /more than 65536/);
});

test('throws if the node fails, lacks the block, or contradicts itself', async () => {
  const block = await inventBlock(mixedReceipts(4));
  const given = at(block, 1);
  const node = nodeWith(block);
  const replacing =
    (method: string, answer: () => unknown): RpcCall =>
    async (asked, params) =>
      asked === method ? answer() : node(asked, params);
  const refuse = () => {
    throw new Error('connection refused');
  };
  const [other] = block.receipts;
  const cases: [RpcCall, RegExp][] = [
    [replacing('eth_getBlockByHash', refuse), /connection refused/],
    [replacing('eth_getBlockByHash', () => null), /does not have the block/],
    [replacing('eth_getBlockByHash', () => 'yes'), /does not have the block/],
    [replacing('eth_getBlockByHash', () => ({})), /does not have the transaction/],
    [replacing('eth_getBlockReceipts', () => block.receipts.with(2, other as never)), /another transaction/],
    [
      replacing('eth_getBlockReceipts', () => block.receipts.with(2, null as never)),
      /does not have the receipt/,
    ],
    [
      replacing('eth_getBlockReceipts', () => block.receipts.map((one) => ({ ...one, blockHash: root }))),
      /another transaction or block/,
    ],
    [
      replacing('eth_getBlockReceipts', () => {
        throw new NotNow('busy', 1);
      }),
      /busy/,
    ],
  ];
  for (const [call, message] of cases) await assert.rejects(buildInclusion(call, given), message);
  await assert.rejects(
    buildInclusion(node, { ...given, transactionHash: root }),
    /does not have the transaction/,
  );
  const gone: RpcCall = async (method, params) => {
    if (method !== 'eth_getBlockByHash') throw new Error('connection reset');
    return node(method, params);
  };
  await assert.rejects(buildInclusion(gone, given), /connection reset/);
});

test('builds inclusions of the embedded chain, from blocks with one and with many transactions', async (t) => {
  const fixture = await openFixture(t);
  const code = { [deployerAddress]: { code: deployerRuntimeCode } };
  const chain = await fixture.start({ alloc: { ...alloc, ...code } });
  const common = { chainId: chain.chainId, gas: 2_000_000n, maxFeePerGas: 2_000_000_000n } as const;
  const sign = (nonce: number, to: Hex, data: Hex) =>
    owner.signTransaction({ ...common, type: 'eip1559', maxPriorityFeePerGas: 1n, nonce, to, data });
  const anchor = (size: number) =>
    encodeFunctionData({ abi: registryAbi, functionName: 'anchor', args: [root, BigInt(size)] });
  const other = (value: number) =>
    encodeFunctionData({
      abi: registryAbi,
      functionName: 'anchor',
      args: [numberToHex(value, { size: 32 }), 1n],
    });
  await chain.mine(await sign(0, deployerAddress, registryDeploymentData()));
  // They wait until the last one, and share its block: this transaction is the first of 20.
  const raw = await sign(1, registryAddress, anchor(9));
  await chain.call('eth_sendRawTransaction', [raw]);
  for (let nonce = 2; nonce < 20; nonce += 1) {
    await chain.call('eth_sendRawTransaction', [await sign(nonce, registryAddress, other(nonce))]);
  }
  const { hash, number } = await chain.mine(await sign(20, registryAddress, other(20)));
  const block = (await chain.call('eth_getBlockByHash', [hash, false])) as { transactions: Hex[] };
  assert.ok(block.transactions.length > 1, `${block.transactions.length}`);
  const transactionHash = keccak256(raw);
  const shown = await requireAnchor(chain.call, {
    ...{ blockHash: hash, transactionHash, size: 9 },
    submitter: owner.address,
  });
  assert.equal(shown.reading.blockNumber, number);
  assert.equal(shown.inclusion.index, block.transactions.indexOf(transactionHash));
  for (const each of block.transactions) {
    assert.ok((await buildInclusion(chain.call, { blockHash: hash, transactionHash: each })).inclusion);
  }
});

needs('anvil').test('builds inclusions of a chain of anvil', async (t) => {
  const code = { [deployerAddress]: { balance: '0x0', code: deployerRuntimeCode } } as const;
  const { client, accounts, mined, stop } = await startAnvil({ alloc: code });
  t.after(stop);
  const call: RpcCall = (method, params) => client.request({ method, params } as never);
  const [account, second] = accounts;
  const common = { account, chain: client.chain, gas: 2_000_000n } as const;
  const deployment = { ...common, to: deployerAddress, data: registryDeploymentData() };
  await mined(await client.sendTransaction(deployment));
  await client.setAutomine(false);
  const anchor = { ...common, address: registryAddress, abi: registryAbi, functionName: 'anchor' } as const;
  const anchoring = await client.writeContract({ ...anchor, args: [root, 3n] });
  // Beside it: one without a type, and one that fails.
  await client.sendTransaction({ ...common, account: second, type: 'legacy', to: account.address });
  await client.sendTransaction({ ...common, account: second, to: registryAddress, data: '0xdeadbeef' });
  await client.mine({ blocks: 1 });
  const { blockHash, blockNumber } = await mined(anchoring);
  const { transactions, timestamp } = await client.getBlock({ blockHash });
  assert.equal(transactions.length, 3);
  const submitter = account.address.toLowerCase() as Hex;
  const { reading } = await requireAnchor(call, {
    blockHash,
    transactionHash: anchoring,
    submitter,
    size: 3,
  });
  assert.deepEqual([reading.blockNumber, reading.blockTime], [Number(blockNumber), Number(timestamp)]);
  const successes = await Promise.all(
    transactions.map(async (transactionHash) => {
      const { inclusion } = await buildInclusion(call, { blockHash, transactionHash });
      const read = inclusion && readInclusion(inclusion);
      return read && !('fault' in read) && read.succeeded;
    }),
  );
  assert.deepEqual(successes.toSorted(), [false, true, true]);
});

/** Why there is no inclusion. */
async function reasonOf(call: RpcCall, given: { blockHash: Hex; transactionHash: Hex }): Promise<string> {
  const built = await buildInclusion(call, given);
  return built.inclusion === null ? built.reason : assert.fail('it was built');
}
