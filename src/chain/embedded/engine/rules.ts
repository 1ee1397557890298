/**
 * The rules of the embedded chain: Ethereum as of Prague, with the header fields that anvil 1.7.1 gives its blocks, so that
 * a chain that was begun with anvil goes on with equal hashes.
 */
import { type BlockHeader, createBlockHeader, type HeaderData } from '@ethereumjs/block';
import { type Common, type CustomCrypto, createCustomCommon, Hardfork, Mainnet } from '@ethereumjs/common';
import type { Hex } from 'viem';
import { blockGasLimit, emptyRoot, noRequests, randaoOf } from './header-fields.ts';

export const firstBaseFeeWei = 1_000_000_000n;
/** EIP-2935: keeps the hashes of the last 8191 blocks. */
export const historyAddress = '0x0000f90827f1c53a10cb7a02335b175320002935';
export const historyCode =
  '0x3373fffffffffffffffffffffffffffffffffffffffe14604657602036036042575f35600143038111604257611fff81430311604257611fff9006545f5260205ff35b5f5ffd5b5f35611fff60014303065500';
export const historyBlocks = 8_191;

export function commonOf(chainId: number, customCrypto: CustomCrypto): Common {
  return createCustomCommon({ chainId, name: 'embedded' }, Mainnet, {
    hardfork: Hardfork.Prague,
    customCrypto,
  });
}

export interface HeaderParts {
  parentHash: Hex;
  number: number;
  timestampSeconds: number;
  baseFeeWei: bigint;
  gasUsed?: number;
  stateRoot?: Hex;
  transactionsRoot?: Hex;
  receiptsRoot?: Hex;
  logsBloom?: Uint8Array;
}

export function headerOf(parts: HeaderParts, common: Common): BlockHeader {
  const data: HeaderData = {
    parentHash: parts.parentHash,
    number: BigInt(parts.number),
    timestamp: BigInt(parts.timestampSeconds),
    gasLimit: BigInt(blockGasLimit),
    gasUsed: BigInt(parts.gasUsed ?? 0),
    baseFeePerGas: parts.baseFeeWei,
    mixHash: randaoOf(parts),
    stateRoot: parts.stateRoot ?? emptyRoot,
    transactionsTrie: parts.transactionsRoot ?? emptyRoot,
    receiptTrie: parts.receiptsRoot ?? emptyRoot,
    ...(parts.logsBloom && { logsBloom: parts.logsBloom }),
    withdrawalsRoot: emptyRoot,
    blobGasUsed: 0n,
    excessBlobGas: 0n,
    requestsHash: noRequests,
  };
  return createBlockHeader(data, { common, freeze: false });
}
