/** One round over the open transactions, in nonce order: sends what is due, and handles each answer. */
import type { PrivateKeyAccount } from 'viem/accounts';
import type { LoopLog } from '../../runtime/loop.ts';
import type { Lead } from '../chain.ts';
import { type BroadcastOutcome, broadcast, findReceipt } from './broadcast.ts';
import {
  type Attempt,
  findOpen,
  type OpenTransaction,
  type Sent,
  storeBroadcasts,
} from './outgoing.store.ts';
import type { Replacement } from './replacement.ts';
import type { SendBackoff, Trouble } from './send-backoff.ts';
import { leastGas } from './signing.ts';
import type { ApplyOutcomes, TransactionOutcome } from './transaction-outcomes.ts';

export interface SendPassDeps {
  submitter(): Promise<PrivateKeyAccount>;
  applyOutcomes: ApplyOutcomes;
  replacement: Replacement;
  backoff: SendBackoff;
  log: LoopLog;
  /** After this time without being mined the same bytes are sent again: the pool may have dropped them. */
  rebroadcastAfterMs: number;
  /** After this time without being mined the fee is raised. */
  bumpAfterMs: number;
}

/** Nodes hold 16 to 64 transactions of one account; later ones have to wait for these on chain in any case. */
const window = 64;
/** After this time the round stops to store what it has sent; the next round continues at once. */
const longestMs = 10_000;

/** True if there may be more to do at once. */
export async function runSendPass(lead: Lead, deps: SendPassDeps): Promise<boolean> {
  const { submitter, applyOutcomes, backoff, log } = deps;
  const { term, chain } = lead;
  const { address } = await submitter();
  const open = await term.commit((db) => findOpen(db, address, window));
  backoff.keepOnly(open.map(({ id }) => id));
  const began = performance.now();
  const sent: Sent[] = [];
  let outOfTime = false;
  try {
    for (const transaction of open) {
      if (term.signal.aborted) break;
      outOfTime = performance.now() - began > longestMs;
      if (outOfTime) break;
      if (backoff.isHeld(transaction.id) || !isDue(transaction)) continue;
      const ended = await serve(transaction);
      if (ended === 'stop') break;
    }
  } finally {
    if (sent.length > 0) await store();
  }
  return outOfTime;

  function isDue(open: OpenTransaction): boolean {
    const { sentAgoMs } = open.attempts[0];
    return unsent(open) !== undefined || (sentAgoMs !== null && sentAgoMs >= deps.rebroadcastAfterMs);
  }

  async function serve(open: OpenTransaction): Promise<'stop' | 'go on'> {
    try {
      const attempt = await chooseAttempt(open);
      if (attempt === null) return 'go on';
      const least = leastGas(open.payload.data);
      if (!attempt.noOp && open.payload.gasLimit < least) {
        return await onMoreGas(
          open,
          attempt,
          `its bytes alone cost ${least} gas, but its limit is ${open.payload.gasLimit}`,
        );
      }
      return await sendAndAnswer(open, attempt);
    } catch (error) {
      // A fault of this transaction alone must not delay the later ones: the next round begins with those.
      backoff.hold(open.id);
      throw error;
    }
  }

  /** The attempt to send for a transaction that is due; null if there is nothing to send for now. */
  async function chooseAttempt(open: OpenTransaction): Promise<Attempt | null> {
    const [newest] = open.attempts;
    const fresh = unsent(open);
    if (fresh) return fresh;
    if (await isMined(open)) return null;
    const used = await chain.client.getTransactionCount({ address });
    if (used > open.nonce) return onNonceUsed(open);
    const slow = newest.firstSentAgoMs !== null && newest.firstSentAgoMs >= deps.bumpAfterMs;
    if (!slow || backoff.trouble(open.id)?.what === 'funds') return newest;
    // Only the next nonce in line outbids itself. Later ones have to wait for it whatever they offer, so they only follow
    // the market. Otherwise an hour without blocks would leave a whole queue that pays the cap.
    return (await bump(open, used < open.nonce)) ?? newest;
  }

  async function bump(open: OpenTransaction, ifDearer = false): Promise<Attempt | null> {
    const raised = await deps.replacement.bump(lead, open, { ifDearer });
    if (!raised) return null;
    open.attempts.unshift(raised);
    log.info(
      { ...about(open), maxFeeWei: raised.maxFeeWei.toString() },
      'sending outgoing transaction with a higher fee',
    );
    return raised;
  }

  async function sendAndAnswer(open: OpenTransaction, attempt: Attempt): Promise<'stop' | 'go on'> {
    const { answer, attempt: last } = await send(open, attempt);
    switch (answer.verdict) {
      case 'taken':
      case 'known':
        backoff.clear(open.id);
        return 'go on';
      case 'underpriced': {
        const dearer = await bump(open, true);
        if (dearer) return sendAndAnswer(open, dearer);
        trouble(open, { what: 'fees', reason: answer.reason });
        return 'go on';
      }
      case 'no_funds':
        trouble(open, { what: 'funds', reason: answer.reason });
        // Later nonces cannot be mined before this one.
        return 'stop';
      case 'nonce_used': {
        const next = (await isMined(open)) ? null : await onNonceUsed(open);
        return next ? sendAndAnswer(open, next) : 'go on';
      }
      case 'more_gas':
        return onMoreGas(open, last, answer.reason);
      case 'never':
        return onNever(open, last, answer.reason);
      case 'later':
        backoff.hold(open.id);
        trouble(open, { what: 'refused', reason: answer.reason });
        return 'go on';
    }
  }

  /** If the account cannot afford the newest attempt, falls back to an older, cheaper one. */
  async function send(
    open: OpenTransaction,
    attempt: Attempt,
  ): Promise<{ answer: BroadcastOutcome; attempt: Attempt }> {
    const answer = await broadcast(chain.client, attempt.raw);
    const { verdict } = answer;
    if (verdict === 'never' || verdict === 'more_gas' || verdict === 'later') return { answer, attempt };
    sent.push({ id: open.id, number: attempt.number, taken: verdict === 'taken' || verdict === 'known' });
    if (verdict !== 'no_funds') return { answer, attempt };
    const older = open.attempts.find(({ number, noOp }) => number < attempt.number && noOp === attempt.noOp);
    return older ? send(open, older) : { answer, attempt };
  }

  async function isMined(open: OpenTransaction): Promise<boolean> {
    const hashes = open.attempts.map(({ hash }) => hash);
    if (!(await findReceipt(chain.client, hashes))) return false;
    // The indexer will reach that block. Until then there is nothing to do.
    backoff.clear(open.id);
    backoff.hold(open.id);
    return true;
  }

  async function onNonceUsed(open: OpenTransaction): Promise<Attempt | null> {
    if (!(await deps.replacement.isTakenByOther(lead, open))) {
      backoff.hold(open.id);
      trouble(open, {
        what: 'nonce',
        reason: `nonce ${open.nonce} of ${address} was used by a transaction that was not signed here; a new nonce is assigned once that is final`,
      });
      return null;
    }
    log.error(
      about(open),
      `nonce ${open.nonce} of ${address} was used by a transaction that this service did not send: nothing else may use the account's key`,
    );
    const moved = await deps.replacement.moveToNewNonce(lead, open);
    backoff.clear(open.id);
    if (!moved) return null;
    open.nonce = moved.nonce;
    open.attempts = [moved.attempt];
    return moved.attempt;
  }

  /** On some rollups the cost of the bytes varies over time. Gives up only if even the maximum gas is not enough. */
  async function onMoreGas(open: OpenTransaction, last: Attempt, reason: string): Promise<'stop' | 'go on'> {
    const raised = last.noOp ? null : await deps.replacement.withMoreGas(lead, open);
    if (!raised) return onNever(open, last, reason);
    // Marks the old bytes as sent, so that only their replacement is sent from now on.
    sent.push({ id: open.id, number: last.number, taken: false });
    open.attempts.unshift(raised);
    log.info(
      { ...about(open), reason, gasLimit: open.payload.gasLimit },
      'sending outgoing transaction with more gas',
    );
    return sendAndAnswer(open, raised);
  }

  async function onNever(open: OpenTransaction, last: Attempt, reason: string): Promise<'stop' | 'go on'> {
    if (last.noOp) {
      backoff.hold(open.id);
      trouble(open, { what: 'refused', reason });
      return 'go on';
    }
    const noOp = await deps.replacement.noOp(lead, open, reason);
    if (!noOp) return 'go on';
    sent.push({ id: open.id, number: last.number, taken: false });
    log.error({ ...about(open), reason }, 'outgoing transaction can never succeed; a no-op takes its nonce');
    open.reason = reason;
    open.attempts.unshift(noOp);
    return sendAndAnswer(open, noOp);
  }

  function trouble(open: OpenTransaction, what: Trouble): void {
    if (!backoff.meet(open.id, what)) return;
    log.error(
      { ...about(open), waitingFor: what.what, reason: what.reason },
      'outgoing transaction is waiting',
    );
  }

  async function store(): Promise<void> {
    await term.commit(async (db) => {
      const outcomes = (await storeBroadcasts(db, sent)).map(
        ({ id, purpose }): TransactionOutcome => ({ outgoingId: id, purpose, to: 'submitted' }),
      );
      if (outcomes.length > 0) await applyOutcomes(db, outcomes);
    });
    if (sent.some(({ taken }) => taken)) chain.wake();
  }
}

/** An attempt that was never sent, or that a reorg removed from its block: these same bytes must be sent. */
function unsent({ attempts }: OpenTransaction): Attempt | undefined {
  return attempts.find(({ sentAgoMs }) => sentAgoMs === null);
}

function about({ id, nonce, purpose }: OpenTransaction): object {
  return { outgoingId: id, nonce, purpose };
}
