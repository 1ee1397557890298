/** The chain relay of the verify page: what it passes on, refuses, limits and caches. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from 'viem';
import { waitUntil } from '../../../test/support/service/process.ts';
import { createAnchorReader } from '../../chain/registry/anchor-reader.ts';
import { registryAddress } from '../../chain/registry/registry.ts';
import { RpcFault } from '../../chain/rpc/json-rpc.ts';
import type { RpcCall } from '../../chain/rules/rpc-call.ts';
import { AppError } from '../../runtime/errors.ts';
import { createChainRelay } from './chain-relay.ts';

const registry = registryAddress.toLowerCase() as Hex;
const hash: Hex = `0x${'ab'.repeat(32)}`;
const data = `0x${'00'.repeat(68)}`;
const at = { blockHash: hash };

function relayTo(call: (method: string, params: readonly unknown[]) => unknown) {
  return createChainRelay({
    call: () => async (method, params) => call(method, params),
    registry: registryAddress,
  });
}

const isCode = (code: string) => (error: unknown) => error instanceof AppError && error.code === code;
/** An error that tells the caller when to retry. */
const isNotNow = (error: unknown) =>
  isCode('service_unavailable')(error) && ((error as AppError).retryAfterSeconds ?? 0) > 0;

test('passes on every call of the anchor reader unchanged', async () => {
  const asked: string[] = [];
  const block = { number: '0x5', hash, timestamp: '0x1', transactions: [] };
  const receipt = { transactionHash: hash, status: '0x1', blockNumber: '0x5', blockHash: hash, logs: [] };
  const answers: Record<string, unknown> = {
    eth_chainId: '0x1',
    web3_clientVersion: 'Geth',
    eth_getCode: '0x00',
    eth_getTransactionReceipt: receipt,
    eth_getBlockByNumber: block,
  };
  const relay = relayTo((method) => {
    asked.push(method);
    return answers[method];
  });
  const reader = createAnchorReader(async (method, params) => {
    const answer = await relay.ask(method, params);
    assert.ok('result' in answer);
    return answer.result;
  });
  await reader.chainId();
  await reader.isDevelopmentNode();
  await reader.genesisHash();
  await reader.codeHash(registry);
  await reader.transaction(hash);
  await reader.block(5);
  await reader.finalBlock('finalized');
  assert.deepEqual(new Set(asked), new Set(Object.keys(answers)));
});

test('refuses any other method, contract or form before it reaches the chain node', async () => {
  const relay = relayTo(() => assert.fail('the node was asked'));
  const other = `0x${'99'.repeat(20)}`;
  const refused: [string, unknown[]][] = [
    ['eth_sendRawTransaction', ['0x00']],
    ['anvil_setBalance', [registry, '0x1']],
    ['evm_mine', []],
    ['debug_traceTransaction', [hash]],
    ['eth_getLogs', [{}]],
    ['toString', []],
    ['__proto__', []],
    ['', []],
    ['eth_chainId', [1]],
    ['eth_getCode', [other, at]],
    ['eth_getCode', [registry, 'latest']],
    ['eth_getCode', [registry, { blockHash: '0x12' }]],
    ['eth_getCode', [registry, { ...at, requireCanonical: true }]],
    ['eth_getCode', [registry, null]],
    ['eth_getCode', [registry, 'pending']],
    ['eth_getCode', [registry]],
    ['eth_getCode', [[registry], at]],
    ['eth_call', [{ to: registry, data }, at]],
    ['eth_getTransactionReceipt', ['0x12']],
    ['eth_getTransactionReceipt', [`${hash}\n`]],
    ['eth_getTransactionReceipt', [[hash]]],
    ['eth_getBlockByNumber', ['latest', true]],
    ['eth_getBlockByNumber', ['pending', false]],
    ['eth_getBlockByNumber', ['earliest', false]],
    ['eth_getBlockByNumber', [5, false]],
    ['eth_getBlockByNumber', ['0x05', false]],
    ['eth_getBlockByNumber', [`0x${'f'.repeat(20)}`, false]],
  ];
  for (const [method, params] of refused) {
    const what = `${method} ${JSON.stringify(params)}`;
    await assert.rejects(relay.ask(method, params), isCode('invalid_request'), what);
  }
});

test('is unavailable without a chain, or if the chain does not answer', async () => {
  const away = createChainRelay({ call: () => null, registry });
  await assert.rejects(away.ask('eth_chainId', []), isNotNow);
  const down = relayTo(() => {
    throw new RpcFault('unreachable', 'eth_chainId at 10.1.2.3:8545: ECONNREFUSED');
  });
  await assert.rejects(
    down.ask('eth_chainId', []),
    (error) => isNotNow(error) && !/10\.1\.2\.3/.test((error as Error).message),
  );
});

test('waits for a chain that is starting, and counts those who wait', async () => {
  const { promise: open, resolve } = Promise.withResolvers<RpcCall>();
  const relay = createChainRelay({ call: () => open, registry });
  const first = Array.from({ length: 16 }, () => relay.ask('eth_chainId', []));
  await assert.rejects(relay.ask('eth_chainId', []), isNotNow);
  resolve(async () => '0x1');
  assert.deepEqual(await Promise.all(first), Array(16).fill({ result: '0x1' }));
});

test('passes on refusals of the chain without the address of the chain node', async () => {
  const relay = relayTo(() => {
    const fault = new RpcFault('refused', 'eth_getCode at 10.1.2.3:8545: no', { code: -32_602 });
    throw new Error('as viem wraps it', { cause: fault });
  });
  const answer = await relay.ask('eth_getCode', [registry, at]);
  assert.deepEqual(answer, { error: { code: -32_602, message: 'the chain node refused the call' } });
});

test('limits concurrent calls, and makes the next when one is done', async () => {
  const waiting: (() => void)[] = [];
  const relay = relayTo(() => new Promise<string>((resolve) => waiting.push(() => resolve('0x1'))));
  const first = Array.from({ length: 16 }, () => relay.ask('web3_clientVersion', []));
  await assert.rejects(relay.ask('web3_clientVersion', []), isNotNow);
  await waitUntil(() => waiting.length === first.length);
  for (const answer of waiting.splice(0)) answer();
  await Promise.all(first);
  const next = relay.ask('web3_clientVersion', []);
  await waitUntil(() => waiting.length === 1);
  for (const answer of waiting.splice(0)) answer();
  assert.deepEqual(await next, { result: '0x1' });
});

test('asks only once for what cannot change, and limits the rest to one shared budget', async () => {
  const asked: string[] = [];
  const blockOf = (number: string) => ({ number, hash, timestamp: '0x1', transactions: [] });
  const relay = createChainRelay({
    call: () => async (method, params) => {
      asked.push(method);
      if (method === 'eth_getBlockByNumber') {
        return blockOf({ latest: '0x64', finalized: '0x32' }[String(params[0])] ?? String(params[0]));
      }
      return method === 'eth_getTransactionReceipt' ? { blockNumber: '0x5' } : '0x1';
    },
    registry,
    budget: { calls: 13, windowMs: 3_600_000 },
  });
  const twice = async (method: string, params: unknown[]) => {
    const before = asked.length;
    assert.deepEqual(await relay.ask(method, params), await relay.ask(method, params));
    return asked.length - before;
  };
  assert.equal(await twice('eth_chainId', []), 1);
  assert.equal(await twice('eth_getCode', [registry, at]), 1);
  assert.equal(await twice('eth_getTransactionReceipt', [hash]), 2, 'a reorg may move it');
  assert.equal(await twice('eth_getBlockByNumber', ['finalized', false]), 2);
  assert.equal(await twice('eth_getTransactionReceipt', [hash]), 1, 'its block is final');
  assert.equal(await twice('eth_getBlockByNumber', ['0x32', false]), 1);
  assert.equal(await twice('eth_getBlockByNumber', ['0x33', false]), 2);
  assert.equal(await twice('eth_getBlockByNumber', ['latest', false]), 2);
  assert.equal(asked.length, 12);
  await relay.ask('web3_clientVersion', []);
  await assert.rejects(relay.ask('web3_clientVersion', []), isNotNow);
  assert.deepEqual(await relay.ask('eth_chainId', []), { result: '0x1' }, 'what is known costs nothing');
});
