/** The batcher: selects all pending leaves, has them built into a tree and sealed, and commits them with one transaction. */
import type { Chain, Lead } from '../../chain/chain.ts';
import type { Sender } from '../../chain/sender/sender.ts';
import type { Db } from '../../db/database.ts';
import type { Keyring } from '../../keys/keyring.ts';
import type { LoopLog, Wakeup } from '../../runtime/loop.ts';
import { isHeadAloneDue } from '../evidence/head-alone.ts';
import { evidenceForHead } from '../evidence/head-evidence.ts';
import type { PlannedStamp } from '../evidence/renewal-rule.ts';
import { storeLook } from '../leaves/leaf-position.ts';
import { anchorCall } from './anchor-call.ts';
import type { BatchThread } from './batch-thread.ts';
import { batchesToResend, hasOpenAnchor, lockForResend, markResent, storeBatch } from './batches.store.ts';
import { type Selection, selectPending } from './pending-selection.ts';
import { createSealing } from './sealing.ts';

export interface BatcherDeps {
  db: Db;
  keyring: Pick<Keyring, 'signingKeys'>;
  thread: Pick<BatchThread, 'build'>;
  sender: Pick<Sender, 'quote' | 'enqueue'>;
  /** Woken when there is something to send. */
  senderWakeup: Pick<Wakeup, 'wake'>;
  log: Pick<LoopLog, 'error'>;
  /** Not null if a timestamp authority would be asked for a token of a batch that is made now. */
  plannedStamp?(): PlannedStamp | null;
  maxLeaves?: number;
  /** See SelectionOptions. */
  walkLimit?: number;
}

export interface Batcher {
  /**
   * Whether an anchor is not in a block yet. Another one would have to wait for it because of its nonce, and would save no
   * time: all pending leaves go into one batch when the chain continues, however long the account was out of funds.
   */
  waits(): Promise<boolean>;
  /**
   * Makes one batch of the pending leaves; true when there are more than fit into it. Without any, makes one of a head alone
   * if timestamps need it.
   */
  step(lead: Lead): Promise<boolean>;
  /** Makes new transactions for batches whose transaction reverted. */
  resend(lead: Lead): Promise<void>;
  /** Whether the last calls had anything to do, or left something for later. */
  isBusy(): boolean;
}

/** About 3 MB of leaves, and one or two seconds for the tree and the rows. */
const mostLeaves = 100_000;

export function createBatcher(deps: BatcherDeps): Batcher {
  const { db, sender, senderWakeup, log, plannedStamp = () => null, maxLeaves = mostLeaves } = deps;
  const limits = { maxLeaves, ...(deps.walkLimit && { walkLimit: deps.walkLimit }) };
  const sealing = createSealing(deps);
  let strandedTold = 0;
  let hasPending = false;
  let hasToResend = false;

  function tellStranded(leaves: number): void {
    if (leaves !== 0 && leaves !== strandedTold) {
      log.error({ leaves }, 'leaves are waiting because their previous leaves are not batched');
    }
    strandedTold = leaves;
  }

  /** No leaf of the selection can be batched now: they wait if there are others behind them. */
  async function goOn(lead: Lead, { look, waited }: Selection): Promise<boolean> {
    if (!look.isCut) return false;
    await lead.term.commit((db) => storeLook(db, look, { batched: [], waited }));
    return true;
  }

  return {
    waits: () => hasOpenAnchor(db),

    async step(lead) {
      const without = sealing.shunned();
      const selection = await selectPending(db, { ...limits, without });
      const { ids, stranded, full, look, waited } = selection;
      tellStranded(stranded);
      hasPending = full || ids.length > 0 || stranded > 0 || without.length > 0;
      const planned = plannedStamp();
      const isAlone = ids.length === 0;
      if (isAlone && (look.isCut || planned === null || !(await isHeadAloneDue(db, planned))))
        return goOn(lead, selection);
      // The quote comes first, so that nothing is built in vain while the chain is unavailable.
      const quote = await sender.quote(lead);
      const evidence = await evidenceForHead(db, { planned, isAlone });
      const sealed = isAlone ? await sealing.headAlone(evidence) : await sealing.seal(selection, evidence);
      if (sealed === null) return goOn(lead, selection);
      const call = await anchorCall(lead.chain, { root: sealed.root, size: sealed.ids.length, sends: 0 });
      await lead.term.commit(async (db) => {
        const { id: outgoingId } = await sender.enqueue(db, quote, call);
        await storeLook(db, look, { batched: sealed.ids, waited });
        await storeBatch(db, { ...sealed, outgoingId });
      });
      senderWakeup.wake();
      return full;
    },

    async resend(lead) {
      const batches = await batchesToResend(db);
      hasToResend = batches.length > 0;
      if (batches.length === 0) return;
      const finalNumber = await newestFinal(lead.chain);
      for (const batch of batches) {
        if (batch.revertedIn !== null && batch.revertedIn > finalNumber) continue;
        const quote = await sender.quote(lead);
        const call = await anchorCall(lead.chain, batch);
        await lead.term.commit(async (db) => {
          if (!(await lockForResend(db, batch.id))) return;
          const { id } = await sender.enqueue(db, quote, call);
          await markResent(db, batch.id, id);
        });
        senderWakeup.wake();
      }
    },

    isBusy: () => hasPending || hasToResend,
  };
}

/**
 * A transaction that reverted could still succeed on another branch. Next to a second one, the registry would keep the time
 * of whichever is mined first, so the second has to wait. The embedded chain has no branches.
 */
async function newestFinal(chain: Chain): Promise<number> {
  if (chain.embedded) return Number.POSITIVE_INFINITY;
  const { number } = await chain.head();
  return chain.finalizedNumber(number);
}
