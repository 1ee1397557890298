/** The chain behind the service's back: asked directly to know what is on it, and broken. */
import type { Settings } from '../support/service/process.ts';
import { embeddedSide } from './chain-embedded.ts';
import { openRpcSide, type RpcSide } from './chain-rpc.ts';

/** `embedded`: the service brings its own. `rpc`: one of the test's, which needs anvil. `none`: nobody answers. */
export type ChainMode = 'embedded' | 'rpc' | 'none';

export function isChainMode(text: string): text is ChainMode {
  return ['embedded', 'rpc', 'none'].includes(text);
}

export interface FixtureChain {
  mode: ChainMode;
  /** For every node. */
  settings: Settings;
  /** Where its node can be asked directly. */
  url(): Promise<string>;
  /** Of a node that commands reach the chain from: the embedded one runs only where its node leads. */
  dataDir(): Promise<string>;
  /** kill -9 of the engine of the embedded one, in the service with this pid; returns once it is gone. */
  killEmbedded(servicePid: number): Promise<void>;
  /** What can be done to one of the test's. */
  rpc(): RpcSide;
  close(): Promise<void>;
}

/** Nobody listens there: what is accepted stays pending. */
const nowhere = 'http://127.0.0.1:9';

export async function openChain(
  mode: ChainMode,
  { dataDirs, settings }: { dataDirs: [string, ...string[]]; settings: Settings },
): Promise<FixtureChain> {
  const side = mode === 'rpc' ? await openRpcSide({ ...settings, HOLDFAST_DATA_DIR: dataDirs[0] }) : null;
  const own = embeddedSide(dataDirs);
  return {
    mode,
    settings: side ? side.settings : mode === 'none' ? { HOLDFAST_CHAIN_RPC_URLS: nowhere } : {},
    url: async () => (side ? side.anvil.url : own.url()),
    dataDir: async () => (mode === 'embedded' ? own.dataDir() : dataDirs[0]),
    killEmbedded: own.kill,
    rpc() {
      if (!side) throw new Error('this fault needs a chain of the test');
      return side;
    },
    async close() {
      await side?.close();
    },
  };
}
