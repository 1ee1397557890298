/** One node at a time leads work that must not be done twice; a successor's epoch fences off what the one before writes late. */
import type { Db } from './database.ts';

/** The time in which this node leads. */
export interface Term {
  epoch: number;
  /** Aborts when the lead is lost or given up. */
  signal: AbortSignal;
  /** Does the work in one transaction, and throws LostLead, nothing committed, when another node leads by now. */
  commit<T>(work: (db: Db) => Promise<T>): Promise<T>;
}

/** The work is another node's now: to be left alone, not retried. */
export class LostLead extends Error {
  constructor(message = 'another node leads by now') {
    super(message);
    this.name = 'LostLead';
  }
}
