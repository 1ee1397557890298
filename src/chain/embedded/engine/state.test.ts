/** What a request leaves behind in the engine's process: nothing but remembered nodes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadCrypto } from './crypto.ts';
import { createDeadline } from './deadline.ts';
import { buildBlock } from './execute.ts';
import { buildGenesis } from './genesis-block.ts';
import { createNodeCache } from './nodes.ts';
import { commonOf } from './rules.ts';

test('executing a block leaves nothing that listens, or the memory would grow with every block', async () => {
  const nodes = new Map<string, Uint8Array>();
  const needs = {
    common: commonOf(1_500_000_001, await loadCrypto()),
    cache: createNodeCache(1_000),
    readNode: async (key: Uint8Array) => nodes.get(Buffer.from(key).toString('hex')) ?? null,
    readBlockHash: async () => null,
    deadline: createDeadline(60_000),
  };
  let head = await buildGenesis(JSON.stringify({ timestamp: '0x1', alloc: {} }), needs);
  for (let blocks = 0; blocks < 3; blocks += 1) {
    for (const [key, value] of head.changes.added) nodes.set(Buffer.from(key).toString('hex'), value);
    const template = {
      parent: head,
      timestampSeconds: head.timestampSeconds + 1,
      transactions: [],
      exact: true,
    };
    head = (await buildBlock(template, needs)).block;
  }
  assert.equal(head.number, 3);
  assert.deepEqual(needs.common.events.eventNames(), []);
});

test('remembers no more nodes than fit, and forgets the one that was not used for longest', () => {
  const cache = createNodeCache(1_000);
  cache.put('a', new Uint8Array(100));
  cache.put('b', new Uint8Array(100));
  assert.equal(cache.get('a')?.length, 100);
  cache.put('c', new Uint8Array(100));
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => cache.get(name)?.length),
    [100, undefined, 100],
  );
});
