/** What a node says about an anchor: where it agrees, where it contradicts, and where it only does not know. */
import { type Hex, numberToHex } from 'viem';
import { knownChain } from '../../../src/proof/evm/known-chains.ts';
import type { Proof } from '../../../src/proof/verify/proof.ts';
import { anchorLog } from '../chain/inclusion-fixtures.ts';
import { fixed } from '../fixtures/proof-fixture.ts';
import { type BaseThing, evmOf } from './base-batches.ts';
import { changed } from './changed.ts';
import { failsChain, holds, type Row, skipsChain, skipsFinality, vectorsOf } from './evm-vectors.ts';
import { anchoredBy } from './good-vectors.ts';
import type { NodeChanges } from './recorded-node.ts';
import { type NamedVector, trustOf } from './vector.ts';

const capitals = (hex: Hex): Hex => `0x${hex.slice(2).toUpperCase()}`;

export function nodeVectors(file: BaseThing): NamedVector[] {
  const { proof } = file;
  const bare = anchoredBy(proof, { ...evmOf(proof), inclusion: null });
  return vectorsOf('node', file, [
    ...blockRows(proof, bare),
    ...receiptRows(proof, bare),
    ...finalityRows(proof),
  ]);
}

function blockRows(proof: Proof, bare: Proof): Row[] {
  const { blockNumber, blockTime, blockHash } = evmOf(proof);
  const genesisHash = knownChain(1)?.genesisHash ?? fixed(0);
  const behind = { block: null, head: blockNumber - 1, receipt: null };
  return [
    ['lagging', 'The node has not reached the block.', skipsChain, { node: behind }],
    [
      'lagging-without-inclusion',
      'The node has not reached the block, and so does not have the transaction.',
      skipsChain,
      { proof: bare, node: behind },
    ],
    [
      'pruned',
      'The node no longer has the block, which is far below its head.',
      skipsChain,
      { node: { block: null } },
    ],
    [
      'pruned-without-inclusion',
      'The node no longer has the block and the receipt.',
      skipsChain,
      { proof: bare, node: { block: null, receipt: null } },
    ],
    [
      'answers-in-capitals',
      'The node writes hex in capitals.',
      holds,
      { node: { block: { hash: capitals(blockHash) }, genesisHash: capitals(genesisHash) } },
    ],
    [
      'answer-malformed',
      'The node says the time in another form.',
      skipsChain,
      { node: { block: { timestamp: blockTime } } },
    ],
    [
      'other-block',
      'The chain has another block there.',
      failsChain,
      { node: { block: { hash: fixed(0x99) } } },
    ],
    [
      'other-block-without-inclusion',
      'The chain has another block there.',
      failsChain,
      { proof: bare, node: { block: { hash: fixed(0x99) } } },
    ],
    [
      'other-time',
      'The block has another time than the document says.',
      failsChain,
      { proof: bare, node: { block: { timestamp: numberToHex(blockTime + 1) } } },
    ],
    [
      'other-time-in-document',
      'The document says another time than the block has.',
      failsChain,
      {
        proof: changed(bare, 'anchors[0].blockTime', blockTime - 1),
        node: { block: { timestamp: numberToHex(blockTime) } },
      },
    ],
    [
      'other-transaction-at-the-index',
      'The block has another transaction at that place.',
      failsChain,
      { node: { block: { transactions: [fixed(0x99), evmOf(proof).transactionHash] } } },
    ],
    [
      'other-transaction-in-document',
      'The document names another transaction than the one at that place.',
      failsChain,
      {
        proof: changed(proof, 'anchors[0].transactionHash', fixed(0x99)),
        node: { block: { transactions: [evmOf(proof).transactionHash] } },
      },
    ],
    ['no-transactions', 'The block is empty.', failsChain, { node: { block: { transactions: [] } } }],
    [
      'transaction-not-in-the-block',
      'Without inclusion: the block does not have the transaction, and the node has no receipt of it.',
      failsChain,
      { proof: bare, node: { block: { transactions: [fixed(0x99)] }, receipt: null } },
    ],
  ];
}

function receiptRows(proof: Proof, bare: Proof): Row[] {
  const { contract, submitter, blockNumber } = evmOf(proof);
  const { root, size } = proof.merkle;
  const anchored = { registry: contract, submitter, root, size };
  const log = anchorLog(anchored);
  const stranger = `0x${'99'.repeat(20)}` as const;
  const logs = (...all: unknown[]): NodeChanges => ({ receipt: { logs: all } });
  const rows: [name: string, about: string, node: NodeChanges][] = [
    ['reverted', 'The transaction was reverted.', { receipt: { status: '0x0' } }],
    ['in-another-block', 'The transaction is in another block.', { receipt: { blockHash: fixed(0x99) } }],
    [
      'in-a-block-of-another-number',
      'The transaction is in a block of another number.',
      { receipt: { blockNumber: numberToHex(blockNumber + 1) } },
    ],
    ['without-logs', 'The transaction logged nothing.', logs()],
    ['log-of-another-contract', 'Another contract logged it.', logs({ ...log, address: stranger })],
    [
      'log-of-another-submitter',
      'Somebody else anchored the root.',
      logs(anchorLog({ ...anchored, submitter: stranger })),
    ],
    [
      'log-of-another-root',
      'Another root was anchored.',
      logs(anchorLog({ ...anchored, root: fixed(0x99) })),
    ],
    ['log-of-another-size', 'Another size was anchored.', logs(anchorLog({ ...anchored, size: size + 1 }))],
    [
      'log-of-another-event',
      'Another event has the same values.',
      logs({ ...log, topics: [fixed(0x99), ...log.topics.slice(1)] }),
    ],
    [
      'log-of-submitter-with-more',
      'The submitter has something before its address.',
      logs({ ...log, topics: log.topics.with(1, `0x99${log.topics[1]?.slice(4)}`) }),
    ],
    [
      'log-with-more-topics',
      'An event with a topic more.',
      logs({ ...log, topics: [...log.topics, fixed(1)] }),
    ],
    [
      'log-of-size-of-one-byte',
      'The size has one byte.',
      logs({ ...log, data: numberToHex(size, { size: 1 }) }),
    ],
    ['log-with-fewer-topics', 'An event without the root.', logs({ ...log, topics: log.topics.slice(0, 2) })],
  ];
  return [
    ...rows.map(([name, about, node]): Row => [`receipt-${name}`, about, failsChain, { proof: bare, node }]),
    [
      'receipt-missing',
      'The node has the block with the transaction, but no longer its receipt.',
      skipsChain,
      { proof: bare, node: { receipt: null } },
    ],
    [
      'receipt-with-other-logs',
      'The anchor is one of several logs.',
      holds,
      { proof: bare, node: logs({ ...log, address: stranger }, { ...log, topics: [] }, log) },
    ],
  ];
}

function finalityRows(proof: Proof): Row[] {
  const { chainId, blockNumber, blockHash } = evmOf(proof);
  const block = { chainId, number: blockNumber, hash: blockHash };
  const node = { finalized: blockNumber - 1 };
  return [
    [
      'not-final-but-on-another-chain',
      'The block before it is final, and the trust file has the hash, but for another chain.',
      skipsFinality,
      { node, trust: trustOf({ blocks: [{ ...block, chainId: 100 }] }) },
    ],
    [
      'not-final-but-the-next',
      'The block before it is final, and the trust file has the next one.',
      skipsFinality,
      { node, trust: trustOf({ blocks: [{ ...block, number: blockNumber + 1, hash: fixed(0x99) }] }) },
    ],
    ['not-final', 'The block before it is final.', skipsFinality, { node }],
    ['just-final', 'The block itself is the last final one.', holds, { node: { finalized: blockNumber } }],
    [
      'finality-unknown',
      'The node does not say which block is final.',
      skipsFinality,
      { node: { finalized: null } },
    ],
  ];
}
