/** Answers of a node in another form than that of JSON-RPC, and answers of nothing: they contradict no proof. */
import type { Hex } from 'viem';
import { knownChain } from '../../../src/proof/evm/known-chains.ts';
import type { EvmAnchor } from '../../../src/proof/verify/proof.ts';
import { anchorLog } from '../chain/inclusion-fixtures.ts';
import { fixed } from '../fixtures/proof-fixture.ts';
import { type BaseThing, evmOf, givenWith } from './base-batches.ts';
import { failsChain, holds, skipsChain, skipsFinality } from './evm-vectors.ts';
import { anchoredBy } from './good-vectors.ts';
import { nodeOf } from './recorded-node.ts';
import { expect, type NamedVector, type Outcome, trustOf } from './vector.ts';

const first = 'eth_getBlockByNumber ["0x0",false]';
const finalized = 'eth_getBlockByNumber ["finalized",false]';
const latest = 'eth_getBlockByNumber ["latest",false]';
const client = 'web3_clientVersion []';
const chainId = 'eth_chainId []';

/** What the node answers instead. */
type Row = [name: string, about: string, outcome: Outcome, call: string, change: (answer: never) => unknown];

type Block = { hash: Hex; number: Hex; transactions: Hex[] };

export function nodeFormVectors(file: BaseThing): NamedVector[] {
  const { proof } = file;
  const evm = evmOf(proof);
  const bare = { ...evm, inclusion: null };
  const block = `eth_getBlockByNumber ["0x${evm.blockNumber.toString(16)}",false]`;
  const receipt = `eth_getTransactionReceipt ["${evm.transactionHash}"]`;
  const log = anchorLog({ registry: evm.contract, submitter: evm.submitter, ...proof.merkle });
  const withLog = (changes: object) => (answer: object) => ({ ...answer, logs: [{ ...log, ...changes }] });
  const vector = (anchor: EvmAnchor, [name, about, outcome, call, change]: Row): NamedVector => {
    const answers = nodeOf(anchor, proof.merkle);
    if (!Object.hasOwn(answers, call)) throw new Error(`nobody asks ${call}`);
    const given = anchoredBy(proof, anchor);
    return {
      name: `node-${name}`,
      about,
      ...{ ...givenWith(file, given), trust: null },
      rpc: { ...answers, [call]: change(answers[call] as never) },
      expected: expect(given, outcome),
    };
  };
  const rows: Row[] = [
    ['without-block-0', 'The node does not have block 0.', skipsChain, first, () => null],
    ['chain-id-a-number', 'The id of the chain is a number.', skipsChain, chainId, () => 1],
    ['chain-id-empty', 'The id of the chain is 0x.', skipsChain, chainId, () => '0x'],
    ['chain-id-in-decimal', 'The id of the chain is a text without 0x.', skipsChain, chainId, () => '1'],
    [
      'client-an-object',
      'The name of the client is an object.',
      skipsChain,
      client,
      () => ({ name: 'Geth' }),
    ],
    ['block-0-a-text', 'Block 0 is a text.', skipsChain, first, ({ hash }: Block) => hash],
    ['block-a-text', 'The block is a text.', skipsChain, block, ({ hash }: Block) => hash],
    ['block-a-list', 'The block is a list.', skipsChain, block, (answer: Block) => [answer]],
    ['block-without-hash', 'The block has no hash.', skipsChain, block, without('hash')],
    [
      'block-without-transactions',
      'The block has no transactions.',
      skipsChain,
      block,
      without('transactions'),
    ],
    [
      'block-hash-of-an-odd-length',
      'The hash of the block has half a byte.',
      skipsChain,
      block,
      ({ hash, ...answer }: Block) => ({ ...answer, hash: hash.slice(0, -1) }),
    ],
    [
      'block-transactions-an-object',
      'The transactions of the block are an object.',
      skipsChain,
      block,
      ({ transactions, ...answer }: Block) => ({ ...answer, transactions: { ...transactions } }),
    ],
    [
      'block-transactions-in-full',
      'The transactions of the block are objects.',
      skipsChain,
      block,
      ({ transactions, ...answer }: Block) => ({
        ...answer,
        transactions: transactions.map((hash) => ({ hash })),
      }),
    ],
    ['finalized-a-text', 'The final block is a text.', skipsFinality, finalized, () => 'yes'],
    [
      'finalized-number-a-number',
      'The number of the final block is a number.',
      skipsFinality,
      finalized,
      ({ number, ...answer }: Block) => ({ ...answer, number: Number(number) }),
    ],
    ['client-empty', 'The name of the client is empty.', skipsChain, client, () => ''],
    ['chain-id-with-a-capital-x', 'The id of the chain begins with 0X.', skipsChain, chainId, () => '0X1'],
    [
      'chain-id-of-15-digits',
      'The id of the chain has fifteen digits.',
      skipsChain,
      chainId,
      () => '0x000000000000001',
    ],
    ['block-0-without-number', 'Block 0 has no number.', skipsChain, first, without('number')],
    ['block-0-without-time', 'Block 0 has no time.', skipsChain, first, without('timestamp')],
    [
      'block-0-without-transactions',
      'Block 0 has no transactions.',
      skipsChain,
      first,
      without('transactions'),
    ],
    [
      'block-0-with-other-transactions',
      'The transactions of block 0 are not hashes, which nobody needs.',
      holds,
      first,
      (answer: Block) => ({ ...answer, transactions: [1] }),
    ],
    [
      'block-hash-of-31-bytes',
      'The hash of the block has 31 bytes.',
      skipsChain,
      block,
      ({ hash, ...answer }: Block) => ({ ...answer, hash: hash.slice(0, -2) }),
    ],
    [
      'block-transaction-of-31-bytes',
      'Beside the transaction, the block has one whose hash has 31 bytes.',
      skipsChain,
      block,
      ({ transactions, ...answer }: Block) => ({
        ...answer,
        transactions: [...transactions, fixed(1).slice(0, -2)],
      }),
    ],
    [
      'block-time-2-53',
      'The time of the block is 2^53.',
      skipsChain,
      block,
      (answer: Block) => ({ ...answer, timestamp: '0x20000000000000' }),
    ],
    [
      'block-time-largest',
      'The time of the block is 2^53 - 1, another one than the document says.',
      failsChain,
      block,
      (answer: Block) => ({ ...answer, timestamp: '0x1fffffffffffff' }),
    ],
    [
      'finalized-hash-of-31-bytes',
      'The hash of the final block has 31 bytes.',
      skipsFinality,
      finalized,
      ({ hash, ...answer }: Block) => ({ ...answer, hash: hash.slice(0, -2) }),
    ],
    ['latest-a-text', 'The newest block is a text, but nobody needs it.', holds, latest, () => 'yes'],
    ['quantity-with-zeros', 'The id of the chain has zeros before it.', holds, chainId, () => '0x01'],
  ];
  const bareRows: Row[] = [
    ['receipt-a-text', 'The receipt is a text.', skipsChain, receipt, () => '0x1'],
    [
      'receipt-logs-null',
      'The receipt has null for its logs.',
      skipsChain,
      receipt,
      (answer: object) => ({ ...answer, logs: null }),
    ],
    [
      'receipt-status-a-number',
      'The status of the receipt is a number.',
      skipsChain,
      receipt,
      (answer: object) => ({ ...answer, status: 1 }),
    ],
    ['receipt-without-status', 'The receipt has no status.', skipsChain, receipt, without('status')],
    [
      'receipt-without-block',
      'The receipt has no hash of its block.',
      skipsChain,
      receipt,
      without('blockHash'),
    ],
    [
      'receipt-of-another-transaction',
      'The receipt is of another transaction.',
      skipsChain,
      receipt,
      (answer: object) => ({ ...answer, transactionHash: fixed(0x99) }),
    ],
    [
      'receipt-without-transaction',
      'The receipt does not name its transaction.',
      skipsChain,
      receipt,
      without('transactionHash'),
    ],
    [
      'receipt-block-hash-of-31-bytes',
      'The hash of the block in the receipt has 31 bytes.',
      skipsChain,
      receipt,
      (answer: object) => ({ ...answer, blockHash: evm.blockHash.slice(0, -2) }),
    ],
    [
      'receipt-log-topic-of-31-bytes',
      'Beside the log of the anchor, a topic of another one has 31 bytes.',
      skipsChain,
      receipt,
      (answer: object) => ({ ...answer, logs: [log, { ...log, topics: [fixed(1).slice(0, -2)] }] }),
    ],
    [
      'receipt-log-a-text',
      'The log of the receipt is a text.',
      skipsChain,
      receipt,
      (answer: object) => ({ ...answer, logs: ['0x'] }),
    ],
    [
      'receipt-log-without-topics',
      'The log has null for its topics.',
      skipsChain,
      receipt,
      withLog({ topics: null }),
    ],
    [
      'receipt-log-of-another-event-without-address',
      'Beside the log of the anchor, another one has no address.',
      skipsChain,
      receipt,
      (answer: object) => ({ ...answer, logs: [log, { ...log, topics: [], address: null }] }),
    ],
    [
      'receipt-log-with-odd-data',
      'The data of the log have half a byte.',
      skipsChain,
      receipt,
      withLog({ data: '0x0' }),
    ],
  ];
  const byTag: NamedVector = vector(evm, [
    'without-head',
    'The node does not say which block is the newest, but which is final.',
    holds,
    latest,
    () => null,
  ]);
  const byDepth: NamedVector = {
    ...vector(evm, [
      'without-head-by-depth',
      'Blocks are final twelve below the head, but the node does not say which block is its head.',
      skipsFinality,
      latest,
      () => null,
    ]),
    trust: trustOf({
      chains: [{ chainId: 1, genesisHash: knownChain(1)?.genesisHash ?? '0x', finality: 12 }],
    }),
  };
  const unindexed = vector(bare, ['', '', skipsChain, receipt, () => null]);
  const byLogs: NamedVector = {
    ...unindexed,
    name: 'node-receipt-missing-but-logs',
    about: 'The node has no receipt, but the log of the transaction: that is not enough.',
    rpc: {
      ...unindexed.rpc,
      [`eth_getLogs [{"blockHash":"${evm.blockHash}","topics":["${log.topics[0]}"]}]`]: [
        { ...log, transactionHash: evm.transactionHash },
      ],
    },
  };
  return [
    ...rows.map((row) => vector(evm, row)),
    ...bareRows.map((row) => vector(bare, row)),
    ...namedRegistryVectors(file),
    byTag,
    byDepth,
    byLogs,
  ];
}

/** A registry that the person who verifies names: its code is that at the head. */
function namedRegistryVectors(file: BaseThing): NamedVector[] {
  const registry: Hex = `0x${'42'.repeat(20)}`;
  const anchor: EvmAnchor = { ...evmOf(file.proof), contract: registry, inclusion: null };
  const proof = anchoredBy(file.proof, anchor);
  const rows: [name: string, about: string, outcome: Outcome, head: unknown][] = [
    ['null', 'The node has no newest block.', skipsAll, null],
    ['a-text', 'The newest block is a text.', skipsAll, 'yes'],
  ];
  return rows.map(([name, about, outcome, head]) => ({
    ...{ name: `node-head-${name}-for-a-named-registry`, about },
    ...{ ...givenWith(file, proof), trust: null, registry },
    rpc: { ...nodeOf(anchor, proof.merkle), [latest]: head },
    expected: expect(proof, outcome),
  }));
}

const skipsAll: Outcome = { skip: ['registry', 'chain', 'finality', 'time'], time: null };

function without(name: string) {
  return (answer: Record<string, unknown>) => {
    const { [name]: _, ...rest } = answer;
    return rest;
  };
}
