/** Leadership on the chain: while this node leads, the chain is open and the loops that work on it may run. */
import type pg from 'pg';
import { locks } from '../../db/advisory-lock.ts';
import { createLeadership, LostLead, type Tenure } from '../../db/leadership.ts';
import { OperatorError } from '../../runtime/errors.ts';
import { type Loop, pause } from '../../runtime/loop.ts';
import type { Chain, Lead } from '../chain.ts';
import type { OpenChainDeps } from '../open-chain.ts';
import { openEmbeddedChain } from '../open-embedded-chain.ts';
import { openRpcChain } from '../open-rpc-chain.ts';

export interface ChainLead {
  /** Tries to become the leader, then opens the chain, and keeps both as long as it can. */
  loop: Loop;
  /** Null while another node leads or may be about to lead, or while the chain is not open yet. */
  lead(): Lead | null;
  /**
   * For reading, which does not require certain leadership. Null while the chain is not open on this node; waits first if
   * it is about to open, because this node has just started or has just lost the lead.
   */
  openChain(): Promise<Chain | null>;
  /** Waits until the chain is closed. Stop the loop first. */
  close(): Promise<void>;
}

export interface ChainLeadOptions extends OpenChainDeps {
  connection(): pg.ClientConfig;
  /** Called each time this node begins to lead, because work may be waiting for it. */
  onLead?(): void;
  /** Called with the transaction of each sign of life. */
  onSign?(transactionId: number): void;
  /** Called each time this node checks and another node leads. */
  onStandBy?(): void;
  /** The longest that a reader waits for a chain that is about to open. It usually takes about half a second. */
  patienceMs?: number;
}

export function createChainLead(options: ChainLeadOptions): ChainLead {
  const { connection, db, config, log, onLead = () => {}, onStandBy = () => {} } = options;
  const { patienceMs = 2_000 } = options;
  const leadership = createLeadership({
    ...{ work: 'chain', lock: locks.chainLead, connection, db, log },
    ...(options.onSign && { onSign: options.onSign }),
  });
  let current: { tenure: Tenure; chain: Chain } | null = null;
  /** Since when `current` is expected to be set; null while it is set, and while it is not expected. */
  let awaitedSince: number | null = null;
  let changed = Promise.withResolvers<void>();
  let running: Promise<void> = Promise.resolve();
  let started = false;

  function become(state: typeof current | 'awaited'): void {
    current = state === 'awaited' ? null : state;
    awaitedSince = state === 'awaited' ? performance.now() : null;
    changed.resolve();
    changed = Promise.withResolvers();
  }

  async function during(tenure: Tenure, { signal, beat }: { signal: AbortSignal; beat: () => void }) {
    const open = await (config.rpcUrls.length === 0 ? openEmbeddedChain : openRpcChain)(tenure, options);
    try {
      become({ tenure, chain: open.chain });
      beat();
      onLead();
      await open.keep(tenure.signal, beat);
    } finally {
      const lost = tenure.signal.aborted && !signal.aborted;
      become(lost ? 'awaited' : null);
      await open.close();
    }
  }

  function seekAndKeep(signal: AbortSignal, beat: () => void): Promise<void> {
    return leadership.run((tenure) => during(tenure, { signal, beat }).catch(explain), {
      signal,
      onStandBy() {
        beat();
        onStandBy();
        // At first the lock may still belong to the connection that this node has just lost.
        if (awaitedSince !== null && performance.now() - awaitedSince < patienceMs) return;
        become(null);
      },
    });
  }

  return {
    loop: {
      name: 'chain',
      // The longest time between beats is a first start from a long journal.
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
      // All readers share one deadline, so a slow opening delays nobody beyond it.
      const leftMs = awaitedSince === null ? 0 : awaitedSince + patienceMs - performance.now();
      if (current === null && leftMs > 0) {
        const early = new AbortController();
        await Promise.race([changed.promise, pause(leftMs, early.signal)]);
        early.abort();
      }
      return current?.chain ?? null;
    },
    close: () => running,
  };
}

/** Says what the error means for the operator: the service runs on, and accepted work stays pending. */
function explain(error: unknown): never {
  if (!(error instanceof OperatorError)) throw error;
  throw new OperatorError(`anchoring waits: ${error.message}`);
}
