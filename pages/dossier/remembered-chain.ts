/**
 * Caches the answers of a chain: thousands of entries share a few batches, and the chain node should not be asked for each.
 */
import type { ChainReader } from '../../src/proof/verify/chain-reader.ts';

export function rememberChain(chain: ChainReader): ChainReader {
  const known = new Map<string, Promise<unknown>>();
  function once(key: string, ask: () => Promise<unknown>): Promise<unknown> {
    const asked = known.get(key);
    if (asked) return asked;
    const answer = ask();
    known.set(key, answer);
    // Errors and missing results are not cached: the chain node may have been unavailable for a moment, or behind.
    answer.then(
      (value) => value === null && known.delete(key),
      () => known.delete(key),
    );
    return answer;
  }
  // Every method of a reader asks for one thing, which its name and its arguments identify.
  const methods = Object.entries(chain as unknown as Record<string, Ask>).map(
    ([name, ask]): [string, Ask] => [
      name,
      (...given) => once(JSON.stringify([name, ...given]), () => ask(...given)),
    ],
  );
  return Object.fromEntries(methods) as unknown as ChainReader;
}

type Ask = (...given: unknown[]) => Promise<unknown>;
