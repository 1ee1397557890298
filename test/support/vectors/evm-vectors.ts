/** Which chain, which registry, which block: what a trust file or a node says about an anchor on a chain. */
import type { Hex } from 'viem';
import { knownChain } from '../../../src/proof/evm/known-chains.ts';
import type { EvmAnchor, Proof } from '../../../src/proof/verify/proof.ts';
import { anchorOf, type BlockPlace, fixed } from '../fixtures/proof-fixture.ts';
import { type BaseThing, blocksOf, evmOf, firstBlock, firstTime, givenWith } from './base-batches.ts';
import { changed } from './changed.ts';
import { anchoredBy } from './good-vectors.ts';
import { type NodeChanges, nodeOf } from './recorded-node.ts';
import { expect, type NamedVector, type Outcome, type TrustFile, trustOf } from './vector.ts';

export const holds: Outcome = { time: firstTime };
export const skipsChain: Outcome = { skip: ['chain', 'finality', 'time'], time: null };
export const skipsFinality: Outcome = { skip: ['finality', 'time'], time: null };
export const skipsTime: Outcome = { skip: ['time'], time: null };
export const failsChain: Outcome = { fail: ['chain'], skip: ['finality', 'time'], time: null };
const skipsAll: Outcome = { skip: ['registry', 'chain', 'finality', 'time'], time: null };
const failsRegistry: Outcome = { fail: ['registry'], skip: ['chain', 'finality', 'time'], time: null };

interface Case {
  proof?: Proof;
  trust?: TrustFile | null;
  node?: NodeChanges | null;
  at?: string;
  registry?: Hex;
}

export type Row = [name: string, about: string, outcome: Outcome, given: Case];

/** A proof, the trust file and the node; by default all of them fit, and the block is not in the trust file. */
export function vectorsOf(prefix: string, file: BaseThing, rows: Row[]): NamedVector[] {
  return rows.map(([name, about, outcome, { proof = file.proof, trust = null, node = null, ...more }]) => ({
    name: `${prefix}-${name}`,
    about,
    ...{ ...givenWith(file, proof), trust, ...more },
    rpc: node === null ? null : nodeOf(evmOf(proof), proof.merkle, node),
    expected: expect(proof, outcome),
  }));
}

export async function evmVectors(file: BaseThing): Promise<NamedVector[]> {
  return [
    ...vectorsOf('evm', file, trustRows(file.proof)),
    ...vectorsOf('evm', file, registryRows(file.proof)),
    ...vectorsOf('chain', file, await chainRows(file.proof)),
    ...vectorsOf('chain', file, await namedRows(file.proof)),
  ];
}

function trustRows(proof: Proof): Row[] {
  const evm = evmOf(proof);
  const [block] = blocksOf([evm]) as [ReturnType<typeof blocksOf>[number]];
  const bare = anchoredBy(proof, { ...evm, inclusion: null });
  const other = { ...block, hash: fixed(0x99) };
  return [
    [
      'offline-untrusted',
      'Header and receipt fit, but nobody says whether the chain has that block.',
      skipsChain,
      {},
    ],
    [
      'trusted-hash-differs',
      'The trust file has another hash for the block.',
      failsChain,
      { trust: trustOf({ blocks: [other] }) },
    ],
    [
      'trusted-hash-differs-from-node',
      'The trust file has another hash for the block than the document and the node.',
      failsChain,
      { trust: trustOf({ blocks: [other] }), node: {} },
    ],
    [
      'trusted-hash-among-others',
      'The trust file has two hashes for the block, one of which is right.',
      holds,
      { trust: trustOf({ blocks: [other, block] }) },
    ],
    [
      'trusted-hash-of-another-number',
      'The trust file has the hash, but for another number.',
      skipsChain,
      { trust: trustOf({ blocks: [{ ...block, number: block.number + 1 }] }) },
    ],
    [
      'trusted-hash-of-another-chain',
      'The trust file has the hash, but for another chain.',
      skipsChain,
      { trust: trustOf({ blocks: [{ ...block, chainId: 100 }] }) },
    ],
    [
      'trusted-block-without-inclusion',
      'The block is trusted, but without header and receipt nobody knows what is in it.',
      skipsChain,
      { proof: bare, trust: trustOf({ blocks: [block] }) },
    ],
    [
      'trusted-block-without-inclusion-by-node',
      'A node says what is in the trusted block, although it does not say that it is final.',
      holds,
      { proof: bare, trust: trustOf({ blocks: [block] }), node: { finalized: null } },
    ],
    [
      'judged-before-the-block',
      'One second before the block it did not exist.',
      skipsAll,
      { trust: trustOf({ blocks: [block] }), at: '2026-11-15T02:19:29Z' },
    ],
    [
      'judged-before-the-block-by-a-millisecond',
      'One millisecond before the block it did not exist.',
      skipsAll,
      { trust: trustOf({ blocks: [block] }), at: '2026-11-15T02:19:29.999Z' },
    ],
    [
      'judged-at-the-block',
      'At the time of the block it existed.',
      holds,
      { trust: trustOf({ blocks: [block] }), at: firstTime },
    ],
    [
      'judged-before-a-wrong-block',
      'A block that is later than the time of judgement is not looked at.',
      skipsAll,
      {
        proof: changed(proof, 'anchors[0].blockTime', evm.blockTime + 31_536_000),
        trust: trustOf({ blocks: [block] }),
      },
    ],
  ];
}

function registryRows(proof: Proof): Row[] {
  const own: Hex = `0x${'a7'.repeat(20)}`;
  const trust = trustOf({ blocks: blocksOf(proof.anchors) });
  const bare = anchoredBy(proof, { ...evmOf(proof), inclusion: null, contract: own });
  const other = anchoredBy(proof, { ...evmOf(proof), contract: own });
  return [
    [
      'registry-differs',
      'The document names another contract than the registry.',
      failsRegistry,
      { proof: other, trust },
    ],
    [
      'registry-differs-by-node',
      'The document names another contract, which has the code of the registry.',
      failsRegistry,
      { proof: bare, node: {} },
    ],
    [
      'registry-named',
      'The person who verifies names another registry, whose code is right.',
      holds,
      { proof: bare, registry: own, node: {} },
    ],
    [
      'registry-named-but-usual',
      'The person who verifies names another registry than the document, which has the usual one.',
      failsRegistry,
      { registry: own, trust },
    ],
    [
      'registry-named-without-node',
      'Without a node nobody knows the code at that address.',
      skipsAll,
      { proof: bare, registry: own, trust },
    ],
    [
      'registry-named-on-another-chain',
      'The code is right, but on another chain.',
      skipsAll,
      { proof: bare, registry: own, node: { chainId: 100 } },
    ],
    [
      'registry-named-on-a-private-chain',
      'The code is wrong, but on a private chain with the id of Ethereum.',
      skipsAll,
      { proof: bare, registry: own, node: { genesisHash: fixed(0x99), code: '0x' } },
    ],
    [
      'registry-named-on-a-development-node',
      'The code is wrong, but on a node for development.',
      skipsAll,
      { proof: bare, registry: own, node: { client: 'anvil/v1.0.0', code: '0x6001600101' } },
    ],
    [
      'registry-named-other-code',
      'There is other code at that address.',
      failsRegistry,
      { proof: bare, registry: own, node: { code: '0x6001600101' } },
    ],
    [
      'registry-named-no-code',
      'There is no code at that address.',
      failsRegistry,
      { proof: bare, registry: own, node: { code: '0x' } },
    ],
  ];
}

async function on(
  proof: Proof,
  place: Partial<BlockPlace>,
  changes: Partial<EvmAnchor> = {},
): Promise<Proof> {
  return anchoredBy(proof, { ...(await anchorOf(proof.merkle, { ...firstBlock, ...place })), ...changes });
}

/** Chains that everybody knows, and chains that nobody knows. */
async function chainRows(proof: Proof): Promise<Row[]> {
  const known: Row[] = await Promise.all(
    [100, 10, 8_453, 42_161, 137].map(async (chainId): Promise<Row> => {
      const name = `known-${chainId}`;
      return [
        name,
        `A node of ${knownChain(chainId)?.name}.`,
        holds,
        { proof: await on(proof, { chainId }), node: {} },
      ];
    }),
  );
  const tests: Row[] = await Promise.all(
    [11_155_111, 560_048, 17_000, 10_200, 11_155_420, 84_532, 421_614].map(async (chainId): Promise<Row> => {
      const about = `${knownChain(chainId)?.name} is a test network: everything passes, but its clock is no evidence.`;
      return [`test-network-${chainId}`, about, skipsTime, { proof: await on(proof, { chainId }), node: {} }];
    }),
  );
  const nobodys = await on(proof, { chainId: 424_242 });
  const sepolia = await on(proof, { chainId: 11_155_111 });
  return [
    ...known,
    ...tests,
    [
      'test-network-by-trusted-block',
      'A block of a test network is in the trust file: that makes it no evidence.',
      skipsTime,
      { proof: sepolia, trust: trustOf({ blocks: blocksOf(sepolia.anchors) }) },
    ],
    [
      'private-with-a-public-id',
      'The node has the id of Ethereum, but another first block.',
      skipsChain,
      { node: { genesisHash: fixed(0x66) } },
    ],
    [
      'unknown-by-node',
      'A chain that nobody knows: its operator may set its clock.',
      skipsFinality,
      { proof: nobodys, node: {} },
    ],
    [
      'unknown-by-trusted-block',
      'A block of a chain that nobody knows is in the trust file, but the chain is not.',
      skipsTime,
      { proof: nobodys, trust: trustOf({ blocks: blocksOf(nobodys.anchors) }) },
    ],
    ['node-of-another', 'The node belongs to another chain.', skipsChain, { node: { chainId: 100 } }],
    ...['Anvil/v1.2.3', 'HardhatNetwork/2.22', 'Ganache/v7', 'EthereumJS TestRPC/v2'].map(
      (client): Row => [
        `development-node-${client.replace(/\W.*/, '').toLowerCase()}`,
        'A node for development imitates Ethereum, with its id and its first block.',
        skipsChain,
        { node: { client } },
      ],
    ),
  ];
}

/** Chains that the trust file names. */
async function namedRows(proof: Proof): Promise<Row[]> {
  const chainId = 424_242;
  const genesisHash = fixed(0x01);
  const own = await on(proof, { chainId });
  const { blockNumber } = evmOf(own);
  const names = (finality: 'finalized' | number) => trustOf({ chains: [{ chainId, genesisHash, finality }] });
  const sepolia = await on(proof, { chainId: 11_155_111 });
  const [real, fake] = [knownChain(1)?.genesisHash ?? '0x', fixed(0x66)] as [Hex, Hex];
  const instead = trustOf({ chains: [{ chainId: 1, genesisHash: fake, finality: 12 }] });
  const both = trustOf({
    chains: [
      { chainId, genesisHash: fixed(0x02), finality: 10 },
      { chainId, genesisHash, finality: 1_000 },
    ],
  });
  return [
    [
      'named-by-tag',
      'A private chain that the trust file names.',
      holds,
      { proof: own, trust: names('finalized'), node: {} },
    ],
    [
      'named-by-depth',
      'A private chain whose blocks are final twelve blocks below the head.',
      holds,
      { proof: own, trust: names(12), node: { head: blockNumber + 12, finalized: null } },
    ],
    [
      'named-by-depth-not-yet',
      'Eleven blocks below the head, but twelve are wanted.',
      skipsFinality,
      { proof: own, trust: names(12), node: { head: blockNumber + 11, finalized: blockNumber } },
    ],
    [
      'named-by-the-largest-depth',
      'A million blocks below the head, which is the most that can be asked for.',
      holds,
      { proof: own, trust: names(1_000_000), node: { head: blockNumber + 1_000_000, finalized: null } },
    ],
    [
      'named-at-the-head',
      'Every block is final at once.',
      holds,
      { proof: own, trust: names(0), node: { head: blockNumber, finalized: null } },
    ],
    [
      'named-other-genesis',
      'The node has another first block than the trust file says.',
      skipsChain,
      { proof: own, trust: names('finalized'), node: { genesisHash: fixed(0x02) } },
    ],
    [
      'named-by-a-development-node',
      'Whoever names a chain may run it on a node for development.',
      holds,
      { proof: own, trust: names('finalized'), node: { client: 'anvil/v1.2.3' } },
    ],
    [
      'named-and-known-by-a-development-node',
      'Whoever names Ethereum itself may run it on a node for development.',
      holds,
      {
        trust: trustOf({ chains: [{ chainId: 1, genesisHash: real, finality: 'finalized' }] }),
        node: { client: 'anvil/v1.2.3' },
      },
    ],
    [
      'named-by-trusted-block',
      'A chain and a block of it are in the trust file: no node is needed.',
      holds,
      { proof: own, trust: { ...names('finalized'), blocks: blocksOf(own.anchors) } },
    ],
    [
      'named-twice',
      'Two first blocks for one id: either counts, and the finality is that of the entry that comes first.',
      holds,
      { proof: own, trust: both, node: { head: blockNumber + 10, finalized: null } },
    ],
    [
      'named-test-network',
      'A test network counts if the trust file names it.',
      holds,
      {
        proof: sepolia,
        trust: trustOf({
          chains: [
            {
              chainId: 11_155_111,
              genesisHash: knownChain(11_155_111)?.genesisHash ?? '0x',
              finality: 'finalized',
            },
          ],
        }),
        node: {},
      },
    ],
    [
      'named-instead-of-a-known-one',
      'The trust file names another chain with the id of Ethereum.',
      holds,
      { trust: instead, node: { genesisHash: fake } },
    ],
    [
      'named-instead-of-a-known-one-but-known',
      'The trust file names another chain with the id of Ethereum, and the node is of Ethereum.',
      skipsChain,
      { trust: instead, node: { genesisHash: real } },
    ],
    [
      'named-another',
      'The trust file names a chain, but not this one.',
      skipsFinality,
      { proof: await on(proof, { chainId: 424_243 }), trust: names('finalized'), node: {} },
    ],
  ];
}
