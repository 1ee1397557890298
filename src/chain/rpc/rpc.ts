/**
 * The chain as the service sees it: a viem client over one or more RPC addresses, none of which is trusted to be the right
 * chain, up to date, or complete. Calls go to the first address that is at the highest head; reads that it refuses are
 * tried at the others, and transactions are sent to all.
 */
import { type Hex, hexToNumber, type PublicClient } from 'viem';
import { OperatorError } from '../../runtime/errors.ts';
import { createChainClient } from './chain-client.ts';
import { createJsonRpc, type JsonRpc, RpcFault, rpcFaultOf } from './json-rpc.ts';

export interface ChainRpc {
  client: PublicClient;
  /** The highest head that any address reports; later calls go to that address first. */
  head(): Promise<{ number: number; hash: Hex }>;
  /** Reports that the preferred address returned unusable blocks: for a while the others are tried before it. */
  doubt(): void;
  /** Asks every address for its head, for status pages; never rejects. */
  health(): Promise<RpcHealth[]>;
  close(): Promise<void>;
}

export interface RpcHealth {
  /** Only host and port: the rest of an RPC address often contains a key. */
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
  /** In order of preference; read for each call, because the embedded chain may come back on another port. */
  urls(): readonly string[];
  timeoutMs?: number;
}

const defaultTimeoutMs = 10_000;
/** A block of 30 M gas full of call data, with its JSON around it, is about 5 MB. */
const maxAnswerBytes = 64 * 1024 * 1024;
/** How long a failed address is tried last, so that not every call waits for it if it hangs. */
const coolDownMs = 5_000;
/** How long a checked identity is trusted: the node behind an address can change. */
const vettedForMs = 60_000;
const doubtedForMs = 60_000;
/** A block takes time to reach all nodes: an address at most this far below the highest head keeps its rank. */
const usualLagBlocks = 2;

interface UrlState {
  vettedUntil: number;
  coolUntil: number;
  doubtedUntil: number;
  /** The last call failed. */
  failing: boolean;
  /** The last reported head; -1 before the first. */
  headNumber: number;
  /** A request for its head is in progress. */
  looking: boolean;
}

interface HeadAnswer {
  number: Hex;
  hash: Hex;
}

export function createChainRpc(options: ChainRpcOptions): ChainRpc {
  const { urls, chainId, timeoutMs = defaultTimeoutMs } = options;
  const rpc = createJsonRpc({ timeoutMs, maxAnswerBytes });
  const states = new Map<string, UrlState>();

  function stateOf(url: string): UrlState {
    const known = states.get(url);
    if (known) return known;
    const fresh = {
      vettedUntil: 0,
      coolUntil: 0,
      doubtedUntil: 0,
      failing: false,
      headNumber: -1,
      looking: false,
    };
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
      state.failing = false;
      return result;
    } catch (error) {
      if (rpcFaultOf(error)?.kind !== 'refused') {
        state.vettedUntil = 0;
        state.failing = true;
        state.coolUntil = performance.now() + coolDownMs;
      }
      throw error;
    }
  }

  /** Healthy addresses before those that failed recently, those at the head before lagging ones, else as configured. */
  function inOrder(): string[] {
    const now = performance.now();
    const all = urls();
    const usable = all.filter((url) => stateOf(url).coolUntil <= now && stateOf(url).doubtedUntil <= now);
    const highest = Math.max(...usable.map((url) => stateOf(url).headNumber));
    const rank = (url: string) => {
      if (!usable.includes(url)) return 2;
      return stateOf(url).headNumber >= highest - usualLagBlocks ? 0 : 1;
    };
    return all.toSorted((one, other) => rank(one) - rank(other));
  }

  async function callAny(method: string, params: readonly unknown[]): Promise<unknown> {
    const faults: unknown[] = [];
    for (const url of inOrder()) {
      try {
        return await callAt(url, method, params);
      } catch (error) {
        const fault = rpcFaultOf(error);
        // An error that is not an RPC fault is a bug; and a contract gives the same answer on every node.
        if (fault === null || isOfTheContract(fault)) throw error;
        faults.push(error);
      }
    }
    throw worstOf(faults) ?? new RpcFault('unreachable', `${method}: there is no RPC address`);
  }

  /**
   * Sends to all addresses and returns the first success. Does not wait for addresses whose last call failed, unless
   * there are no others.
   */
  async function callAll(method: string, params: readonly unknown[]): Promise<unknown> {
    const order = inOrder();
    const calls = order.map((url) => ({ failing: stateOf(url).failing, call: callAt(url, method, params) }));
    for (const { call } of calls) call.catch(() => {});
    const sound = calls.filter(({ failing }) => !failing);
    const awaited = (sound.length > 0 ? sound : calls).map(({ call }) => call);
    try {
      return await Promise.any(awaited);
    } catch (error) {
      const { errors = [] } = error as AggregateError;
      // A node's verdict on the transaction is worth more than the silence of others.
      const refusal = errors.find((fault) => rpcFaultOf(fault)?.code !== undefined);
      throw refusal ?? worstOf(errors) ?? new RpcFault('unreachable', `${method}: there is no RPC address`);
    }
  }

  async function lookAtHead(url: string): Promise<{ number: number; hash: Hex }> {
    const state = stateOf(url);
    state.looking = true;
    try {
      const found = (await callAt(url, 'eth_getBlockByNumber', ['latest', false])) as HeadAnswer | null;
      if (found === null) throw new RpcFault('bad_answer', `${new URL(url).host} has no head`);
      state.headNumber = hexToNumber(found.number);
      return { number: state.headNumber, hash: found.hash };
    } finally {
      state.looking = false;
    }
  }

  async function head(): Promise<{ number: number; hash: Hex }> {
    const now = performance.now();
    const all = urls();
    const sound = all.filter((url) => !stateOf(url).failing && stateOf(url).doubtedUntil <= now);
    const awaited = sound.length > 0 ? sound : all;
    for (const url of all) {
      // Checks without waiting whether a failed address is back.
      const { looking, coolUntil } = stateOf(url);
      if (!awaited.includes(url) && !looking && coolUntil <= now) lookAtHead(url).catch(() => {});
    }
    const faults: unknown[] = [];
    for (const group of [awaited, all.filter((url) => !awaited.includes(url))]) {
      const looks = await Promise.allSettled(group.map(lookAtHead));
      const heads = looks.flatMap((look) => (look.status === 'fulfilled' ? [look.value] : []));
      const [best] = heads.toSorted((one, other) => other.number - one.number);
      if (best) return best;
      faults.push(...looks.flatMap((look) => (look.status === 'rejected' ? [look.reason] : [])));
    }
    throw worstOf(faults) ?? new RpcFault('unreachable', 'there is no RPC address');
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

  const client = createChainClient(chainId, (method, params) =>
    (method === 'eth_sendRawTransaction' ? callAll : callAny)(method, params),
  );
  return {
    client,
    head,
    doubt() {
      const [first] = inOrder();
      if (first !== undefined) stateOf(first).doubtedUntil = performance.now() + doubtedForMs;
    },
    health: () => Promise.all(urls().map(look)),
    close: () => rpc.close(),
  };
}

/** A revert, with code 3 (the successor of EIP-1474) or with revert data: any node would give the same answer. */
function isOfTheContract({ kind, code, data }: RpcFault): boolean {
  return kind === 'refused' && (code === 3 || data !== undefined);
}

/** Prefers a temporary fault to a refusal, and a refusal to a wrong chain. */
function worstOf(faults: unknown[]): unknown {
  const kinds = ['refused', 'wrong_chain'];
  const kindOf = (fault: unknown) => rpcFaultOf(fault)?.kind ?? '';
  return (
    faults.find((fault) => !kinds.includes(kindOf(fault))) ??
    faults.find((fault) => kindOf(fault) === 'refused') ??
    faults[0]
  );
}

/** Finds out which chain these addresses serve: at least one must answer, and all that answer must agree. */
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
        `The RPC addresses belong to different chains: ${describe(first)}, and ${describe(other)}. Use addresses of one chain.`,
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
