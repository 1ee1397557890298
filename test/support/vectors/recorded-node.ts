/** The answers of a node, as vectors record them: by method and parameters, only with the members that a verifier needs. */
import type { Hex } from 'viem';
import { numberToHex } from 'viem';
import { registryRuntimeCode } from '../../../src/chain/registry/registry-code.ts';
import type { RpcCall } from '../../../src/chain/rules/rpc-call.ts';
import { knownChain } from '../../../src/proof/evm/known-chains.ts';
import { usualRegistry } from '../../../src/proof/evm/usual-registry.ts';
import type { EvmAnchor } from '../../../src/proof/verify/proof.ts';
import { anchorLog } from '../chain/inclusion-fixtures.ts';
import { fixed } from '../fixtures/proof-fixture.ts';

export type RecordedAnswers = Record<string, unknown>;

export interface NodeChanges {
  chainId?: number;
  genesisHash?: Hex;
  client?: string;
  /** The block of the anchor; null if the node does not have it. */
  block?: Record<string, unknown> | null;
  receipt?: Record<string, unknown> | null;
  /** Of the newest block, and of the one that is final; null if the node does not say. */
  head?: number;
  finalized?: number | null;
  /** At the address of the registry. */
  code?: Hex;
}

const headHash = fixed(0xee);

/** A node of the anchor's chain, which has that block and is far beyond it. */
export function nodeOf(
  anchor: EvmAnchor,
  { root, size }: { root: Hex; size: number },
  changes: NodeChanges = {},
): RecordedAnswers {
  const { chainId, contract, submitter, transactionHash, blockNumber, blockHash, blockTime } = anchor;
  const { head = blockNumber + 100, finalized = blockNumber + 36 } = changes;
  const code = changes.code ?? registryRuntimeCode;
  const genesis = changes.genesisHash ?? knownChain(chainId)?.genesisHash ?? fixed(0x01);
  const others = Array.from({ length: anchor.inclusion?.index ?? 0 }, (_, place) => fixed(0xd0 + place));
  const block = {
    ...{ number: numberToHex(blockNumber), hash: blockHash, timestamp: numberToHex(blockTime) },
    transactions: [...others, transactionHash],
    ...changes.block,
  };
  const receipt = {
    ...{ transactionHash, status: '0x1', blockNumber: numberToHex(blockNumber), blockHash },
    logs: [anchorLog({ registry: contract, submitter, root, size })],
    ...changes.receipt,
  };
  return {
    [asked('eth_chainId')]: numberToHex(changes.chainId ?? chainId),
    [asked('web3_clientVersion')]: changes.client ?? 'Geth/v1.16.7-stable',
    [asked('eth_getBlockByNumber', '0x0', false)]: otherBlock(0, genesis),
    [asked('eth_getBlockByNumber', numberToHex(blockNumber), false)]: changes.block === null ? null : block,
    [asked('eth_getBlockByNumber', 'latest', false)]: otherBlock(head, headHash),
    [asked('eth_getBlockByNumber', 'finalized', false)]:
      finalized === null ? null : otherBlock(finalized, fixed(0xef)),
    [asked('eth_getTransactionReceipt', transactionHash)]: changes.receipt === null ? null : receipt,
    // Nobody is asked for the code at the usual address. By the hash of the head, as we ask, and by its tag, as others may.
    ...(contract !== usualRegistry && {
      [asked('eth_getCode', contract, { blockHash: headHash })]: code,
      [asked('eth_getCode', contract, 'latest')]: code,
    }),
  };
}

/** Answers what was recorded, and nothing else. */
export function replay(answers: RecordedAnswers): RpcCall {
  return async (method, params) => {
    const question = asked(method, ...params);
    if (!Object.hasOwn(answers, question)) throw new Error(`the node gives no answer to ${question}`);
    return structuredClone(answers[question]);
  };
}

function asked(method: string, ...params: unknown[]): string {
  return `${method} ${JSON.stringify(params)}`;
}

function otherBlock(number: number, hash: Hex) {
  return {
    number: numberToHex(number),
    hash,
    timestamp: numberToHex(1_794_000_000 + number),
    transactions: [],
  };
}
