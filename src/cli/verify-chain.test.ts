/** `holdfast verify` against chain nodes: away, of another chain, of one that nobody knows, and one that contradicts. */
// tier: process
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Hex } from 'viem';
import {
  anchorRecord,
  type DisguisedNode,
  disguise,
  startAnchoringAnvil,
  trustIn,
} from '../../test/support/chain/anchored-proof.ts';
import type { Anvil } from '../../test/support/chain/anvil.ts';
import { makeClockedProof } from '../../test/support/fixtures/clocked-proof.ts';
import { needs } from '../../test/support/programs/needs.ts';
import { holdfast } from '../../test/support/service/process.ts';
import {
  hintsIn,
  openVerifyCommand,
  stepsIn,
  type VerifyCommand,
} from '../../test/support/service/verify-command.ts';
import { deployerAddress } from '../chain/registry/registry.ts';
import type { EvmAnchor, Proof } from '../proof/verify/proof.ts';
import type { StepName } from '../proof/verify/steps.ts';

const onAnvil = needs('anvil');
const content = '{"temperature": 4.5}';
const other: Hex = `0x${'99'.repeat(32)}`;

let files: VerifyCommand;
let anvil: Anvil;
let anchored: Proof;
/** The same node under the name of another client program. */
let disguised: DisguisedNode;
const verify = (...args: string[]) => files.verify(...args);
const write = (name: string, value: unknown) => files.write(name, value);
const path = (name: string) => files.path(name);

before(async () => {
  files = await openVerifyCommand();
  await write('clocked.json', (await makeClockedProof()).proof);
  await write('content', content);
});
onAnvil.before(async () => {
  anvil = await startAnchoringAnvil();
  anchored = await anchorRecord(anvil, content);
  disguised = await disguise(anvil.url);
  await write('anchored.json', anchored);
});
after(async () => {
  disguised?.close();
  await anvil?.stop();
  await files.close();
});

test('skips what the chain would show if the chain node is unreachable, and says why', async () => {
  const { code, stdout } = await verify(path('clocked.json'), '--rpc', 'http://127.0.0.1:1');
  assert.equal(code, 2);
  assert.match(stdout, /\nanchor 1 chain {5}skip {2}The chain could not be queried: .*ECONNREFUSED/);
});

onAnvil.test('an anchored proof passes with a node of a chain that the trust file names', async () => {
  const trust = await write('anvil-trust.json', await trustIn(anvil));
  // In a process of its own, to test that nothing delays its exit.
  const { code, stdout, stderr } = await holdfast(
    files.settings,
    ...['verify', path('anchored.json'), path('content'), '--rpc', anvil.url, '--trust', trust],
  );
  assert.deepEqual([code, stderr], [0, ''], stdout);
  assert.deepEqual(new Set(Object.values(stepsIn(stdout))), new Set(['pass']));
  assert.match(stdout, /^PASS: .* says block \d+ of chain 424242,/);
  assert.match(stdout, /block \d+ of chain 424242 \(the choice of whoever gave --trust\)/);
});

onAnvil.test('a chain that nobody knows vouches for nothing, whatever its node says', async () => {
  const { code, stdout } = await verify(path('anchored.json'), path('content'), '--rpc', disguised.url);
  assert.equal(code, 2);
  const { time, 'anchor 1 chain': chain, 'anchor 1 finality': finality } = stepsIn(stdout);
  assert.deepEqual([chain, finality, time], ['pass', 'skip', 'skip']);
  assert.match(stdout, /When a block of chain 424242 is final is not known/);
  assert.match(hintsIn(stdout)[0] ?? '', /with its id and genesis hash\.$/);
});

onAnvil.test('a chain node of another chain leaves the proof unchecked', async () => {
  const [evm] = anchored.anchors as EvmAnchor[];
  const elsewhere = await write('elsewhere.json', { ...anchored, anchors: [{ ...evm, chainId: 1 }] });
  const { code, stdout } = await verify(elsewhere, path('content'), '--rpc', disguised.url);
  assert.equal(code, 2, stdout);
  assert.match(
    stdout,
    /anchor 1 chain {5}skip {2}The node belongs to chain \d+, but this anchor is on chain 1\./,
  );
});

onAnvil.test('a proof that the chain contradicts fails', async () => {
  const evm = anchored.anchors[0] as EvmAnchor;
  const contract = deployerAddress.toLowerCase() as Hex;
  const contradictions: [string, StepName, Partial<EvmAnchor>, string[]][] = [
    ['block', 'chain', { blockHash: other, inclusion: null }, []],
    ['transaction', 'chain', { transactionHash: other }, []],
    ['header', 'chain', { blockHash: other }, []],
    ['time', 'chain', { blockTime: evm.blockTime - 1 }, []],
    ['code', 'registry', { contract }, ['--registry', contract]],
  ];
  await Promise.all(
    contradictions.map(async ([name, step, change, more]) => {
      const wrong = await write(`wrong-${name}.json`, { ...anchored, anchors: [{ ...evm, ...change }] });
      const { code, stdout } = await verify(wrong, path('content'), '--rpc', disguised.url, ...more);
      assert.equal(code, 1, `${name}: ${stdout}`);
      assert.equal(stepsIn(stdout)[`anchor 1 ${step}`], 'FAIL', `${name}: ${stdout}`);
    }),
  );
});
