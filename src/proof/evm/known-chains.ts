/**
 * The public chains whose clock a verifier accepts without being told to: each with the hash of its block 0, because an id
 * alone can be taken by anybody's private chain. A hash without a source is not listed. The comment of a chain says what
 * the time of its blocks means, and who could set it wrong.
 */
import type { Hex } from 'viem';

/** A block is final when the chain's `finalized` block has reached it, or when it is this many blocks below the head. */
export type Finality = 'finalized' | number;

export interface KnownChain {
  chainId: number;
  name: string;
  /** The hash of block 0. */
  genesisHash: Hex;
  /** Where the hash comes from: a repository and a path in it, or a package. A test recomputes those that it can. */
  source: string;
  /** On a rollup, its own `finalized` block: the newest that follows from final blocks of the chain below. */
  finality: Finality;
  /** A block is at `/block/NUMBER` below it, a transaction at `/tx/HASH`. */
  explorer: string;
  /** A test network: it may end, be reset, or have few operators. Its clock counts only if a trust file names it. */
  test: boolean;
}

const main = { finality: 'finalized', test: false } as const;
const test = { finality: 'finalized', test: true } as const;

export const knownChains: readonly KnownChain[] = [
  // The time of the slot, every 12 s since the start: a proposer cannot choose it, and validators vote within the slot.
  {
    chainId: 1,
    name: 'Ethereum',
    genesisHash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
    source: 'computed from @ethereumjs/genesis 10.1.3',
    explorer: 'https://etherscan.io',
    ...main,
  },
  // As on Ethereum, with slots of 5 s.
  {
    chainId: 100,
    name: 'Gnosis',
    genesisHash: '0x4f1dd23188aab3a76b463e4af801b52b1248ef073c648cbdc4c9333d3da79756',
    source: 'NethermindEth/nethermind src/Nethermind/Nethermind.Specs/KnownHashes.cs',
    explorer: 'https://gnosisscan.io',
    ...main,
  },
  // 2 s after the block before, and not before the Ethereum block that it names; up to 30 min ahead of that. Its one
  // sequencer may publish a block up to 12 h (3,600 blocks of Ethereum) late.
  {
    chainId: 10,
    name: 'OP Mainnet',
    genesisHash: '0x7ca38a1916c42007829c55e69d3e9a73265554b586a499015373241b8a3fa48b',
    source: 'ethereum-optimism/op-geth core/superchain.go',
    explorer: 'https://optimistic.etherscan.io',
    ...main,
  },
  // As on OP Mainnet, with a sequencer of its own.
  {
    chainId: 8_453,
    name: 'Base',
    genesisHash: '0xf712aa9241cc24369b143cf6dce85f0902a9731e70d66818a3a5845b296c73dd',
    source: 'ethereum-optimism/superchain-registry superchain/configs/mainnet/base.toml',
    explorer: 'https://basescan.org',
    ...main,
  },
  // The clock of its one sequencer, which contracts on Ethereum keep between 24 h too early and 1 h too late.
  {
    chainId: 42_161,
    name: 'Arbitrum One',
    genesisHash: '0x7ee576b35482195fc49205cec9af72ce14f003b9ae69f6ba0faef4514be8b442',
    source: 'graphprotocol/networks-registry registry/eip155/arbitrum-one.json',
    explorer: 'https://arbiscan.io',
    ...main,
  },
  // The clock of the block's producer, at least 1 to 2 s after the block before; two thirds of the validators' stake vote
  // for milestones every few blocks, which make `finalized` (PIP-11).
  {
    chainId: 137,
    name: 'Polygon PoS',
    genesisHash: '0xa9c28ce2141b56c474f1dc504bee9b01eb1bd7d1a507580d5519d4437a97de1b',
    source: 'maticnetwork/bor params/config.go',
    explorer: 'https://polygonscan.com',
    ...main,
  },
  // The time of the slot, as on Ethereum; its validators are a closed group of client and testing teams.
  {
    chainId: 11_155_111,
    name: 'Sepolia',
    genesisHash: '0x25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9',
    source: 'computed from @ethereumjs/genesis 10.1.3',
    explorer: 'https://sepolia.etherscan.io',
    ...test,
  },
  // The time of the slot, as on Ethereum, but its stake has no value.
  {
    chainId: 560_048,
    name: 'Hoodi',
    genesisHash: '0xbbe312868b376a3001692a646dd2d7d1e4406380dfd86b98aa8a34d1557c971b',
    source: 'computed from @ethereumjs/genesis 10.1.3',
    explorer: 'https://hoodi.etherscan.io',
    ...test,
  },
  // As Hoodi, which replaced it.
  {
    chainId: 17_000,
    name: 'Holesky',
    genesisHash: '0xb5f7f912443c940f21fd611f12828d75b534364ed9e95ca4e307729a4661bde4',
    source: 'computed from @ethereumjs/genesis 10.1.3',
    explorer: 'https://holesky.etherscan.io',
    ...test,
  },
  // The time of the slot, as on Gnosis, but its stake has no value.
  {
    chainId: 10_200,
    name: 'Chiado',
    genesisHash: '0xada44fd8d2ecab8b08f256af07ad3e777f17fb434f8f8e678b312f576212ba9a',
    source: 'NethermindEth/nethermind src/Nethermind/Nethermind.Specs/KnownHashes.cs',
    explorer: 'https://blockscout.chiadochain.net',
    ...test,
  },
  // As on OP Mainnet, above Sepolia.
  {
    chainId: 11_155_420,
    name: 'OP Sepolia',
    genesisHash: '0x102de6ffb001480cc9b8b548fd05c34cd4f46ae4aa91759393db90ea0409887d',
    source: 'ethereum-optimism/superchain-registry superchain/configs/sepolia/op.toml',
    explorer: 'https://optimism-sepolia.blockscout.com',
    ...test,
  },
  // As on OP Mainnet, above Sepolia, with a sequencer of its own.
  {
    chainId: 84_532,
    name: 'Base Sepolia',
    genesisHash: '0x0dcc9e089e30b90ddfc55be9a37dd15bc551aeee999d2e2b51414c54eaf934e4',
    source: 'ethereum-optimism/superchain-registry superchain/configs/sepolia/base.toml',
    explorer: 'https://sepolia.basescan.org',
    ...test,
  },
  // As on Arbitrum One, above Sepolia.
  {
    chainId: 421_614,
    name: 'Arbitrum Sepolia',
    genesisHash: '0x77194da4010e549a7028a9c3c51c3e277823be6ac7d138d0bb8a70197b5c004c',
    source: 'graphprotocol/networks-registry registry/eip155/arbitrum-sepolia.json',
    explorer: 'https://sepolia.arbiscan.io',
    ...test,
  },
];

/** Null for a chain that is not listed. The id alone says nothing: compare the hash of block 0 too. */
export function knownChain(chainId: number): KnownChain | null {
  return knownChains.find((chain) => chain.chainId === chainId) ?? null;
}
