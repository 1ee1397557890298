/**
 * Caches the answers of a chain: thousands of entries share a few batches, and the chain node should not be asked for each.
 */
import type { ChainReader } from '../../src/proof/chain-reader.ts';

export function rememberChain(chain: ChainReader): ChainReader {
  const known = new Map<string, Promise<unknown>>();
  function once<Answer>(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const asked = known.get(key);
    if (asked) return asked as Promise<Answer>;
    const answer = ask();
    known.set(key, answer);
    // Errors and missing results are not cached: the chain node may have been unavailable for a moment, or behind.
    answer.then(
      (value) => value === null && known.delete(key),
      () => known.delete(key),
    );
    return answer;
  }
  return {
    chainId: () => once('id', chain.chainId),
    isEmbedded: () => once('embedded', chain.isEmbedded),
    codeHash: (address) => once(`code ${address}`, () => chain.codeHash(address)),
    storedAnchor: (key) =>
      once(`anchor ${key.registry} ${key.submitter} ${key.root}`, () => chain.storedAnchor(key)),
    transaction: (hash, block) => once(`transaction ${hash} ${block}`, () => chain.transaction(hash, block)),
    block: (number) => once(`block ${number}`, () => chain.block(number)),
    finality: () => once('finality', chain.finality),
  };
}
