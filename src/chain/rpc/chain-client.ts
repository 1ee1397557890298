/** The viem client of a chain, over whatever makes its calls. */
import { createPublicClient, custom, defineChain, type PublicClient } from 'viem';
import type { RpcCall } from '../rules/rpc-call.ts';

export function createChainClient(chainId: number, call: RpcCall): PublicClient {
  return createPublicClient({
    chain: defineChain({
      id: chainId,
      name: `chain ${chainId}`,
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [] } },
    }),
    // The loops already retry what is worth retrying; viem would retry again below them.
    transport: custom(
      {
        request: ({ method, params }: { method: string; params?: readonly unknown[] }) =>
          call(method, params ?? []),
      },
      { retryCount: 0 },
    ),
    // Otherwise viem would return a head that is up to four seconds old.
    cacheTime: 0,
  });
}
