/** The chain as the service sees it: a viem client over one or more RPC addresses, none of which is trusted to be the right chain. */
import { createPublicClient, custom, defineChain, type Hex, hexToNumber, type PublicClient } from 'viem';
import { OperatorError } from '../errors.ts';
import { createJsonRpc, type JsonRpc, RpcFault, rpcFaultOf } from './json-rpc.ts';

export interface ChainRpc {
  client: PublicClient;
  /** Asks every address for its head, for status pages; never rejects. */
  health(): Promise<RpcHealth[]>;
  close(): Promise<void>;
}

export interface RpcHealth {
  /** Host and port alone: the rest of an RPC address is often a key. */
  host: string;
  ok: boolean;
  headNumber: number | null;
  durationMs: number;
  error: string | null;
}

export interface ChainIdentity {
  chainId: number;
  /** Hash of block 0. */
  genesisHash: Hex;
}

export interface ChainRpcOptions extends ChainIdentity {
  /** In order of preference; asked for each call, because the embedded chain may come back on another port. */
  urls(): readonly string[];
  timeoutMs?: number;
}

const defaultTimeoutMs = 10_000;
/** A block of 30 M gas full of call data, with its JSON around it, is about 5 MB. */
const maxAnswerBytes = 64 * 1024 * 1024;
/** So long an address that failed is asked last: with the first of two hanging, not every call waits for it. */
const coolDownMs = 5_000;
/** What stands behind an address can change. */
const vettedForMs = 60_000;

interface UrlState {
  vettedUntil: number;
  coolUntil: number;
}

export function createChainRpc(options: ChainRpcOptions): ChainRpc {
  const { urls, chainId, timeoutMs = defaultTimeoutMs } = options;
  const rpc = createJsonRpc({ timeoutMs, maxAnswerBytes });
  const states = new Map<string, UrlState>();

  function stateOf(url: string): UrlState {
    const known = states.get(url);
    if (known) return known;
    const fresh = { vettedUntil: 0, coolUntil: 0 };
    states.set(url, fresh);
    return fresh;
  }

  async function callAt(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
    const state = stateOf(url);
    try {
      if (performance.now() > state.vettedUntil) {
        await requireIdentity(rpc, url, options);
        state.vettedUntil = performance.now() + vettedForMs;
      }
      const result = await rpc.call(url, method, params);
      state.coolUntil = 0;
      return result;
    } catch (error) {
      if (rpcFaultOf(error)?.kind !== 'refused') {
        state.vettedUntil = 0;
        state.coolUntil = performance.now() + coolDownMs;
      }
      throw error;
    }
  }

  async function callAny(method: string, params: readonly unknown[]): Promise<unknown> {
    const now = performance.now();
    const all = urls();
    const cool = all.filter((url) => stateOf(url).coolUntil > now);
    const faults: unknown[] = [];
    for (const url of [...all.filter((url) => !cool.includes(url)), ...cool]) {
      try {
        return await callAt(url, method, params);
      } catch (error) {
        // What the chain itself said no to is not asked of another node, and what is no fault of a node is a bug.
        const kind = rpcFaultOf(error)?.kind;
        if (kind === undefined || kind === 'refused') throw error;
        faults.push(error);
      }
    }
    // One that may come back outweighs those that stand for another chain.
    const passing = faults.find((fault) => rpcFaultOf(fault)?.kind !== 'wrong_chain');
    throw passing ?? faults[0] ?? new RpcFault('unreachable', `${method}: there is no RPC address`);
  }

  async function look(url: string): Promise<RpcHealth> {
    const began = performance.now();
    const seen = { host: new URL(url).host, ok: false, headNumber: null as number | null, error: null };
    try {
      const head = await callAt(url, 'eth_blockNumber', []);
      return {
        ...seen,
        ok: true,
        headNumber: hexToNumber(head as Hex),
        durationMs: performance.now() - began,
      };
    } catch (error) {
      return { ...seen, durationMs: performance.now() - began, error: (error as Error).message };
    }
  }

  const client = createPublicClient({
    chain: defineChain({
      id: chainId,
      name: `chain ${chainId}`,
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [] } },
    }),
    // Loops repeat what is worth repeating; viem would do it again below them.
    transport: custom(
      {
        request: ({ method, params }: { method: string; params?: readonly unknown[] }) =>
          callAny(method, params ?? []),
      },
      { retryCount: 0 },
    ),
    // Else a head of four seconds ago is given for the present one.
    cacheTime: 0,
  });
  return { client, health: () => Promise.all(urls().map(look)), close: () => rpc.close() };
}

/** Which chain stands behind these addresses: at least one has to answer, and all that do have to agree. */
export async function discoverChain(
  urls: readonly string[],
  timeoutMs = defaultTimeoutMs,
): Promise<ChainIdentity> {
  const rpc = createJsonRpc({ timeoutMs, maxAnswerBytes });
  try {
    const found = await Promise.allSettled(urls.map((url) => readIdentity(rpc, url)));
    const answers = found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const [first] = answers;
    if (!first) throw found.find((one) => one.status === 'rejected')?.reason;
    const other = answers.find((answer) => !isSame(answer, first));
    if (other) {
      throw new OperatorError(
        `The RPC addresses stand for different chains: ${describe(first)}, and ${describe(other)}. Give addresses of one chain.`,
      );
    }
    return first;
  } finally {
    await rpc.close();
  }
}

async function readIdentity(rpc: JsonRpc, url: string): Promise<ChainIdentity> {
  const [chainId, genesis] = await Promise.all([
    rpc.call<Hex>(url, 'eth_chainId'),
    rpc.call<{ hash: Hex } | null>(url, 'eth_getBlockByNumber', ['0x0', false]),
  ]);
  if (genesis === null) throw new RpcFault('bad_answer', `${new URL(url).host} has no block 0`);
  return { chainId: hexToNumber(chainId), genesisHash: genesis.hash };
}

async function requireIdentity(rpc: JsonRpc, url: string, wanted: ChainIdentity): Promise<void> {
  const found = await readIdentity(rpc, url);
  if (isSame(found, wanted)) return;
  throw new RpcFault(
    'wrong_chain',
    `${new URL(url).host} is ${describe(found)}, not ${describe(wanted)}: refused`,
  );
}

function isSame(one: ChainIdentity, other: ChainIdentity): boolean {
  return one.chainId === other.chainId && one.genesisHash.toLowerCase() === other.genesisHash.toLowerCase();
}

function describe({ chainId, genesisHash }: ChainIdentity): string {
  return `chain ${chainId} with genesis ${genesisHash.slice(0, 10)}…`;
}
