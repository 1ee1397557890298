/** The list of known chains: hashes that can be computed are computed again, and ids compared with viem's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBlockHeader } from '@ethereumjs/block';
import { type ChainConfig, Common, Holesky, Hoodi, Mainnet, Sepolia } from '@ethereumjs/common';
import { getGenesis } from '@ethereumjs/genesis';
import { genesisMPTStateRoot } from '@ethereumjs/mpt';
import { type Hex, keccak256, numberToHex, toRlp, zeroAddress, zeroHash } from 'viem';
import * as chains from 'viem/chains';
import { emptyBloom, emptyRoot, noUncles } from '../../../test/support/chain/inclusion-fixtures.ts';
import { longOnly } from '../../../test/support/service/long.ts';
import { knownChain, knownChains } from './known-chains.ts';

test('each chain is listed once, with a hash and its source, and there are few', () => {
  assert.ok(knownChains.length <= 15);
  for (const field of ['chainId', 'name', 'genesisHash'] as const) {
    assert.equal(new Set(knownChains.map((chain) => chain[field])).size, knownChains.length, field);
  }
  for (const chain of knownChains) {
    assert.match(chain.genesisHash, /^0x[0-9a-f]{64}$/);
    assert.match(chain.source, /^computed from \S+ [\d.]+$|^[\w-]+\/[\w-]+ \S+\.\w+$/, chain.name);
    assert.equal(chain.finality, 'finalized');
    assert.equal(knownChain(chain.chainId), chain);
  }
  for (const chainId of [0, 2, 31_337, 1_500_000_000, Number.NaN, -1])
    assert.equal(knownChain(chainId), null);
});

test('ids, explorers and test networks are those that viem knows', () => {
  for (const { chainId, name, explorer, test: isTest } of knownChains) {
    const found = Object.values(chains).find(({ id }) => id === chainId) ?? assert.fail(name);
    // viem says "Polygon" and "Gnosis Chiado".
    assert.ok(found.name.includes(name) || name.includes(found.name), `${name}, ${found.name}`);
    assert.equal(found.blockExplorers?.default.url, explorer);
    assert.equal((found as { testnet?: boolean }).testnet ?? false, isTest);
  }
});

for (const chain of [Sepolia, Holesky, Hoodi, Mainnet]) {
  // The 8,893 accounts of Ethereum take five seconds.
  const skip = chain === Mainnet && longOnly;
  test(`the genesis hash of ${chain.name} follows from its accounts in @ethereumjs/genesis`, {
    skip,
  }, async () => {
    const known = knownChain(Number(chain.chainId));
    assert.equal(await computedHash(chain), known?.genesisHash);
    assert.match(known?.source ?? '', /@ethereumjs\/genesis/);
  });
}

async function computedHash(chain: ChainConfig): Promise<string> {
  const common = new Common({ chain });
  common.setHardforkBy({ blockNumber: 0n, timestamp: BigInt(chain.genesis.timestamp ?? 0) });
  const accounts = getGenesis(Number(chain.chainId)) ?? assert.fail(chain.name);
  const stateRoot = await genesisMPTStateRoot(accounts);
  const header = createBlockHeader({ ...common.genesis(), number: 0, stateRoot }, { common });
  return `0x${Buffer.from(header.hash()).toString('hex')}`;
}

interface GenesisHeader {
  miner?: Hex;
  stateRoot: Hex;
  difficulty: number;
  gasLimit: number;
  time: number;
  extraData?: Hex;
  /** What follows; usually mixHash and nonce. */
  rest?: Hex[];
}

const nonce: Hex = `0x${'00'.repeat(8)}`;

/** From the genesis files of these chains; only the state root is taken from there instead of computed. */
const headers: Record<string, GenesisHeader> = {
  Ethereum: {
    stateRoot: '0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544',
    ...{ difficulty: 17_179_869_184, gasLimit: 5_000, time: 0 },
    extraData: '0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa',
    rest: [zeroHash, '0x0000000000000042'],
  },
  Gnosis: {
    stateRoot: '0x40cf4430ecaa733787d1a65154a3b9efb560c95d9e324a23b97f0609b539133b',
    ...{ difficulty: 0x20000, gasLimit: 10_000_000, time: 0 },
    // Step and signature of its first consensus, AuRa.
    rest: ['0x', `0x${'00'.repeat(65)}`],
  },
  'OP Mainnet': {
    stateRoot: '0xeddb4c1786789419153a27c4c80ff44a2226b6eda04f7e22ce5bae892ea568eb',
    ...{ difficulty: 1, gasLimit: 15_000_000, time: 0 },
    extraData: `0x${'00'.repeat(32)}00000398232e2064f896018496b4b44b3d62751f${'00'.repeat(65)}`,
  },
  Base: {
    miner: '0x4200000000000000000000000000000000000011',
    stateRoot: '0xb2afcb88cd1d0ab228f0415d99b0fb90a18e8515daf5eb31f55b5c4697e18328',
    ...{ difficulty: 0, gasLimit: 30_000_000, time: 1_686_789_347 },
    // In ASCII: all your base are belong to you.
    extraData: '0x616c6c20796f75722062617365206172652062656c6f6e6720746f20796f752e',
    rest: [zeroHash, nonce, numberToHex(1_000_000_000)],
  },
  'Polygon PoS': {
    stateRoot: '0x654f28d19b44239d1012f27038f1f71b3d4465dc415a382fb2b7009cba1527c8',
    ...{ difficulty: 1, gasLimit: 10_000_000, time: 1_590_824_836 },
  },
};

test('the genesis hashes of five chains are those of their genesis headers', () => {
  for (const [name, header] of Object.entries(headers)) {
    const known = knownChains.find((chain) => chain.name === name);
    assert.equal(hashOf(header), known?.genesisHash, name);
  }
});

function hashOf({ miner, stateRoot, difficulty, gasLimit, time, extraData, rest }: GenesisHeader): Hex {
  const quantity = (value: number): Hex => {
    const digits = value.toString(16);
    return value === 0 ? '0x' : `0x${digits.length % 2 === 1 ? '0' : ''}${digits}`;
  };
  return keccak256(
    toRlp([
      ...[zeroHash, noUncles, miner ?? zeroAddress, stateRoot, emptyRoot, emptyRoot, emptyBloom],
      ...[quantity(difficulty), quantity(0), quantity(gasLimit), quantity(0), quantity(time)],
      ...[extraData ?? '0x', ...(rest ?? [zeroHash, nonce])],
    ] as Hex[]),
  );
}
