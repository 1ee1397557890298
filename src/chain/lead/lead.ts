/** The lead on the chain: while this node has it the chain is open, and the loops that work on it may. */
import type pg from 'pg';
import { locks } from '../../db/advisory-lock.ts';
import { createLeadership, LostLead, type Tenure } from '../../db/leadership.ts';
import { OperatorError } from '../../runtime/errors.ts';
import { type Loop, pause } from '../../runtime/loop.ts';
import type { Chain, Lead } from '../chain.ts';
import type { OpenChain, OpenChainDeps } from '../open-chain.ts';
import { openEmbeddedChain } from '../open-embedded-chain.ts';
import { openRpcChain } from '../open-rpc-chain.ts';

export interface ChainLead {
  /** Seeks the lead, opens the chain with it, and keeps both as long as it can. */
  loop: Loop;
  /** Null while another node leads or may be about to, or the chain is not open yet. */
  lead(): Lead | null;
  /**
   * To read from, which needs no certain lead. Null while this node does not have it open; where that is about to change,
   * because it has lost it a moment ago or is just starting, it is waited for.
   */
  openChain(): Promise<Chain | null>;
  /** Waits until the chain is closed, and ends what this node left running. Stop the loop before. */
  close(): Promise<void>;
}

export interface ChainLeadOptions extends OpenChainDeps {
  connection(): pg.ClientConfig;
  /** Each time this node begins to lead: there may be work that waited for it. */
  onLead?(): void;
  /** Each time it looks and another node leads. */
  onStandBy?(): void;
  /** How long a reader waits at most for a chain that is about to be open. The usual is about half a second. */
  patienceMs?: number;
}

export function createChainLead(options: ChainLeadOptions): ChainLead {
  const { connection, db, config, log, onLead = () => {}, onStandBy = () => {} } = options;
  const { patienceMs = 2_000 } = options;
  const leadership = createLeadership({ work: 'chain', lock: locks.chainLead, connection, db, log });
  let current: { tenure: Tenure; chain: Chain } | null = null;
  /** Since when `current` is about to be there again; null while there is none, and none is to be expected. */
  let awaitedSince: number | null = null;
  let changed = Promise.withResolvers<void>();
  /** Of a term that was lost: its node still runs, so that this node starts quickly should it lead again. */
  let left: OpenChain | null = null;
  let running: Promise<void> = Promise.resolve();
  let started = false;

  function become(state: typeof current | 'awaited'): void {
    current = state === 'awaited' ? null : state;
    awaitedSince = state === 'awaited' ? performance.now() : null;
    changed.resolve();
    changed = Promise.withResolvers();
  }

  async function endLeft(): Promise<void> {
    const last = left;
    left = null;
    await last?.close();
  }

  async function during(tenure: Tenure, { signal, beat }: { signal: AbortSignal; beat: () => void }) {
    const open = await (config.rpcUrls.length === 0 ? openEmbeddedChain : openRpcChain)(tenure, options);
    // What was left is adopted by now, or was of no use.
    await endLeft();
    try {
      become({ tenure, chain: open.chain });
      beat();
      onLead();
      await open.keep(tenure.signal, beat);
    } finally {
      const lost = tenure.signal.aborted && !signal.aborted;
      become(lost ? 'awaited' : null);
      if (lost) {
        await open.leave();
        left = open;
      } else {
        await open.close();
      }
    }
  }

  function seekAndKeep(signal: AbortSignal, beat: () => void): Promise<void> {
    return leadership.run((tenure) => during(tenure, { signal, beat }).catch(explain), {
      signal,
      onStandBy() {
        beat();
        onStandBy();
        // At first it may be the connection that this node has just lost which holds the lock.
        if (awaitedSince !== null && performance.now() - awaitedSince < patienceMs) return;
        become(null);
        // Another node has its own by now.
        endLeft().catch((error) =>
          log.error({ err: error }, 'could not stop a leftover node of the embedded chain'),
        );
      },
    });
  }

  return {
    loop: {
      name: 'chain',
      // A first start from a long journal is the longest way to the next beat.
      stuckAfterMs: 300_000,
      run(signal, beat) {
        if (!started) become('awaited');
        started = true;
        const run = seekAndKeep(signal, beat);
        running = run.then(
          () => become(null),
          (error) => {
            if (!(error instanceof LostLead)) become(null);
          },
        );
        return run;
      },
    },
    lead() {
      const term = current?.tenure.term();
      return current && term ? { term, chain: current.chain } : null;
    },
    async openChain() {
      // All wait for the same moment: an opening that takes long holds up nobody for longer than that.
      const leftMs = awaitedSince === null ? 0 : awaitedSince + patienceMs - performance.now();
      if (current === null && leftMs > 0) {
        const early = new AbortController();
        await Promise.race([changed.promise, pause(leftMs, early.signal)]);
        early.abort();
      }
      return current?.chain ?? null;
    },
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
