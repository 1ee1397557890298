/** Block hashes that never change: with other rules, a chain that exists could not go on. */
// tier: process
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Hex, numberToHex } from 'viem';
import {
  anvilHashes,
  firstOddBlock,
  goldenBlocks,
  goldenChainId,
  goldenGenesis,
  goldenHashes,
} from '../../../test/support/fixtures/golden-chain.ts';
import { needs, pathOf } from '../../../test/support/programs/needs.ts';
import { startUntil } from '../../../test/support/service/process.ts';
import { createJsonRpc } from '../rpc/json-rpc.ts';
import { createEngine } from './engine/engine.ts';
import type { BlockResult, ParentBlock } from './engine/protocol.ts';

test('the engine gives every block of a known chain its known hash', async (t) => {
  const nodes = new Map<string, Uint8Array>();
  const hashes: Hex[] = [];
  const engine = createEngine({
    chainId: goldenChainId,
    readNode: async (key) => nodes.get(Buffer.from(key).toString('hex')) ?? null,
    readBlockHash: async (number) => hashes[number] ?? null,
  });
  t.after(() => engine.close());
  function keep(block: BlockResult): ParentBlock {
    hashes.push(block.hash);
    for (const [key, value] of block.changes.added) nodes.set(Buffer.from(key).toString('hex'), value);
    for (const key of block.changes.replaced) nodes.delete(Buffer.from(key).toString('hex'));
    return block;
  }

  let parent = keep(await engine.ask('genesis', { genesis: goldenGenesis }));
  const succeeded: boolean[][] = [];
  for (const template of await goldenBlocks()) {
    const { block, dropped } = await engine.ask('build', { parent, ...template, exact: true });
    assert.deepEqual(dropped, []);
    assert.deepEqual(
      block.transactions.map(({ raw }) => raw),
      template.transactions,
    );
    succeeded.push(block.transactions.map(({ receipt }) => receipt.succeeded));
    parent = keep(block);
  }
  // Otherwise the hashes would stand for less than they should.
  assert.deepEqual(succeeded, [
    ...[[true], [true], [true, true, true], [], [true], [false], [true, true]],
    ...[[true, true], [true, true], [false], [], [true, false, true, true, true], []],
  ]);
  assert.deepEqual(hashes, goldenHashes);
});

needs('anvil').test('a real anvil gives the same blocks the hashes that are known of it', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-golden-'));
  t.after(() => rm(dir, { recursive: true }));
  const genesisFile = join(dir, 'genesis.json');
  await writeFile(genesisFile, goldenGenesis);
  // As earlier versions of the product started it.
  const flags = [
    ...['--host', '127.0.0.1', '--no-cors', '--accounts', '0', '--disable-default-create2-deployer'],
    ...['--no-mining', '--order', 'fifo', '--hardfork', 'prague', '--base-fee', '1000000000'],
    ...['--prune-history', '64', '--slots-in-an-epoch', '1'],
  ];
  const { running, match } = await startUntil(/Listening on (\S+)/, {
    program: pathOf('anvil'),
    args: ['--chain-id', String(goldenChainId), '--port', '0', ...flags, '--init', genesisFile],
    settings: {},
  });
  t.after(async () => {
    running.child.kill('SIGKILL');
    await running.exited;
  });
  const rpc = createJsonRpc({ timeoutMs: 60_000, maxAnswerBytes: 2 ** 24 });
  t.after(() => rpc.close());
  const ask = <T>(method: string, ...params: unknown[]) => rpc.call<T>(`http://${match[1]}`, method, params);
  const hashes: Hex[] = [];
  const note = async (number: number) =>
    hashes.push((await ask<{ hash: Hex }>('eth_getBlockByNumber', numberToHex(number), false)).hash);
  await note(0);
  for (const [index, { timestampSeconds, transactions }] of (await goldenBlocks()).entries()) {
    for (const raw of transactions) await ask('eth_sendRawTransaction', raw);
    await ask('evm_mine', numberToHex(timestampSeconds));
    await note(index + 1);
  }
  assert.deepEqual(hashes, [...goldenHashes.slice(0, firstOddBlock), ...Object.values(anvilHashes)]);
});
