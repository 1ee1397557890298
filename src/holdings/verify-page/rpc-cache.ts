/** Caches answers of the chain that can no longer change. */

export interface RpcCache {
  find(method: string, params: readonly unknown[]): unknown;
  /** Keeps the result if it cannot change. */
  keep(method: string, params: readonly unknown[], result: unknown): void;
}

/** The oldest are dropped first. A block header with the hashes of its transactions may have some ten kilobytes. */
const mostKept = 500;
const mostBytes = 64 * 1024;

export function createRpcCache(): RpcCache {
  const kept = new Map<string, unknown>();
  /** The highest block that the chain has reported as final. */
  let finalNumber = -1;
  const keyOf = (method: string, params: readonly unknown[]) => JSON.stringify([method, params]);

  /** A query by block hash always gives the same answer, and the content of a final block does not change. */
  function lasts(method: string, params: readonly unknown[], result: unknown): boolean {
    if (result === null || result === undefined) return false;
    if (method === 'eth_chainId') return true;
    if (method === 'eth_getCode') return typeof params[1] === 'object';
    const { number, blockNumber } = result as { number?: unknown; blockNumber?: unknown };
    if (method === 'eth_getTransactionReceipt') return Number(blockNumber) <= finalNumber;
    const isNumber = typeof params[0] === 'string' && params[0].startsWith('0x');
    return method === 'eth_getBlockByNumber' && isNumber && Number(number) <= finalNumber;
  }

  return {
    find: (method, params) => kept.get(keyOf(method, params)),
    keep(method, params, result) {
      if (method === 'eth_getBlockByNumber' && params[0] === 'finalized' && result !== null) {
        const { number } = result as { number?: unknown };
        finalNumber = Math.max(finalNumber, Number(number) || -1);
      }
      if (!lasts(method, params, result) || JSON.stringify(result).length > mostBytes) return;
      kept.set(keyOf(method, params), result);
      const [oldest] = kept.keys();
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
    },
  };
}
