/** Outgoing transactions: one account, nonces without a gap, signed bytes stored before they are sent, each anchored once. */
import type { Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Db } from '../../db/database.ts';
import type { LoopLog } from '../../runtime/loop.ts';
import type { Chain, Lead } from '../chain.ts';
import { type Fees, readFees } from './fees.ts';
import { createFinalCount } from './final-count.ts';
import { insertAttempt, insertOutgoing, takeNonce } from './outgoing.store.ts';
import { createReplacement } from './replacement.ts';
import { createSendBackoff, type Trouble } from './send-backoff.ts';
import { runSendPass } from './send-pass.ts';
import { createSettlement, type Settlement } from './settlement.ts';
import { type Payload, signTransaction } from './signing.ts';
import type { ApplyOutcomes } from './transaction-outcomes.ts';

/** What has to be known of the chain before a database transaction in which something is enqueued. */
export interface Quote {
  chainId: number;
  fees: Fees;
  /** The account's next nonce by the chain; null where the database is known to have it. */
  firstNonce: number | null;
}

export interface Outgoing extends Payload {
  /** Who asked for it, for whoever is told what became of it. */
  purpose: string;
}

export interface SenderStatus {
  /** What the transaction with the lowest nonce waits for, as far as this node knows since it leads. */
  waiting: (Trouble & { outgoingId: number }) | null;
}

export interface Sender extends Settlement {
  quote(chain: Chain): Promise<Quote>;
  /** Takes a nonce, signs and stores; broadcasts nothing. Inside the commit that makes what is to be sent. */
  enqueue(db: Db, quote: Quote, outgoing: Outgoing): Promise<{ id: number; hash: Hex }>;
  /** Sends what is due; true when there may be more to do at once. RPC faults are thrown, and nothing is lost by them. */
  step(lead: Lead): Promise<boolean>;
  status(): SenderStatus;
}

export interface SenderDeps {
  /** The account that sends; its key stays with the keyring. */
  submitter(): Promise<PrivateKeyAccount>;
  applyOutcomes: ApplyOutcomes;
  log: LoopLog;
  /** Most that is ever offered for a unit of gas. */
  maxFeePerGasWei?: bigint;
  rebroadcastAfterMs?: number;
  bumpAfterMs?: number;
  /** How long a transaction is left alone that failed for a reason of its own. */
  holdMs?: number;
}

/** 500 gwei, as the setting: some 0.025 ether for an anchor of 46,000 gas. */
export const defaultMaxFeePerGasWei = 500_000_000_000n;

export function createSender({
  submitter,
  applyOutcomes,
  log,
  maxFeePerGasWei = defaultMaxFeePerGasWei,
  rebroadcastAfterMs = 10_000,
  bumpAfterMs = 30_000,
  holdMs = 2_000,
}: SenderDeps): Sender {
  const backoff = createSendBackoff(holdMs);
  const finalCount = createFinalCount(submitter);
  const replacement = createReplacement({ submitter, applyOutcomes, finalCount, maxFeePerGasWei });
  /** Whether the database has the account's next nonce, seen in a commit before the present one. */
  let hasNonce = false;

  return {
    ...createSettlement(applyOutcomes),

    async quote({ client, chainId }) {
      const fees = await readFees(client, maxFeePerGasWei);
      if (hasNonce) return { chainId, fees, firstNonce: null };
      const { address } = await submitter();
      const counts = [
        await client.getTransactionCount({ address, blockTag: 'latest' }),
        await client.getTransactionCount({ address, blockTag: 'pending' }),
      ];
      return { chainId, fees, firstNonce: Math.max(...counts) };
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
