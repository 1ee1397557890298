/**
 * Lets anybody ask this service's chain node what a verification needs, and nothing else: the node itself listens on
 * loopback only and has methods that change the chain. Every parameter is checked before it reaches the node.
 */

import { rpcFaultOf } from '../../chain/rpc/json-rpc.ts';
import type { RpcCall } from '../../chain/rules/rpc-call.ts';
import { AppError } from '../../runtime/errors.ts';
import { createRpcCache } from './rpc-cache.ts';

export interface ChainRelayDeps {
  /** Null while this node has no chain to ask: another node leads, or the chain does not answer. */
  call(): RpcCall | null | Promise<RpcCall | null>;
  /** The only contract that may be queried. */
  registry: string;
  budget?: { calls: number; windowMs: number };
}

export interface ChainRelay {
  /** A JSON-RPC answer: a refusal by the chain is an answer, too. */
  ask(method: string, params: readonly unknown[]): Promise<RelayAnswer>;
}

export type RelayAnswer = { result: unknown } | { error: { code: number; message: string } };

/** Concurrent calls; a verification makes one at a time. */
const mostAtOnce = 16;
/** Calls that reach the chain node, for all callers together: what strangers may use of an operator's quota. */
const usualBudget = { calls: 1_200, windowMs: 60_000 };

export function createChainRelay({ call, registry, budget = usualBudget }: ChainRelayDeps): ChainRelay {
  let underWay = 0;
  const answers = createRpcCache();
  let spent = { calls: 0, until: 0 };

  function spend(): void {
    const now = performance.now();
    if (now >= spent.until) spent = { calls: 0, until: now + budget.windowMs };
    if (spent.calls >= budget.calls) {
      const retryAfterSeconds = Math.ceil((spent.until - now) / 1000);
      throw new AppError(
        'service_unavailable',
        `Too many chain requests through this service. Try again in ${retryAfterSeconds} s, or use a chain node of your own.`,
        { retryAfterSeconds },
      );
    }
    spent.calls += 1;
  }

  return {
    async ask(method, params) {
      requireAllowed(method, params, registry.toLowerCase());
      const known = answers.find(method, params);
      if (known !== undefined) return { result: known };
      if (underWay >= mostAtOnce) {
        throw new AppError('service_unavailable', 'Too many chain requests at once. Try again shortly.', {
          retryAfterSeconds: 1,
        });
      }
      underWay += 1;
      try {
        const ask = await call();
        if (ask === null) {
          throw new AppError(
            'service_unavailable',
            'This node has no connection to the chain right now. Try again, or use a chain node of your own.',
            { retryAfterSeconds: 2 },
          );
        }
        spend();
        const result = await ask(method, params);
        answers.keep(method, params, result);
        return { result };
      } catch (error) {
        if (error instanceof AppError) throw error;
        const fault = rpcFaultOf(error);
        // The error's own message contains the address of the chain node.
        if (fault?.kind === 'refused') {
          return { error: { code: fault.code ?? -32_000, message: 'the chain node refused the call' } };
        }
        throw new AppError('service_unavailable', 'The chain node did not respond. Try again shortly.', {
          cause: error,
          retryAfterSeconds: 2,
        });
      } finally {
        underWay -= 1;
      }
    },
  };
}

type Check = (value: unknown, registry: string) => boolean;

const isHash: Check = (value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value);
const isBlockHash: Check = (value, registry) =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).join() === 'blockHash' &&
  isHash((value as { blockHash: unknown }).blockHash, registry);
const isFalse: Check = (value) => value === false;
const isRegistry: Check = (value, registry) => typeof value === 'string' && value.toLowerCase() === registry;
const isBlock: Check = (value) =>
  value === 'latest' ||
  value === 'finalized' ||
  (typeof value === 'string' && /^0x(0|[1-9a-f][0-9a-f]{0,12})$/.test(value));

/** The calls of src/chain/registry/anchor-reader.ts; every other method and form is refused. */
const allowed: Record<string, Check[]> = {
  eth_chainId: [],
  web3_clientVersion: [],
  eth_getCode: [isRegistry, isBlockHash],
  eth_getTransactionReceipt: [isHash],
  eth_getBlockByNumber: [isBlock, isFalse],
};

function requireAllowed(method: string, params: readonly unknown[], registry: string): void {
  const checks = Object.hasOwn(allowed, method) ? allowed[method] : undefined;
  if (!checks)
    throw new AppError('invalid_request', `method must be one of ${Object.keys(allowed).join(', ')}.`);
  if (checks.length === params.length && checks.every((check, at) => check(params[at], registry))) return;
  throw new AppError('invalid_request', `params must be those that a verification sends to ${method}.`);
}
