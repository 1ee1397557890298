/** Whatever is sent, and whatever fails behind: the answer is a JSON-RPC error that says what is wrong. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { Hex } from 'viem';
import { RpcFault } from '../../rpc/json-rpc.ts';
import { readRefusal } from '../../sender/refusals.ts';
import { type Engine, EngineFailure } from '../engine/engine.ts';
import { emptyRoot, zeroHash } from '../engine/header-fields.ts';
import type { CallAnswer, StoredLog } from '../engine/protocol.ts';
import type { Results, StoredBlock } from '../results/results.store.ts';
import { answeredMethods, createAnswers } from './answers.ts';
import { blocksInPages } from './block-pages.ts';

const address: Hex = `0x${'aa'.repeat(20)}`;
const hash: Hex = `0x${'bb'.repeat(32)}`;
const head: StoredBlock = {
  ...{ number: 20_000, hash, parentHash: zeroHash, timestampSeconds: 1_800_000_000, gasUsed: 0 },
  ...{ baseFeeWei: 7n, stateRoot: emptyRoot, transactionsRoot: emptyRoot, receiptsRoot: emptyRoot },
  ...{ transactions: [], receipts: [] },
};
let results: Results;
let engine: () => unknown;
let add: () => Promise<Hex>;

const answers = createAnswers({
  ...{ chainId: 5, clientVersion: 'test' },
  results: new Proxy({} as Results, { get: (_, name) => results[name as keyof Results] }),
  engine: { ask: async () => engine() } as unknown as Engine,
  pool: { add: () => add(), find: () => null, nextNonce: (_, nonce) => nonce },
});

beforeEach(() => {
  const at = (number: number): StoredBlock | null => (number <= head.number ? { ...head, number } : null);
  results = {
    head: async () => head,
    block: async (number) => at(number),
    blockByHash: async (given) => (given === hash ? head : null),
    blocks: async ({ from, to }) =>
      Array.from({ length: Math.min(to - from + 1, 500) }, (_, place) => ({ ...head, number: from + place })),
    transaction: async () => null,
    node: async () => null,
    blockHash: async () => null,
  };
  engine = () => assert.fail('the engine was asked');
  add = () => assert.fail('the pool was asked');
});

async function faultOf(method: string, params: unknown[], own = false): Promise<RpcFault> {
  const [outcome] = await Promise.allSettled([answers.answer(method, params, { own })]);
  const said = outcome.status === 'rejected' ? outcome.reason : outcome.value;
  assert.ok(said instanceof RpcFault, `${method} ${JSON.stringify(params)?.slice(0, 200)}: ${said}`);
  return said;
}

/** Nothing of this is an address, a hash, data, a number, a block, a flag, or an object that a method takes. */
const odd: unknown[] = [
  ...[
    0,
    -1,
    1.5,
    1e300,
    '',
    ' ',
    'latest ',
    '0X1',
    '0xzz',
    '0x ',
    '1',
    '-0x1',
    'Latest',
    '\ud800',
    '0x\udfff',
  ],
  ...['0x1\n', '__proto__', 'constructor', 'toString', [], [[]], [null], ['0x1'], [[[[[['latest']]]]]]],
  ...[`0x${'f'.repeat(65)}`, `0x${'0'.repeat(1_000_000)}`, `0x${'f'.repeat(300_001)}`, '0x'.repeat(100_000)],
  ...[JSON.parse('{"__proto__":{"blockHash":"0x1"}}'), { blockHash: 1 }, { blockNumber: '0x' }],
  ...[{ blockHash: hash, blockNumber: '0x1' }, { toString: 1 }, { length: 3 }, { to: [] }, { address: 1 }],
  ...[{ from: {} }, { topics: 'x' }, { fromBlock: {} }, { data: '0x1' }, { value: 1 }, { gas: '0x' }],
];

/** Good parameters, each of which is replaced in turn. */
const good: Record<string, unknown[]> = {
  eth_call: [{ to: address }, 'latest'],
  eth_createAccessList: [{ to: address }, 'latest'],
  eth_estimateGas: [{ to: address }, 'latest'],
  eth_feeHistory: ['0x1', 'latest', [50]],
  eth_getAccount: [address, 'latest'],
  eth_getAccountInfo: [address, 'latest'],
  eth_getBalance: [address, 'latest'],
  eth_getBlockByHash: [hash, true],
  eth_getBlockByNumber: ['latest', true],
  eth_getBlockReceipts: ['latest'],
  eth_getBlockTransactionCountByHash: [hash],
  eth_getBlockTransactionCountByNumber: ['latest'],
  eth_getCode: [address, 'latest'],
  eth_getLogs: [{}],
  eth_getProof: [address, ['0x1'], 'latest'],
  eth_getRawTransactionByHash: [hash],
  eth_getStorageAt: [address, '0x1', 'latest'],
  eth_getTransactionByBlockHashAndIndex: [hash, '0x0'],
  eth_getTransactionByBlockNumberAndIndex: ['latest', '0x0'],
  eth_getTransactionByHash: [hash],
  eth_getTransactionCount: [address, 'latest'],
  eth_getTransactionReceipt: [hash],
  eth_getUncleByBlockHashAndIndex: [hash, '0x0'],
  eth_getUncleByBlockNumberAndIndex: ['latest', '0x0'],
  eth_getUncleCountByBlockHash: [hash],
  eth_getUncleCountByBlockNumber: ['latest'],
  eth_sendRawTransaction: ['0xab'],
  web3_sha3: ['0xab'],
};

/** What is odd elsewhere, but fits here. */
function fits(method: string, place: number, value: unknown): boolean {
  const isEmptyList = Array.isArray(value) && value.length === 0;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const isUnread = isObject && !('from' in value || 'to' in value || 'data' in value || 'value' in value);
  if (method === 'eth_getProof' && place === 1) return isEmptyList || JSON.stringify(value) === '["0x1"]';
  if (method === 'eth_feeHistory' && place === 2) return isEmptyList;
  if (/eth_(call|createAccessList|estimateGas)/.test(method) && place === 0)
    return isUnread && !('gas' in value);
  if (method !== 'eth_getLogs' || !isObject) return false;
  const isOneBlock = 'blockHash' in value && value.blockHash === hash;
  return (
    isOneBlock || !('address' in value || 'topics' in value || 'fromBlock' in value || 'blockHash' in value)
  );
}

test('every method refuses odd parameters as invalid', async () => {
  let tried = 0;
  for (const [method, params] of Object.entries(good)) {
    for (const [place] of params.entries()) {
      for (const value of odd.filter((one) => !fits(method, place, one))) {
        const { code, message } = await faultOf(method, params.with(place, value));
        assert.equal(code, -32602, `${method} ${place} ${JSON.stringify(value).slice(0, 100)}: ${message}`);
        assert.ok(message.length < 200);
        tried += 1;
      }
    }
    assert.equal((await faultOf(method, [...params, null, null, null])).code, -32602, method);
  }
  assert.ok(tried > 1_000);
});

test('every method is either in this table, or takes no parameters', async () => {
  for (const method of answeredMethods) {
    if (good[method]) continue;
    assert.equal((await faultOf(method, ['latest'])).code, -32602, method);
    assert.notEqual(await answers.answer(method, []), undefined, method);
  }
  for (const method of ['eth_simulateV1', 'evm_mine', '__proto__', 'constructor', '', '\ud800']) {
    assert.equal((await faultOf(method, [])).code, -32601);
  }
});

test('parameters that are well formed, but beyond a bound, are refused', async () => {
  const many = <T>(count: number, value: T) => Array<T>(count).fill(value);
  const cases: [string, unknown[], RegExp][] = [
    ['eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }], /at most 10000 blocks/],
    ['eth_getLogs', [{ fromBlock: '0x2', toBlock: '0x1' }], /after/],
    ['eth_getLogs', [{ blockHash: hash, toBlock: '0x1' }], /either/],
    ['eth_getLogs', [{ address: many(1_001, address) }], /more than 1000/],
    ['eth_getLogs', [{ topics: [many(1_001, hash)] }], /more than 1000/],
    ['eth_getLogs', [{ topics: many(5, null) }], /more than 4/],
    ['eth_feeHistory', ['0x0', 'latest'], /at least 1/],
    ['eth_feeHistory', ['0x1', 'latest', many(101, 5)], /more than 100/],
    ['eth_feeHistory', ['0x1', 'latest', [50, 10]], /ascending/],
    ['eth_feeHistory', ['0x1', 'latest', [101]], /0 to 100/],
    ['eth_getProof', [address, many(101, '0x1'), 'latest'], /more than 100/],
    ['eth_sendRawTransaction', [`0x${'ab'.repeat(128 * 1024 + 1)}`], /oversized data/],
    ['eth_call', [{ to: address, data: `0x${'ab'.repeat(128 * 1024 + 1)}` }], /oversized data/],
    ['eth_call', [{ to: address }, 'latest', {}], /overrides/],
    ['eth_call', [{ to: address }, 'latest', null, {}], /overrides/],
    ['eth_call', [{ data: '0x01', input: '0x02' }], /differ/],
    ['eth_call', [{ gasPrice: '0x9', maxFeePerGas: '0x9' }], /both/],
    ['eth_call', [{ chainId: '0x1' }], /chainId must be 5/],
    ['eth_call', [{ authorizationList: [{}] }], /not supported/],
  ];
  for (const [method, params, words] of cases) {
    const { code, message } = await faultOf(method, params);
    assert.equal(code, -32602, message);
    assert.match(message, words);
  }
});

test('a state that is unknown or too old, and a call that cannot run, are refused in the words of other nodes', async () => {
  const cases: [string, unknown[], RegExp][] = [
    ['eth_getBalance', [address, '0x1fffffffffffff'], /header not found/],
    ['eth_getBalance', [address, zeroHash], /header not found/],
    ['eth_getBalance', [address, { blockHash: zeroHash }], /header not found/],
    ['eth_call', [{}, `0x${(20_000 - 64).toString(16)}`], /only the states of the last 64 blocks are kept/],
    ['eth_call', [{ gasPrice: '0x1' }], /max fee per gas less than block base fee: 1 < 7/],
    ['eth_call', [{ data: `0x${'00'.repeat(49_153)}` }], /max initcode size exceeded/],
    ['eth_feeHistory', ['0x1', '0x1fffffffffffff'], /beyond head block/],
    ['eth_getLogs', [{ blockHash: zeroHash }], /unknown block/],
  ];
  for (const [method, params, words] of cases) {
    const { code, message } = await faultOf(method, params);
    assert.equal(code, -32000, message);
    assert.match(message, words);
  }
  engine = () => ({ balanceWei: 0n, nonce: 0 });
  assert.equal(await answers.answer('eth_getBalance', [address, `0x${(20_000 - 63).toString(16)}`]), '0x0');
});

test('failures of the engine, the pool and the database have the codes by which clients decide', async () => {
  const codeOf = async (error: unknown, method = 'eth_call', params: unknown[] = [{}]) => {
    engine = () => Promise.reject(error);
    add = async () => Promise.reject(error);
    const { code, kind, message, data } = await faultOf(method, params);
    assert.doesNotMatch(message, /secret/);
    return [kind, code, data];
  };
  assert.deepEqual(await codeOf(new EngineFailure('invalid', 'x')), ['refused', -32000, undefined]);
  assert.deepEqual(await codeOf(new EngineFailure('missing', 'secret')), ['bad_answer', -32603, undefined]);
  assert.deepEqual(await codeOf(new EngineFailure('internal', 'secret')), ['bad_answer', -32603, undefined]);
  assert.deepEqual(await codeOf(new EngineFailure('lost', 'x')), ['unreachable', -32002, undefined]);
  assert.deepEqual(await codeOf(new EngineFailure('busy', 'x')), ['unreachable', -32002, undefined]);
  assert.deepEqual(await codeOf(new Error('secret')), ['bad_answer', -32603, undefined]);
  const sends: [string, unknown[]] = ['eth_sendRawTransaction', ['0xab']];
  const tooLow = new EngineFailure('invalid', 'intrinsic gas too low: have 1, want 2');
  assert.deepEqual(await codeOf(tooLow, ...sends), ['refused', -32003, undefined]);
  assert.equal(readRefusal(await faultOf(...sends))?.verdict, 'more_gas');
  results = { ...results, head: async () => null };
  assert.equal((await faultOf('eth_blockNumber', [])).code, -32002);
});

test('a call that reverts has its data, and one that fails otherwise has its reason', async () => {
  const answer: CallAnswer = { failure: null, data: '0xabcd', gasUsed: 1, accessList: [] };
  for (const method of ['eth_call', 'eth_estimateGas']) {
    engine = () => ({ ...answer, failure: { reverted: true, reason: 'revert' } });
    const { code, data, message } = await faultOf(method, [{}]);
    assert.deepEqual([code, data, message], [3, '0xabcd', 'execution reverted']);
    engine = () => ({ ...answer, failure: { reverted: false, reason: 'out of gas' } });
    const other = await faultOf(method, [{}]);
    assert.deepEqual([other.code, other.data, other.message], [-32000, undefined, 'out of gas']);
  }
  engine = () => ({ ...answer, failure: { reverted: true, reason: 'revert' } });
  const listed = await answers.answer('eth_createAccessList', [{}]);
  assert.deepEqual(listed, { accessList: [], gasUsed: '0x1', error: 'execution reverted' });
});

test('a search for logs ends at 10,000 logs, at 8 MB, and after 5 seconds', async () => {
  const filled = (logs: StoredLog[]) => async (range: { from: number }) => [
    {
      ...{ ...head, number: range.from, transactions: ['0xab'] as Hex[] },
      receipts: [{ from: address, succeeded: true, gasUsed: 1, logs }],
    },
  ];
  const log: StoredLog = { address, topics: [], data: '0x' };
  const range = [{ fromBlock: '0x1', toBlock: '0x2' }];
  results = { ...results, blocks: filled(Array(5_000).fill(log)) };
  const found = (await answers.answer('eth_getLogs', range)) as { logIndex: Hex; blockNumber: Hex }[];
  assert.deepEqual(
    [found.length, found.at(-1)?.logIndex, found.at(-1)?.blockNumber],
    [10_000, '0x1387', '0x2'],
  );
  results = { ...results, blocks: filled(Array(5_001).fill(log)) };
  assert.match((await faultOf('eth_getLogs', range)).message, /more than 10000 logs/);
  results = { ...results, blocks: filled([{ ...log, data: `0x${'ab'.repeat(2_000_000)}` }]) };
  assert.match((await faultOf('eth_getLogs', range)).message, /8000000 bytes/);

  let clock = 0;
  const slow = async () => {
    for await (const _ of blocksInPages({ from: 0, to: 9_999 }, results, () => (clock += 1_000)));
  };
  await assert.rejects(
    slow,
    (error: RpcFault) => error.code === -32602 && /smaller range/.test(error.message),
  );
  assert.ok(clock < 10_000);
});
