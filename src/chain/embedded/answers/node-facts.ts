/** What a client may ask about the node itself. Most of it never changes. */
import { keccak256, numberToHex } from 'viem';
import { zeroAddress } from './formats/block-json.ts';
import type { Handler, Methods } from './needs.ts';
import { readData } from './parameters.ts';

const fact = (handle: Handler) => ({ most: 0, handle });

export const factMethods: Methods = {
  eth_accounts: fact(() => []),
  eth_chainId: fact(({ needs }) => numberToHex(needs.chainId)),
  eth_coinbase: fact(() => zeroAddress),
  eth_protocolVersion: fact(() => '0x41'),
  eth_syncing: fact(() => false),
  net_listening: fact(() => true),
  net_peerCount: fact(() => '0x0'),
  net_version: fact(({ needs }) => String(needs.chainId)),
  web3_clientVersion: fact(({ needs }) => needs.clientVersion),
  web3_sha3: { most: 1, handle: ({ params }) => keccak256(readData(params[0], 'the data')) },
};
