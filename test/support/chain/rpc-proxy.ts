/** A proxy in front of a chain's RPC address that fails on demand, the way nodes and gateways do. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { numberToHex } from 'viem';

/**
 * - `refuse`: the connection is reset
 * - `hang`: there is never an answer
 * - `429`, `html502`: typical answers of gateways
 * - `truncated`: the answer is cut in the middle
 * - `drop`: the call is made, but its answer is lost
 * - `wrongChainId`: an answer for another chain
 * - `staleHead`: answers as of the block that was newest when this began
 */
export type RpcFailure =
  | 'refuse'
  | 'hang'
  | '429'
  | 'html502'
  | 'truncated'
  | 'drop'
  | 'wrongChainId'
  | 'staleHead';

export const rpcFailures: readonly RpcFailure[] = [
  'refuse',
  'hang',
  '429',
  'html502',
  'truncated',
  'drop',
  'wrongChainId',
  'staleHead',
];

export interface RpcCall {
  method: string;
  params: unknown[];
}

export interface RpcProxy {
  url: string;
  /** Every received call, including failed ones. */
  calls: RpcCall[];
  /** Fails from now on; if given, only for these methods, and only this many times. */
  fail(failure: RpcFailure, options?: { methods?: readonly string[]; times?: number }): Promise<void>;
  /** The node rejects these calls with this error. */
  refuseWith(error: { code: number; message: string }, applies: (call: RpcCall) => boolean): void;
  /**
   * At the next call of this method, acts instead of forwarding it, or after the node has answered it. The caller gets
   * no answer, unless the node gave one and `act` lets it through. Resolves when that is done.
   */
  intercept(method: string, when: 'before' | 'after', act: Act): Promise<void>;
  heal(): void;
  close(): Promise<void>;
}

export type Act = () => Promise<'let through' | undefined>;

interface Interception {
  method: string;
  when: 'before' | 'after';
  act: Act;
  resolve(): void;
  reject(error: unknown): void;
}

interface Active {
  failure: RpcFailure;
  methods: readonly string[] | null;
  left: number;
  headNumber: number;
}

interface Answer {
  jsonrpc: '2.0';
  id: unknown;
  result?: unknown;
  error?: unknown;
}

/** The position of the block among the parameters. */
const blockParameter: Record<string, number> = {
  eth_getBlockByNumber: 0,
  eth_getTransactionCount: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_call: 1,
};

export async function startRpcProxy(target: () => string): Promise<RpcProxy> {
  const calls: RpcCall[] = [];
  let active: Active | null = null;
  let refusal: {
    error: { code: number; message: string };
    applies: (call: RpcCall) => boolean;
  } | null = null;
  let interception: Interception | null = null;

  async function forward(id: unknown, { method, params }: RpcCall): Promise<Answer> {
    const answer = await fetch(target(), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    });
    return (await answer.json()) as Answer;
  }

  const readHead = async () =>
    Number((await forward(0, { method: 'eth_blockNumber', params: [] })).result as string);

  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { id, method, params = [] } = JSON.parse(text) as { id: unknown } & RpcCall;
    const call = { method, params };
    calls.push(call);
    try {
      if (interception?.method === method) return await meet(interception, { id, call, response });
      if (refusal?.applies(call)) return end(response, { jsonrpc: '2.0', id, error: refusal.error });
      const failing = take(method);
      if (failing) await breakIt(response, { id, call, failing });
      else end(response, await forward(id, call));
    } catch {
      // The chain behind the proxy is unreachable.
      response.destroy();
    }
  });

  async function meet(
    { when, act, resolve, reject }: Interception,
    { id, call, response }: { id: unknown; call: RpcCall; response: ServerResponse },
  ): Promise<void> {
    interception = null;
    try {
      const answer = when === 'after' ? await forward(id, call) : null;
      const verdict = await act();
      if (answer && verdict === 'let through') end(response, answer);
      else response.destroy();
      resolve();
    } catch (error) {
      response.destroy();
      reject(error);
    }
  }

  function take(method: string): Active | null {
    if (!active || (active.methods && !active.methods.includes(method)) || active.left === 0) return null;
    active.left -= 1;
    return active;
  }

  async function breakIt(
    response: ServerResponse,
    { id, call, failing }: { id: unknown; call: RpcCall; failing: Active },
  ): Promise<void> {
    switch (failing.failure) {
      case 'refuse':
        response.socket?.resetAndDestroy();
        return;
      case 'hang':
        return;
      case '429':
        response.writeHead(429).end();
        return;
      case 'html502':
        response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>');
        return;
      case 'truncated': {
        const whole = JSON.stringify(await forward(id, call));
        response.end(whole.slice(0, whole.length / 2));
        return;
      }
      case 'drop':
        await forward(id, call);
        response.destroy();
        return;
      case 'wrongChainId': {
        const answer = await forward(id, call);
        end(response, call.method === 'eth_chainId' ? { ...answer, result: '0xdead' } : answer);
        return;
      }
      case 'staleHead':
        end(response, await answerOf(failing.headNumber, { id, call }));
    }
  }

  /** Answers like a node that has not seen later blocks. */
  async function answerOf(headNumber: number, { id, call }: { id: unknown; call: RpcCall }): Promise<Answer> {
    const { method, params } = call;
    if (method === 'eth_blockNumber') return { jsonrpc: '2.0', id, result: numberToHex(headNumber) };
    const place = blockParameter[method];
    const block = place === undefined ? undefined : params[place];
    if (place !== undefined && typeof block === 'string' && block !== 'earliest') {
      const isTag = !block.startsWith('0x');
      if (!isTag && Number(block) > headNumber) return { jsonrpc: '2.0', id, result: null };
      return forward(id, { method, params: isTag ? params.with(place, numberToHex(headNumber)) : params });
    }
    if (typeof block === 'object' && block !== null) {
      const { blockHash } = block as { blockHash: string };
      const known = await forward(id, { method: 'eth_getBlockByHash', params: [blockHash, false] });
      const { number } = (known.result ?? {}) as { number?: string };
      if (number === undefined || Number(number) > headNumber) {
        return { jsonrpc: '2.0', id, error: { code: -32000, message: 'header not found' } };
      }
    }
    const answer = await forward(id, call);
    const { blockNumber } = (answer.result ?? {}) as { blockNumber?: string };
    return blockNumber && Number(blockNumber) > headNumber ? { jsonrpc: '2.0', id, result: null } : answer;
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    async fail(failure, { methods, times = Number.POSITIVE_INFINITY } = {}) {
      const headNumber = failure === 'staleHead' ? await readHead() : 0;
      active = { failure, methods: methods ?? null, left: times, headNumber };
    },
    refuseWith(error, applies) {
      refusal = { error, applies };
    },
    intercept: (method, when, act) =>
      new Promise((resolve, reject) => {
        interception = { method, when, act, resolve, reject };
      }),
    heal() {
      active = null;
      refusal = null;
      interception = null;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function end(response: ServerResponse, answer: Answer): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(answer));
}
