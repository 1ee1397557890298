/**
 * Read-only access to the chain on any node, leader or not. It has its own client, so that requests from outsiders neither
 * use up the connections of the anchoring client nor affect how that client rates the RPC addresses.
 */
import type { Db } from '../db/database.ts';
import { findEmbeddedChain } from './embedded/embedded-chain.ts';
import { type ChainRpc, createChainRpc } from './rpc/rpc.ts';
import type { RpcCall } from './rules/rpc-call.ts';
import { findStoredChain } from './stored-chain.ts';

export interface ReadingChain {
  /** Null before the chain was first opened, and where the embedded chain does not run on this machine. */
  call(): Promise<RpcCall | null>;
  close(): Promise<void>;
}

export interface ReadingChainDeps {
  db: Db;
  /** Empty: the embedded chain, reached through its gateway. */
  rpcUrls: readonly string[];
  dataDir: string;
}

export function createReadingChain({ db, rpcUrls, dataDir }: ReadingChainDeps): ReadingChain {
  let rpc: ChainRpc | null = null;
  let gatewayUrl: string | null = null;

  async function open(): Promise<ChainRpc | null> {
    if (rpcUrls.length === 0) gatewayUrl = (await findEmbeddedChain(db, dataDir))?.rpcUrl ?? null;
    if (rpcUrls.length === 0 && gatewayUrl === null) return null;
    if (rpc) return rpc;
    const stored = await findStoredChain(db);
    if (!stored) return null;
    const { chainId, genesisHash } = stored;
    const urls = () => (rpcUrls.length > 0 ? rpcUrls : [gatewayUrl].filter((url) => url !== null));
    rpc ??= createChainRpc({ chainId, genesisHash, urls });
    return rpc;
  }

  return {
    async call() {
      const client = (await open())?.client;
      return client ? (method, params) => client.request({ method, params } as never) : null;
    },
    async close() {
      await rpc?.close();
    },
  };
}
