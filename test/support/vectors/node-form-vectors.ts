/** Answers of a node in another form than that of JSON-RPC, and answers of nothing: they contradict no proof. */
import type { Hex } from 'viem';
import { knownChain } from '../../../src/proof/evm/known-chains.ts';
import type { EvmAnchor } from '../../../src/proof/verify/proof.ts';
import { anchorLog } from '../chain/inclusion-fixtures.ts';
import { type BaseThing, evmOf, givenWith } from './base-batches.ts';
import { holds, skipsChain, skipsFinality } from './evm-vectors.ts';
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
  return [
    ...rows.map((row) => vector(evm, row)),
    ...bareRows.map((row) => vector(bare, row)),
    byTag,
    byDepth,
  ];
}

function without(name: string) {
  return (answer: Record<string, unknown>) => {
    const { [name]: _, ...rest } = answer;
    return rest;
  };
}
