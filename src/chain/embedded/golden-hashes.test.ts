/** Block hashes that never change: with other rules, a chain that exists could not go on. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Hex, numberToHex } from 'viem';
import { anvilMissing } from '../../../test/support/chain/anvil.ts';
import { findAnvil } from '../../../test/support/chain/anvil-program.ts';
import {
  goldenBlocks,
  goldenChainId,
  goldenGenesis,
  notOfAnvil,
} from '../../../test/support/fixtures/golden-chain.ts';
import { startUntil } from '../../../test/support/service/process.ts';
import { createJsonRpc } from '../rpc/json-rpc.ts';
import { createEngine } from './engine/engine.ts';
import type { BlockResult, ParentBlock } from './engine/protocol.ts';

const golden: Hex[] = [
  '0xe9960f0f5a5e14649bceac19c1f7f330e11b8dea8932d76b923e6b3ebebfff8b',
  '0xc53f37f95d4a2581126c0da28477dd03ef06213420c781f2ded5e6669f74dc98',
  '0x8672540185df66d0f561eb4a0107764c23dd9310c512581c8d19d4c215347e4e',
  '0xa66d9783770d0d958859e10659f2e798359d48add3b35f41bb0cba1cf97a260b',
  '0xd79b2acfe93b7e79c78e0091f414adb3c8fe81800c454804602f034ce9df5aa9',
  '0x8637672048e10256ed1d9c6ac181091d85f6ff58967fd1e9671fce1eaf4ff922',
  '0x940deb42d34c718ac32a1dc5e3c8d134c73c42f00e312f3d46ed75ce5b769663',
  '0xb4ab8671bcb5711d1ac323927bd8ea503097b96ba4376a3496c4277b5ad18fbe',
  '0x6e61dcae27fb4c6bbbe39658d509c4a4d75afc7f54ce232b83e98b52ca287643',
  '0x22f2fc408a5de0cfe45e9d2f4c87946d752e287d8e08482eafbe180df0dba502',
  '0xb45af3751723be86045c6d8a1bf93175a647f6b6661ae6100edf77131f91b3d9',
  '0xbb45bdee5fe7dafacd65c90c724c4c60d0e54f9efd8a779d93471366ee430cbe',
  '0xa56946d43e7a709842044006f83806edfe2a16bf264006cf665c3c665bed61c2',
  '0x01c37a42c12b9040a5feac9389b014aad4720901caab49f8c714b03fc45678ac',
];

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
  assert.deepEqual(hashes, golden);
});

test('a real anvil gives the same blocks the same hashes', { skip: await anvilMissing() }, async (t) => {
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
    program: (await findAnvil()) ?? '',
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
    if (index + 1 === notOfAnvil) break;
    for (const raw of transactions) await ask('eth_sendRawTransaction', raw);
    await ask('evm_mine', numberToHex(timestampSeconds));
    await note(index + 1);
  }
  assert.deepEqual(hashes, golden.slice(0, notOfAnvil));
});
