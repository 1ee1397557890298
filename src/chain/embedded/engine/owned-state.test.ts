/** Whose rows code has: that of contracts is shared and stays, that of an account that delegates is its own and goes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getContractAddress, type Hex, keccak256, numberToHex } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { readCode } from './accounts.ts';
import { loadCrypto } from './crypto.ts';
import { createDeadline } from './deadline.ts';
import { buildBlock } from './execute.ts';
import { buildGenesis } from './genesis-block.ts';
import { contractCodeKey, delegationKey, ownerOf } from './node-keys.ts';
import { createNodeCache } from './nodes.ts';
import type { BlockResult } from './protocol.ts';
import { commonOf } from './rules.ts';
import { openState } from './state.ts';

const [payer, one, two] = [1, 2, 3].map((key) => privateKeyToAccount(numberToHex(key, { size: 32 }))) as [
  PrivateKeyAccount,
  PrivateKeyAccount,
  PrivateKeyAccount,
];
const chainId = 1_500_000_001;
const [first, second, nowhere] = [0xaaaa, 0xbbbb, 0].map((at) => numberToHex(at, { size: 20 })) as [
  Hex,
  Hex,
  Hex,
];
const codeTo = (target: Hex): Hex => `0xef0100${target.slice(2)}`;
const rowOf = ({ address }: PrivateKeyAccount, target: Hex) =>
  delegationKey(ownerOf(keccak256(address).slice(2)), keccak256(codeTo(target)).slice(2));

/** A chain whose replaced rows are gone at once, and which remembers nothing, so that each block reads what there is. */
async function startChain({ rememberedBytes = 0 } = {}) {
  const rows = new Map<string, Uint8Array>();
  let reads = 0;
  const needs = {
    common: commonOf(chainId, await loadCrypto()),
    cache: createNodeCache(rememberedBytes),
    readNode: async (key: Uint8Array) => {
      reads += 1;
      return rows.get(Buffer.from(key).toString('hex')) ?? null;
    },
    readBlockHash: async () => null,
    deadline: createDeadline(600_000),
  };
  let nonce = 0;
  const nonces = new Map<PrivateKeyAccount, number>();
  const alloc = { [payer.address]: { balance: numberToHex(10n ** 20n) } };
  let head = keep(await buildGenesis(JSON.stringify({ timestamp: '0x1', alloc }), needs));

  function keep(block: BlockResult): BlockResult {
    for (const [key, value] of block.changes.added) rows.set(Buffer.from(key).toString('hex'), value);
    for (const key of block.changes.replaced) rows.delete(Buffer.from(key).toString('hex'));
    return block;
  }
  async function pay(given: object): Promise<Hex> {
    const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1n, gas: 300_000n };
    const raw = await payer.signTransaction({ type: 'eip1559', chainId, nonce, ...fees, ...given });
    nonce += 1;
    return raw;
  }

  return {
    reads: () => reads,
    async delegate(account: PrivateKeyAccount, target: Hex): Promise<Hex> {
      const next = nonces.get(account) ?? 0;
      nonces.set(account, next + 1);
      const authorization = await account.signAuthorization({ chainId, address: target, nonce: next });
      return pay({ type: 'eip7702', to: payer.address, authorizationList: [authorization] });
    },
    async create(code: Hex): Promise<{ raw: Hex; address: Hex }> {
      const address = getContractAddress({ from: payer.address, nonce: BigInt(nonce) });
      const length = numberToHex((code.length - 2) / 2, { size: 1 }).slice(2);
      return {
        raw: await pay({ data: `0x60${length}600c60003960${length}6000f3${code.slice(2)}` }),
        address,
      };
    },
    /** Of the block: the keys of code. */
    async mine(...transactions: Hex[]) {
      const template = {
        parent: head,
        timestampSeconds: head.timestampSeconds + 1,
        transactions,
        exact: true,
      };
      const { block } = await buildBlock(template, needs);
      assert.ok(block.transactions.every(({ receipt }) => receipt.succeeded));
      head = keep(block);
      const codeOf = (keys: Uint8Array[]) =>
        keys.map((key) => Buffer.from(key).toString('hex')).filter((key) => [66, 98].includes(key.length));
      return {
        added: codeOf(block.changes.added.map(([key]) => key)).sort(),
        replaced: codeOf(block.changes.replaced).sort(),
      };
    },
    codeAt: async (address: Hex) => readCode(address, await openState(head.stateRoot, needs)),
  };
}

test('the code of an account that delegates goes with the delegation, and not with that of another account', async () => {
  const chain = await startChain();
  assert.deepEqual(await chain.mine(await chain.delegate(one, first), await chain.delegate(two, first)), {
    added: [rowOf(one, first), rowOf(two, first)].sort(),
    replaced: [],
  });
  assert.deepEqual(await chain.mine(await chain.delegate(one, second)), {
    added: [rowOf(one, second)],
    replaced: [rowOf(one, first)],
  });
  assert.equal(await chain.codeAt(one.address), codeTo(second));
  assert.equal(await chain.codeAt(two.address), codeTo(first));

  assert.deepEqual(await chain.mine(await chain.delegate(two, nowhere)), {
    added: [],
    replaced: [rowOf(two, first)],
  });
  assert.equal(await chain.codeAt(two.address), '0x');
  // It comes again, and is a row again.
  assert.deepEqual(await chain.mine(await chain.delegate(two, first)), {
    added: [rowOf(two, first)],
    replaced: [],
  });
  assert.equal(await chain.codeAt(two.address), codeTo(first));
});

test('a delegation that a block makes and takes back, or takes and makes again, changes no row', async () => {
  const chain = await startChain();
  const none = { added: [], replaced: [] };
  assert.deepEqual(
    await chain.mine(await chain.delegate(one, first), await chain.delegate(one, nowhere)),
    none,
  );
  assert.equal(await chain.codeAt(one.address), '0x');

  await chain.mine(await chain.delegate(one, first));
  const again = [await chain.delegate(one, second), await chain.delegate(one, first)];
  assert.deepEqual(await chain.mine(...again), none);
  assert.deepEqual(await chain.mine(await chain.delegate(one, first)), none);
  assert.equal(await chain.codeAt(one.address), codeTo(first));
});

test('contracts with equal code share a row, and the shortest code is not taken for an empty trie', async () => {
  const chain = await startChain();
  // The hash of this code is that of the empty trie.
  for (const code of ['0x5b00', '0x80'] as const) {
    const created = [await chain.create(code), await chain.create(code)] as const;
    assert.deepEqual(await chain.mine(...created.map(({ raw }) => raw)), {
      added: [contractCodeKey(keccak256(code).slice(2))],
      replaced: [],
    });
    await chain.mine();
    for (const { address } of created) assert.equal(await chain.codeAt(address), code);
  }
});

test('code that is remembered is not asked for, whichever its key', async () => {
  const chain = await startChain({ rememberedBytes: 2 ** 20 });
  const { raw, address } = await chain.create('0x5b00');
  await chain.mine(raw, await chain.delegate(one, first));
  const before = chain.reads();
  assert.equal(await chain.codeAt(address), '0x5b00');
  assert.equal(await chain.codeAt(one.address), codeTo(first));
  assert.equal(chain.reads(), before);
});
