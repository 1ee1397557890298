/**
 * The answers about blocks, transactions, receipts and logs, compared with those of anvil 1.7.1 for the same chain: block 0,
 * an empty block, a block with a transaction of each type, and a block with a call that logs.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type Hex, hexToNumber, keccak256, parseTransaction, toRlp } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Engine } from '../engine/engine.ts';
import { emptyRoot, zeroHash } from '../engine/header-fields.ts';
import type { StoredLog, StoredReceipt } from '../engine/protocol.ts';
import type { Results, StoredBlock } from '../results/results.store.ts';
import { type Answers, createAnswers } from './answers.ts';

const chainId = 1_500_000_001;
const account = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80');
const from = account.address.toLowerCase() as Hex;
const to = '0x00000000000000000000000000000000000000aa';
const created = '0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0';
const topic: Hex = `0x${'1'.padStart(64, '0')}`;
const log: StoredLog = { address: created, topics: [topic], data: zeroHash };
const fees = { chainId, maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

let blocks: StoredBlock[];
let waiting: Hex;
let answers: Answers;
const asked: { method: string; given: unknown; options: unknown }[] = [];
const added: unknown[] = [];
let engineAnswers: Record<string, unknown> = {};

before(async () => {
  const gasPrice = 2_000_000_000n;
  const transactions = await Promise.all([
    account.signTransaction({ chainId, type: 'legacy', nonce: 0, gas: 21_000n, gasPrice, to, value: 5n }),
    account.signTransaction({
      ...{ chainId, type: 'eip2930', nonce: 1, gas: 60_000n, gasPrice, to, data: '0x1234' },
      accessList: [{ address: to, storageKeys: [topic] }],
    }),
    account.signTransaction({
      ...{ ...fees, type: 'eip1559', nonce: 2, gas: 200_000n },
      data: '0x600160205fa166600160205fa1005f5260076019f3',
    }),
    account.signTransaction({
      ...{ ...fees, type: 'eip7702', nonce: 3, gas: 200_000n, to },
      authorizationList: [
        await account.signAuthorization({
          ...{ chainId, nonce: 4 },
          address: '0x00000000000000000000000000000000000000bb',
        }),
      ],
    }),
  ]);
  const last = await account.signTransaction({ ...fees, nonce: 5, gas: 100_000n, to: created });
  waiting = await account.signTransaction({ ...fees, nonce: 6, gas: 21_000n, to });
  const receipt = (gasUsed: number, logs: StoredLog[] = []): StoredReceipt => ({
    ...{ from, succeeded: true, gasUsed, logs },
  });
  const empty = { gasUsed: 0, transactionsRoot: emptyRoot, receiptsRoot: emptyRoot } as const;
  const hashes = [
    '0xafaa82097936e4469d0076aed41af3512d34669f2520a3fbeaab175ddac2e244',
    '0xba2edffa68175c549726b9ab2fc0e8e9c773efeb7ea35c3cbe2982f16c59370f',
    '0x23e1756f82e31df817628df6c860556d574a40371ae2bec6d067e9ad5a71afdf',
    '0x53d8f1f4980c730077beef0d03c8045c15bbe34f42f5b3deb4023aedb4b59dbe',
  ] as const;
  const place = (number: 0 | 1 | 2 | 3) => ({
    number,
    hash: hashes[number],
    parentHash: hashes[number - 1] ?? zeroHash,
    timestampSeconds: 0x69000000 + 10 * number,
    transactions: [] as Hex[],
    receipts: [] as StoredReceipt[],
  });
  blocks = [
    // The state after block 0 is not empty, though its header says so.
    { ...place(0), ...empty, baseFeeWei: 1_000_000_000n, stateRoot: `0x${'77'.repeat(32)}` },
    {
      ...{ ...place(1), ...empty, baseFeeWei: 1_000_000_000n },
      stateRoot: '0x22feb552e40bf186a96b00a85b4e26deedce2bad550adf1412286eb8edeeb1d2',
    },
    {
      ...{ ...place(2), gasUsed: 0x21e89, baseFeeWei: 0x342770c0n, transactions },
      stateRoot: '0x5c833b35813c86f45ba5f81e56b3ce820aaadc21359ecd6a2ab76d5ed7718f83',
      transactionsRoot: '0x01f9a15a8e9a2e49a57b78fb1b040432746ca381b3efaa8e377cbe26f7be79df',
      receiptsRoot: '0xcac457d6f858f07bb09139feb036b585c26b2e80081c40ed7b17c9cc3784b681',
      receipts: [receipt(0x5208), receipt(0x62f4), receipt(0xd9cd, [log]), receipt(0x8fc0)],
    },
    {
      ...{ ...place(3), gasUsed: 0x5601, baseFeeWei: 0x2db1f6a5n, transactions: [last] },
      stateRoot: '0x71d7fd9ccea220c105c285985ec61abdd9acb880b564cf7f18e5d344d3a17865',
      transactionsRoot: '0xc40b008823338b6e90d948d906c3ab6a40ca815b7f1fbd06960dde45fd6ccdac',
      receiptsRoot: '0xc313ddf79ca1d2c387d8db1ec4efd7b8d51ad3b4d0e9dacf37c33792ae2c3b70',
      receipts: [receipt(0x5601, [log])],
    },
  ];
  answers = createAnswers({
    ...{ chainId, clientVersion: 'holdfast/1', results: fakeResults() },
    engine: {
      async ask(method: string, given: unknown, options: unknown) {
        asked.push({ method, given, options });
        const answer = engineAnswers[method];
        if (answer instanceof Error) throw answer;
        return answer;
      },
    } as Engine,
    pool: {
      async add(raw, options) {
        added.push(raw, options);
        return keccak256(raw);
      },
      find: (hash) => (hash === keccak256(waiting) ? { hash, raw: waiting, from } : null),
      nextNonce: (_address, nonce) => nonce + 1,
    },
  });
});

function fakeResults(): Results {
  return {
    head: async () => blocks.at(-1) ?? null,
    block: async (number) => blocks[number] ?? null,
    blockByHash: async (hash) => blocks.find((block) => block.hash === hash) ?? null,
    // Pages of one block.
    blocks: async (range) => blocks.slice(range.from, Math.min(range.from, range.to) + 1),
    async transaction(hash) {
      for (const { number, transactions } of blocks) {
        const index = transactions.findIndex((raw) => keccak256(raw) === hash);
        if (index >= 0) return { number, index };
      }
      return null;
    },
    node: async () => null,
    blockHash: async (number) => blocks[number]?.hash ?? null,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: answers are JSON of many forms.
const ask = (method: string, ...params: unknown[]): Promise<any> => answers.answer(method, params);

test('the header of every block has the hash that anvil computed', async () => {
  for (const { number, hash } of blocks) {
    const block = await ask('eth_getBlockByNumber', `0x${number}`, false);
    const short = (quantity: Hex) => (quantity === '0x0' ? '0x' : padded(quantity));
    const header = [
      ...[block.parentHash, block.sha3Uncles, block.miner, block.stateRoot, block.transactionsRoot],
      ...[block.receiptsRoot, block.logsBloom],
      ...[block.difficulty, block.number, block.gasLimit, block.gasUsed, block.timestamp].map(short),
      ...[block.extraData, block.mixHash, block.nonce, short(block.baseFeePerGas), block.withdrawalsRoot],
      ...[short(block.blobGasUsed), short(block.excessBlobGas), block.parentBeaconBlockRoot],
      block.requestsHash,
    ];
    assert.deepEqual([block.hash, keccak256(toRlp(header))], [hash, hash]);
    assert.deepEqual(await ask('eth_getBlockByHash', hash), block);
  }
  const first = await ask('eth_getBlockByNumber', '0x1');
  assert.equal(first.mixHash, '0x3c9caf25144e69cb1c608922ec42d3162f0506c39238f56809e0940d2704c220');
  const sizes = await Promise.all([0, 1, 2, 3].map((number) => ask('eth_getBlockByNumber', `0x${number}`)));
  assert.deepEqual(
    sizes.map(({ size }) => size),
    ['0x267', '0x267', '0x4c9', '0x2de'],
  );
});

function padded(quantity: Hex): Hex {
  return quantity.length % 2 === 0 ? quantity : `0x0${quantity.slice(2)}`;
}

test('blocks are found by tag, number and hash, and an unknown one is null', async () => {
  const numbers = { latest: 3, pending: 3, safe: 1, finalized: 1, earliest: 0, '0x02': 2 };
  for (const [name, number] of Object.entries(numbers)) {
    assert.equal((await ask('eth_getBlockByNumber', name)).number, `0x${number}`, name);
  }
  assert.equal(await ask('eth_blockNumber'), '0x3');
  for (const method of ['BlockByNumber', 'BlockReceipts', 'BlockTransactionCountByNumber']) {
    assert.equal(await ask(`eth_get${method}`, '0x99'), null);
  }
  assert.equal(await ask('eth_getBlockByHash', zeroHash), null);
  assert.equal(await ask('eth_getUncleCountByBlockNumber', 'latest'), '0x0');
  assert.equal(await ask('eth_getBlockTransactionCountByHash', blocks[2]?.hash), '0x4');
});

test('transactions of every type are shown as anvil shows them', async () => {
  const { transactions } = await ask('eth_getBlockByNumber', '0x2', true);
  const place = (transactionIndex: Hex) => ({
    blockHash: '0x23e1756f82e31df817628df6c860556d574a40371ae2bec6d067e9ad5a71afdf',
    ...{ blockNumber: '0x2', blockTimestamp: '0x69000014', transactionIndex, from, chainId: '0x59682f01' },
  });
  assert.deepEqual(transactions[0], {
    ...{
      ...place('0x0'),
      type: '0x0',
      nonce: '0x0',
      gasPrice: '0x77359400',
      gas: '0x5208',
      to,
      value: '0x5',
    },
    ...{ input: '0x', v: '0xb2d05e26' },
    r: '0xa83d24f88d25161603f7b8d844894222d0563e140b84a2950b6b6d8bef2b2e38',
    s: '0x58f70e72badc0de3f40ff976d568a44f7fcbfb603f00ff0f31c44c91191aed7',
    hash: '0x747a0cf0b5d6be6d7c18238019489a0a7066bf8b3e540d1d95c9c8a83adefa87',
  });
  assert.deepEqual(transactions[1], {
    ...{
      ...place('0x1'),
      type: '0x1',
      nonce: '0x1',
      gasPrice: '0x77359400',
      gas: '0xea60',
      to,
      value: '0x0',
    },
    ...{ input: '0x1234', v: '0x0', yParity: '0x0' },
    accessList: [{ address: to, storageKeys: [topic] }],
    r: '0x8aea2596c5bd9c6c038eec2cf6b47c90138b8a94ba4b983cccd0533ddaf02a55',
    s: '0x1fd408d6a6c9415bf64d45a1da5709f8bf6afe5071b36acd92d04cb87b8938be',
    hash: '0x3e434c3820fd122b634a0d39e577ec8d64aea846e9c8f888be685093bbc46e76',
  });
  const common = {
    ...{ maxFeePerGas: '0xb2d05e00', maxPriorityFeePerGas: '0x3b9aca00', gasPrice: '0x6fc23ac0' },
    ...{ gas: '0x30d40', value: '0x0', accessList: [], yParity: '0x0', v: '0x0' },
  };
  assert.deepEqual(transactions[2], {
    ...{ ...place('0x2'), ...common, type: '0x2', nonce: '0x2', to: null },
    input: '0x600160205fa166600160205fa1005f5260076019f3',
    r: '0xd4947a0d9fae45848d686aede0a0e955b8c2b43f41ee5ce1a96b0c592dafbcbf',
    s: '0xd293afb41cc16ee3fa2939305f2f08c39801fe4437870e18d4a5d7df93039f5',
    hash: '0x51932778a06e4c8550ea654725d1c66f080ca6ffe20809b2c8fad19b8f6eb537',
  });
  const { authorizationList, hash, ...rest } = transactions[3];
  assert.deepEqual([rest.type, rest.to, rest.gasPrice, rest.nonce], ['0x4', to, '0x6fc23ac0', '0x3']);
  assert.equal(hash, '0xead588441d5a66bae06e636a776a8733bb8166062073ae1d0019d6eec46644cc');
  assert.deepEqual(authorizationList, [
    {
      ...{ chainId: '0x59682f01', address: '0x00000000000000000000000000000000000000bb', nonce: '0x4' },
      yParity: '0x1',
      r: '0xcce751861bfaa196b5e3adaebc775b7f52285ddb64eebbc212e50523ce83e896',
      s: '0xea8feffd610eff2b8e8e9a26b6f1ac2431c5440be60f2f80c7bf80f55e9ad44',
    },
  ]);
  assert.deepEqual(await ask('eth_getTransactionByHash', hash), transactions[3]);
  assert.deepEqual(await ask('eth_getTransactionByBlockNumberAndIndex', '0x2', '0x3'), transactions[3]);
  assert.deepEqual(
    await ask('eth_getTransactionByBlockHashAndIndex', rest.blockHash, '0x0'),
    transactions[0],
  );
  assert.equal(await ask('eth_getTransactionByBlockNumberAndIndex', '0x2', '0x4'), null);
  assert.equal(await ask('eth_getRawTransactionByHash', hash), blocks[2]?.transactions[3]);
});

test('a transaction that waits has no block, and counts for the pending nonce', async () => {
  const hash = keccak256(waiting);
  const { blockHash, blockNumber, transactionIndex, nonce, gasPrice } = await ask(
    'eth_getTransactionByHash',
    hash,
  );
  assert.deepEqual(
    [blockHash, blockNumber, transactionIndex, nonce, gasPrice],
    [null, null, null, '0x6', '0xb2d05e00'],
  );
  assert.equal(await ask('eth_getRawTransactionByHash', hash), waiting);
  assert.equal(await ask('eth_getTransactionReceipt', hash), null);
  engineAnswers = { account: { nonce: 6, balanceWei: 10n } };
  assert.equal(await ask('eth_getTransactionCount', account.address, 'pending'), '0x7');
  assert.equal(await ask('eth_getTransactionCount', account.address, 'latest'), '0x6');
  assert.equal(await answers.answer('eth_sendRawTransaction', [waiting], { own: true }), hash);
  assert.deepEqual(added, [waiting, { own: true }]);
});

test('a transaction with an authorization that means nothing is shown', async () => {
  const odd = ['0x01', to, '0xffffffffffffffff', '0x07', '0x', `0x${'ff'.repeat(32)}`] as const;
  const base = ['0x59682f01', '0x', '0x', '0x01', '0x5208', to, '0x', '0x', []] as const;
  const raw: Hex = `0x04${toRlp([...base, [odd], '0x01', '0x01', '0x01'] as never).slice(2)}`;
  assert.throws(() => parseTransaction(raw as `0x04${string}`));
  const [, , second] = blocks;
  assert.ok(second);
  blocks.push({ ...second, number: 4, transactions: [raw], receipts: second.receipts.slice(0, 1) });
  try {
    const { transactions } = await ask('eth_getBlockByNumber', '0x4', true);
    assert.equal(transactions[0].authorizationList[0].yParity, '0x7');
  } finally {
    blocks.pop();
  }
});

test('receipts and logs are those of anvil', async () => {
  const receipts = await ask('eth_getBlockReceipts', '0x2');
  const [block] = [blocks[2]];
  const { logs, logsBloom, ...rest } = receipts[2];
  assert.deepEqual(rest, {
    ...{ type: '0x2', status: '0x1', cumulativeGasUsed: '0x18ec9', gasUsed: '0xd9cd', from, to: null },
    ...{ effectiveGasPrice: '0x6fc23ac0', contractAddress: created, blockHash: block?.hash },
    ...{ blockNumber: '0x2', transactionIndex: '0x2' },
    transactionHash: '0x51932778a06e4c8550ea654725d1c66f080ca6ffe20809b2c8fad19b8f6eb537',
  });
  assert.equal(logsBloom, (await ask('eth_getBlockByNumber', '0x2')).logsBloom);
  assert.deepEqual(
    receipts.map(({ contractAddress, effectiveGasPrice }: Record<string, Hex>) => [
      contractAddress,
      hexToNumber(effectiveGasPrice ?? '0x'),
    ]),
    [
      [null, 2_000_000_000],
      [null, 2_000_000_000],
      [created, 1_875_000_000],
      [null, 1_875_000_000],
    ],
  );
  for (const receipt of receipts) {
    assert.deepEqual(await ask('eth_getTransactionReceipt', receipt.transactionHash), receipt);
  }
  assert.deepEqual(logs, [
    {
      ...{ ...log, blockHash: block?.hash, blockNumber: '0x2', blockTimestamp: '0x69000014' },
      ...{ transactionHash: rest.transactionHash, transactionIndex: '0x2', logIndex: '0x0', removed: false },
    },
  ]);
  const all = await ask('eth_getLogs', { fromBlock: 'earliest', toBlock: '0xffff' });
  assert.deepEqual([all.length, all[0]], [2, logs[0]]);
  for (const [filter, count] of [
    [{}, 1],
    [{ blockHash: block?.hash }, 1],
    [{ fromBlock: '0x0', address: created.toUpperCase().replace('0X', '0x') }, 2],
    [{ fromBlock: '0x0', address: [to] }, 0],
    [{ fromBlock: '0x0', topics: [[zeroHash, topic]] }, 2],
    [{ fromBlock: '0x0', topics: [null, null] }, 0],
    [{ fromBlock: '0x90', toBlock: '0x99' }, 0],
  ] as const) {
    assert.equal((await ask('eth_getLogs', filter)).length, count, JSON.stringify(filter));
  }
});

test('the history of fees is that of anvil', async () => {
  assert.deepEqual(await ask('eth_feeHistory', '0x4', 'latest', [0, 50, 100]), {
    oldestBlock: '0x0',
    baseFeePerGas: ['0x3b9aca00', '0x3b9aca00', '0x342770c0', '0x2db1f6a5', '0x27fddd44'],
    gasUsedRatio: [0, 0, 0.004629633333333333, 0.0007339],
    baseFeePerBlobGas: ['0x1', '0x1', '0x1', '0x1', '0x1'],
    blobGasUsedRatio: [0, 0, 0, 0],
    reward: [
      ['0x0', '0x0', '0x0'],
      ['0x0', '0x0', '0x0'],
      ['0x3b9aca00', '0x3b9aca00', '0x430e2340'],
      ['0x3b9aca00', '0x3b9aca00', '0x3b9aca00'],
    ],
  });
  assert.equal((await ask('eth_feeHistory', 2, 'latest')).oldestBlock, '0x2');
  assert.equal((await ask('eth_feeHistory', '0x99', '0x1', [])).reward, undefined);
  // The next base fee and one gwei.
  assert.equal(await ask('eth_gasPrice'), '0x6398a744');
});

test('accounts, storage and calls are read by the engine on the state of the block', async () => {
  const stateRoot = blocks[1]?.stateRoot;
  const empty = { storageRoot: emptyRoot, codeHash: zeroHash, exists: true };
  engineAnswers = {
    account: { balanceWei: 16n, nonce: 2, ...empty },
    code: '0xab',
    storage: topic,
    call: { failure: null, data: '0xcd', gasUsed: 21_000, accessList: [] },
    estimate: { failure: null, data: '0x', gasUsed: 22_000, accessList: [] },
    proof: {
      ...{ balanceWei: 0n, nonce: 0, ...empty, accountProof: ['0x01'] },
      storageProof: ['0x', '0x0a'].map((value) => ({ key: '0x', value, proof: [] })),
    },
  };
  assert.equal(await ask('eth_getBalance', account.address, { blockNumber: '0x1' }), '0x10');
  assert.deepEqual(asked.at(-1), {
    ...{ method: 'account', given: { address: from, stateRoot } },
    options: { timeoutMs: 5_000 },
  });
  assert.deepEqual(await ask('eth_getAccountInfo', from, { blockHash: blocks[1]?.hash }), {
    ...{ balance: '0x10', nonce: '0x2', code: '0xab' },
  });
  assert.equal(await ask('eth_getStorageAt', from, '0x1', blocks[1]?.hash), topic);
  assert.deepEqual(asked.at(-1)?.given, { address: from, slot: topic, stateRoot });
  const { storageProof } = await ask('eth_getProof', from, ['0x1', topic], 'latest');
  assert.deepEqual(
    storageProof.map(({ key, value }: Record<string, Hex>) => [key, value]),
    [
      ['0x1', '0x0'],
      [topic, '0xa'],
    ],
  );
  await answers.answer('eth_call', [{ to, input: '0xAB' }, '0x1'], { own: true });
  const { given, options } = asked.at(-1) ?? {};
  const { at, call } = given as { at: StoredBlock; call: { data: Hex } };
  // Neither transactions nor receipts are copied into the engine's process.
  assert.deepEqual(
    [at.stateRoot, at.transactions, call.data, options],
    [stateRoot, undefined, '0xab', { first: true }],
  );
  assert.equal(await ask('eth_estimateGas', { to }), '0x55f0');
  assert.deepEqual(await ask('eth_createAccessList', { to }), { accessList: [], gasUsed: '0x5208' });
});
