/** Finds the id of the configured chain, even on a node that never led and before the chain is first opened. */
import type { Db } from '../db/database.ts';
import { AppError } from '../runtime/errors.ts';
import { createJournal } from './embedded/journal.ts';
import { discoverChain } from './rpc/rpc.ts';
import { findStoredChain } from './stored-chain.ts';

export interface ChainIdDeps {
  db: Db;
  /** Empty: the embedded chain. */
  rpcUrls: readonly string[];
}

/** How long an answer, or a failure, is reused before the nodes are asked again. */
const restMs = 5_000;
const askMs = 2_000;

/** Throws service_unavailable while the id is unknown. */
export function createChainIdFinder({ db, rpcUrls }: ChainIdDeps): () => number | Promise<number> {
  /** The stored id, which never changes. */
  let known: number | null = null;
  let asked: { until: number; answer: Promise<number | null> } | null = null;

  /** For the time before the id is stored: reads it from the journal, or asks the configured nodes. */
  async function ask(): Promise<number | null> {
    if (rpcUrls.length === 0) return createJournal(db).chainId();
    try {
      return (await discoverChain(rpcUrls, askMs)).chainId;
    } catch {
      return null;
    }
  }

  async function find(): Promise<number> {
    const stored = await findStoredChain(db);
    if (stored) {
      known = stored.chainId;
      return known;
    }
    if (!asked || asked.until <= performance.now())
      asked = { until: performance.now() + restMs, answer: ask() };
    const answer = await asked.answer;
    if (answer !== null) return answer;
    throw new AppError(
      'service_unavailable',
      'The service has not reached the chain yet, so the chain id is not known. Try again in a moment.',
      { retryAfterSeconds: restMs / 1000 },
    );
  }

  return () => known ?? find();
}
