/** The lead on the chain: while this node has it the chain is open, and the loops that work on it may. */
import type pg from 'pg';
import { createLeadership, type Term } from '../db/leadership.ts';
import { locks } from '../db/turn.ts';
import { OperatorError } from '../errors.ts';
import type { Loop } from '../loop.ts';
import type { Lead } from './chain.ts';
import type { OpenChain, OpenChainDeps } from './open-chain.ts';
import { openEmbeddedChain } from './open-embedded-chain.ts';
import { openRpcChain } from './open-rpc-chain.ts';

export interface ChainLead {
  /** Seeks the lead, opens the chain with it, and keeps both as long as it can. */
  loop: Loop;
  /** Null while another node leads, or the chain is not open yet. */
  lead(): Lead | null;
  /** Waits until the chain is closed, and ends what this node left running. Stop the loop before. */
  close(): Promise<void>;
}

export interface ChainLeadOptions extends OpenChainDeps {
  connection(): pg.ClientConfig;
  /** Each time this node begins to lead: there may be work that waited for it. */
  onLead?(): void;
  /** Each time it looks and another node leads. */
  onStandBy?(): void;
}

export function createChainLead(options: ChainLeadOptions): ChainLead {
  const { connection, db, config, log, onLead = () => {}, onStandBy = () => {} } = options;
  const leadership = createLeadership({ work: 'chain', lock: locks.chainLead, connection, db, log });
  let current: Lead | null = null;
  /** Of a term that was lost: its node still runs, so that this node starts quickly should it lead again. */
  let left: OpenChain | null = null;
  let running: Promise<void> = Promise.resolve();

  async function endLeft(): Promise<void> {
    const last = left;
    left = null;
    await last?.close();
  }

  async function during(term: Term, { signal, beat }: { signal: AbortSignal; beat: () => void }) {
    const open = await (config.rpcUrls.length === 0 ? openEmbeddedChain : openRpcChain)(term, options);
    // What was left is adopted by now, or was of no use.
    await endLeft();
    try {
      current = { term, chain: open.chain };
      beat();
      onLead();
      await open.keep(term.signal, beat);
    } finally {
      current = null;
      const lost = term.signal.aborted && !signal.aborted;
      if (lost) {
        await open.leave();
        left = open;
      } else {
        await open.close();
      }
    }
  }

  function seekAndKeep(signal: AbortSignal, beat: () => void): Promise<void> {
    return leadership.run((term) => during(term, { signal, beat }).catch(explain), {
      signal,
      onStandBy() {
        beat();
        onStandBy();
        // Another node has its own by now.
        endLeft().catch((error) => log.error({ err: error }, 'a node of the embedded chain was left behind'));
      },
    });
  }

  return {
    loop: {
      name: 'chain',
      // A first start from a long journal is the longest way to the next beat.
      stuckAfterMs: 300_000,
      run(signal, beat) {
        const run = seekAndKeep(signal, beat);
        running = run.catch(() => {});
        return run;
      },
    },
    lead: () => (current && !current.term.signal.aborted ? current : null),
    async close() {
      await running;
      await endLeft();
    },
  };
}

/** The service runs all the same; what is accepted stays pending. */
function explain(error: unknown): never {
  if (!(error instanceof OperatorError)) throw error;
  throw new OperatorError(`anchoring waits: ${error.message}`);
}
