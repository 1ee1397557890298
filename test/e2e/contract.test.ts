/** AnchorRegistry: the kept code is what the source compiles to, and on a real chain it does what it promises. */
// own process: the compiler that it loads listens for errors of the process
// tier: process
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { SimpleMerkleTree } from '@openzeppelin/merkle-tree';
import { type Account, type Hash, keccak256, parseEventLogs, stringToHex } from 'viem';
import { artifactFile, artifactText, codeFile, codeText, compileRegistry } from '../../contracts/compile.ts';
import {
  deployerAddress,
  deployerDeployment,
  deployerRuntimeCode,
  registryAbi,
  registryAddress,
  registryCodeHash,
  registryDeploymentData,
} from '../../src/chain/registry/registry.ts';
import { type Anvil, startAnvil } from '../support/chain/anvil.ts';
import { needs } from '../support/programs/needs.ts';

const onAnvil = needs('anvil');

test('the stored artifact and the built-in code match the compiled source, byte for byte', () => {
  const artifact = compileRegistry();
  const advice = 'run npm run contract:build; a changed code has a new address';
  assert.equal(readFileSync(artifactFile, 'utf8'), artifactText(artifact), advice);
  assert.equal(readFileSync(codeFile, 'utf8'), codeText(artifact), advice);
});

onAnvil.test(
  'the presigned transaction brings the deployer to a chain without it, and then the registry',
  async () => {
    const chain = await startAnvil();
    try {
      const { client, accounts, mined } = chain;
      assert.equal(await client.getCode({ address: deployerAddress }), undefined);

      const { signer, fundingWei, rawTransaction } = deployerDeployment;
      await mined(await client.sendTransaction({ account: accounts[0], to: signer, value: fundingWei }));
      const created = await mined(await client.sendRawTransaction({ serializedTransaction: rawTransaction }));
      assert.equal(created.status, 'success');
      assert.equal(await client.getCode({ address: deployerAddress }), deployerRuntimeCode);

      await deploy(chain);
      assert.equal(await codeHash(chain), registryCodeHash);
    } finally {
      await chain.stop();
    }
  },
);

onAnvil.describe('on a chain with the deployer in its genesis', () => {
  let chain: Anvil;
  let us: Account;
  let stranger: Account;

  before(async () => {
    chain = await startAnvil({
      alloc: { [deployerAddress]: { nonce: '0x1', balance: '0x0', code: deployerRuntimeCode } },
    });
    [us, stranger] = chain.accounts;
    assert.equal(await chain.client.getCode({ address: registryAddress }), undefined);
    assert.equal((await deploy(chain)).status, 'success');
  });
  after(() => chain.stop());

  test('the registry has its known address and code, and a second deployment changes nothing', async () => {
    assert.equal(await codeHash(chain), registryCodeHash);
    const root = someHash('before the second deployment');
    await anchor(us, root);
    const entry = await entryOf(us, root);

    const again = await deploy(chain);
    assert.equal(again.status, 'reverted');
    assert.ok(again.gasUsed > 950_000n, `${again.gasUsed} of a million gas: nearly all of it is lost`);
    assert.equal(await codeHash(chain), registryCodeHash);
    assert.deepEqual(await entryOf(us, root), entry);
  });

  test('stores an anchor with the time of its block, and logs it', async () => {
    const root = someHash('logged');
    assert.deepEqual(await entryOf(us, root), [0n, 0n]);
    const receipt = await anchor(us, root, 1000n);
    const block = await chain.client.getBlock({ blockHash: receipt.blockHash });
    assert.deepEqual(await entryOf(us, root), [block.timestamp, 1000n]);

    const logs = parseEventLogs({ abi: registryAbi, logs: receipt.logs });
    assert.equal(logs.length, 1);
    assert.equal(logs[0]?.eventName, 'Anchored');
    assert.equal(logs[0]?.address, registryAddress.toLowerCase());
    assert.deepEqual(logs[0]?.args, { submitter: us.address, root, size: 1000n });
  });

  test('accepts the largest size and a root of zeros', async () => {
    const largest = 2n ** 64n - 1n;
    await anchor(us, `0x${'00'.repeat(32)}`, largest);
    const [time, size] = await entryOf(us, `0x${'00'.repeat(32)}`);
    assert.ok(time > 0n);
    assert.equal(size, largest);
  });

  test('an anchor costs at most 46,500 gas, and a repeat costs less and changes nothing', async (t) => {
    // Without a zero byte, which would be cheaper.
    const root: Hash = `0x${'ab'.repeat(32)}`;
    const first = await anchor(us, root, 1000n);
    const entry = await entryOf(us, root);
    await chain.client.increaseTime({ seconds: 60 });
    const repeat = await anchor(us, root, 9999n);
    const largest = await anchor(us, `0x${'cd'.repeat(32)}`, 2n ** 64n - 1n);
    t.diagnostic(`gas: first ${first.gasUsed}, largest size ${largest.gasUsed}, repeat ${repeat.gasUsed}`);

    assert.ok(first.gasUsed <= 46_500n, `${first.gasUsed} gas`);
    assert.ok(largest.gasUsed <= 46_500n, `${largest.gasUsed} gas`);
    assert.equal(repeat.status, 'success');
    assert.ok(repeat.gasUsed <= 24_500n, `${repeat.gasUsed} gas`);
    assert.deepEqual(repeat.logs, []);
    assert.deepEqual(await entryOf(us, root), entry);
  });

  test('somebody who copies our root, before or after us, gets a separate entry and does not affect ours', async () => {
    const ours = someHash('copied after us');
    await anchor(us, ours, 10n);
    const entry = await entryOf(us, ours);
    await chain.client.increaseTime({ seconds: 60 });
    await anchor(stranger, ours, 99n);
    const copy = await entryOf(stranger, ours);
    assert.deepEqual(await entryOf(us, ours), entry);
    assert.equal(copy[1], 99n);
    assert.ok(copy[0] >= entry[0] + 60n);

    const snatched = someHash('copied before us');
    await anchor(stranger, snatched, 99n);
    assert.deepEqual(await entryOf(us, snatched), [0n, 0n]);
    const receipt = await anchor(us, snatched, 10n);
    assert.equal(receipt.logs.length, 1);
    assert.equal((await entryOf(us, snatched))[1], 10n);
  });

  for (const size of [1, 2, 3, 7, 8, 1000]) {
    test(`verify agrees with OpenZeppelin's tree of ${size} leaves, and with nothing else`, async () => {
      const leaves = Array.from({ length: size }, (_, n) => keccak256(someHash(`leaf ${n} of ${size}`)));
      const tree = SimpleMerkleTree.of(leaves);
      const root = tree.root as Hash;
      const proofOf = (n: number): Hash[] => tree.getProof(n) as Hash[];
      const first = leaves[0] as Hash;
      assert.equal(await verify(us, proofOf(0), first), 0n, 'before it is anchored');

      await anchor(us, root, BigInt(size));
      const [time] = await entryOf(us, root);
      // All of a small tree; of the large one some at each length that a path has there.
      const byLength = Map.groupBy(leaves.keys(), (n) => proofOf(n).length);
      for (const n of [...byLength.values()].flatMap((some) => some.slice(0, 12))) {
        const leaf = leaves[n] as Hash;
        assert.equal(await verify(us, proofOf(n), leaf), time, `leaf ${n}`);
      }

      assert.equal(await verify(us, proofOf(0), someHash('not in it')), 0n, 'wrong leaf');
      assert.equal(await verify(stranger, proofOf(0), first), 0n, 'wrong submitter');
      assert.equal(await verify(us, [...proofOf(0), root], first), 0n, 'path too long');
      if (size > 1) {
        const path = proofOf(0);
        assert.equal(await verify(us, path.slice(0, -1), first), 0n, 'path too short');
        for (const level of path.keys()) {
          const wrong = path.with(level, someHash('another sibling'));
          assert.equal(await verify(us, wrong, first), 0n, `wrong at level ${level}`);
        }
      }
    });
  }

  async function anchor(account: Account, root: Hash, size = 1n) {
    const { client, mined } = chain;
    const call = { address: registryAddress, abi: registryAbi, functionName: 'anchor' } as const;
    const receipt = await mined(await client.writeContract({ ...call, args: [root, size], account }));
    assert.equal(receipt.status, 'success');
    return receipt;
  }

  function entryOf(account: Account, root: Hash) {
    const call = { address: registryAddress, abi: registryAbi, functionName: 'anchors' } as const;
    return chain.client.readContract({ ...call, args: [account.address, root] });
  }

  function verify(account: Account, proof: Hash[], leaf: Hash): Promise<bigint> {
    const call = { address: registryAddress, abi: registryAbi, functionName: 'verify' } as const;
    return chain.client.readContract({ ...call, args: [account.address, proof, leaf] });
  }
});

/** With gas stated: an estimate would refuse the second deployment before it is tried. */
async function deploy({ client, accounts, mined }: Anvil) {
  const transaction = { to: deployerAddress, data: registryDeploymentData(), gas: 1_000_000n };
  return mined(await client.sendTransaction({ account: accounts[0], ...transaction }));
}

async function codeHash({ client }: Anvil): Promise<Hash> {
  return keccak256((await client.getCode({ address: registryAddress })) ?? '0x');
}

function someHash(name: string): Hash {
  return keccak256(stringToHex(name));
}
