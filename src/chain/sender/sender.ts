/** Outgoing transactions: one account, nonces without gaps, bytes stored before they are sent, each payload mined once. */
import type { Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Db } from '../../db/database.ts';
import type { LoopLog } from '../../runtime/loop.ts';
import type { Chain, Lead } from '../chain.ts';
import { type Fees, readFees } from './fees.ts';
import { createFinalCount } from './final-count.ts';
import { insertAttempt, insertOutgoing, nextNonce, takeNonce } from './outgoing.store.ts';
import { createReplacement } from './replacement.ts';
import { createSendBackoff, type Trouble } from './send-backoff.ts';
import { runSendPass } from './send-pass.ts';
import { createSettlement, type Settlement } from './settlement.ts';
import { type Payload, signTransaction } from './signing.ts';
import type { ApplyOutcomes } from './transaction-outcomes.ts';

/** What must be read from the chain before the database transaction that enqueues something. */
export interface Quote {
  chainId: number;
  fees: Fees;
  /** The account's next nonce according to the chain; null if the database is known to have it. */
  firstNonce: number | null;
}

export interface Outgoing extends Payload {
  /** Who requested it, so that its outcome can be delivered there. */
  purpose: string;
}

export interface SenderStatus {
  /** The trouble of the lowest nonce that has any, as far as this node has seen. */
  waiting: (Trouble & { outgoingId: number }) | null;
}

export interface Sender extends Settlement {
  quote(lead: Lead): Promise<Quote>;
  /** Takes a nonce, signs and stores, without broadcasting. Runs inside the commit that creates what is to be sent. */
  enqueue(db: Db, quote: Quote, outgoing: Outgoing): Promise<{ id: number; hash: Hex }>;
  /** Sends what is due; true if there may be more to do at once. Throws RPC faults, which lose nothing. */
  step(lead: Lead): Promise<boolean>;
  status(): SenderStatus;
}

export interface SenderDeps {
  /** The sending account; its key stays with the keyring. */
  submitter(): Promise<PrivateKeyAccount>;
  applyOutcomes: ApplyOutcomes;
  /**
   * Runs in the commit that finds that the chain has transactions of the account which the database does not know: they
   * were lost with a database, or another program uses the account. May run several times for the same ones.
   */
  onLostNonces(db: Db): Promise<unknown>;
  log: LoopLog;
  /** The most that is ever offered per unit of gas. */
  maxFeePerGasWei?: bigint;
  rebroadcastAfterMs?: number;
  bumpAfterMs?: number;
  /** How long a transaction that failed by itself is left alone. */
  holdMs?: number;
}

/** 500 gwei, the default of the setting: about 0.025 ether for an anchor of 46,000 gas. */
export const defaultMaxFeePerGasWei = 500_000_000_000n;

export function createSender({
  submitter,
  applyOutcomes,
  onLostNonces,
  log,
  maxFeePerGasWei = defaultMaxFeePerGasWei,
  rebroadcastAfterMs = 10_000,
  bumpAfterMs = 30_000,
  holdMs = 2_000,
}: SenderDeps): Sender {
  const backoff = createSendBackoff(holdMs);
  const finalCount = createFinalCount({ submitter, onLostNonces });
  const replacement = createReplacement({ submitter, applyOutcomes, finalCount, maxFeePerGasWei });
  /** Whether an earlier commit has already stored the account's next nonce in the database. */
  let hasNonce = false;
  /** The chain of the current tenure, once the account's nonces on it were compared with the database. */
  let comparedOn: Chain | null = null;

  /** Before anything is built or signed: who quotes may then still see what `onLostNonces` has changed. */
  async function compare({ chain, term }: Lead): Promise<number> {
    const { address } = await submitter();
    const counts = [
      await chain.client.getTransactionCount({ address, blockTag: 'latest' }),
      await chain.client.getTransactionCount({ address, blockTag: 'pending' }),
    ];
    const count = Math.max(...counts);
    if (comparedOn === chain) return count;
    const lost = await term.commit(async (db) => {
      const next = await nextNonce(db, address);
      // Everything is stored before it is sent.
      if (next !== null && next < count) await onLostNonces(db);
      return next === null ? 0 : count - next;
    });
    if (lost > 0)
      log.error(
        { account: address, transactions: lost },
        'The chain has transactions that the database does not know: the database lacks its last commits, or another program sends from the account. New seals and events are numbered behind what was lost.',
      );
    comparedOn = chain;
    return count;
  }

  return {
    ...createSettlement(applyOutcomes),

    async quote(lead) {
      const { client, chainId } = lead.chain;
      const fees = await readFees(client, maxFeePerGasWei);
      const count = hasNonce && comparedOn === lead.chain ? null : await compare(lead);
      return { chainId, fees, firstNonce: hasNonce ? null : count };
    },

    async enqueue(db, { chainId, fees, firstNonce }, outgoing) {
      const account = await submitter();
      const { nonce, isFirst } = await takeNonce(db, account.address, firstNonce);
      hasNonce ||= !isFirst;
      const signed = await signTransaction(account, outgoing, { chainId, nonce, fees });
      const id = await insertOutgoing(db, account.address, { ...outgoing, nonce });
      await insertAttempt(db, id, { ...signed, number: 1, fees });
      return { id, hash: signed.hash };
    },

    async step(lead) {
      await finalCount.begin(lead);
      return runSendPass(lead, {
        submitter,
        applyOutcomes,
        replacement,
        backoff,
        log,
        rebroadcastAfterMs,
        bumpAfterMs,
      });
    },

    status: () => ({ waiting: backoff.first() }),
  };
}
