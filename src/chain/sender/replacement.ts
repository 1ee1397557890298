/**
 * New signatures for open transactions: higher fees, a no-op in place of a payload that can never succeed, and, if
 * another program used the nonce, the same payload under a new nonce. Always checks first for a receipt of an earlier
 * attempt, and stores every signature before it is sent.
 */
import type { Address, EstimateGasParameters } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Db } from '../../db/database.ts';
import type { Lead } from '../chain.ts';
import { rpcFaultOf } from '../rpc/json-rpc.ts';
import { findReceipt } from './broadcast.ts';
import { type Fees, raiseFees, readFees } from './fees.ts';
import type { FinalCount } from './final-count.ts';
import {
  type Attempt,
  changeOutgoing,
  insertAttempt,
  leaveNonce,
  lockOpen,
  type OpenTransaction,
  takeNonce,
} from './outgoing.store.ts';
import { type Payload, signTransaction, transferGas } from './signing.ts';
import type { ApplyOutcomes } from './transaction-outcomes.ts';

export interface Replacement {
  /**
   * The same payload or no-op with higher fees; null at the cap, if it is mined, and with `ifDearer` if the current fees
   * are not above its own.
   */
  bump(lead: Lead, open: OpenTransaction, options?: { ifDearer: boolean }): Promise<Attempt | null>;
  /** The same payload with a higher gas limit, based on a new estimate; null at the maximum gas, and if it is mined. */
  withMoreGas(lead: Lead, open: OpenTransaction): Promise<Attempt | null>;
  /** An empty transaction to the account itself, on the same nonce; null if the transaction is mined. */
  noOp(lead: Lead, open: OpenTransaction, reason: string): Promise<Attempt | null>;
  /** Whether the nonce is used as of a final block, by a transaction that the indexer does not know as ours. */
  isTakenByOther(lead: Lead, open: OpenTransaction): Promise<boolean>;
  /** The payload under the next free nonce; null if it is mined, or if it can never succeed and is marked failed instead. */
  moveToNewNonce(lead: Lead, open: OpenTransaction): Promise<{ nonce: number; attempt: Attempt } | null>;
}

export interface ReplacementDeps {
  submitter(): Promise<PrivateKeyAccount>;
  applyOutcomes: ApplyOutcomes;
  finalCount: Pick<FinalCount, 'includes'>;
  /** The most that is ever offered per unit of gas. */
  maxFeePerGasWei: bigint;
}

/** No anchor is worth more; some chains refuse transactions with twice as much (EIP-7825). */
const mostGas = 8_000_000;

export const takenByOther = 'a transaction not sent by this service used its nonce';

export function createReplacement(deps: ReplacementDeps): Replacement {
  const { submitter, applyOutcomes, finalCount, maxFeePerGasWei } = deps;

  async function addAttempt(
    lead: Lead,
    open: OpenTransaction,
    { payload, fees, noOp, reason }: { payload: Payload; fees: Fees; noOp: boolean; reason: string | null },
  ): Promise<Attempt | null> {
    const { nonce } = open;
    const number = open.attempts[0].number + 1;
    const signed = await signTransaction(await submitter(), payload, {
      chainId: lead.chain.chainId,
      nonce,
      fees,
    });
    const stored = await lead.term.commit(async (db) => {
      if (!(await lockOpen(db, open))) return false;
      if (reason !== open.reason) await changeOutgoing(db, open.id, { reason });
      if (!noOp && payload.gasLimit !== open.payload.gasLimit) {
        await changeOutgoing(db, open.id, { gas_limit: payload.gasLimit });
      }
      await insertAttempt(db, open.id, { ...signed, number, fees, noOp });
      return true;
    });
    return stored ? { ...signed, ...fees, number, noOp, firstSentAgoMs: null, sentAgoMs: null } : null;
  }

  return {
    async bump(lead, open, { ifDearer } = { ifDearer: false }) {
      const [newest] = open.attempts;
      if (await isMined(lead, open)) return null;
      const present = await readFees(lead.chain.client, maxFeePerGasWei);
      const isDearer = present.maxFeeWei > newest.maxFeeWei || present.priorityFeeWei > newest.priorityFeeWei;
      if (ifDearer && !isDearer) return null;
      const fees = raiseFees(newest, present, maxFeePerGasWei);
      if (!fees) return null;
      const payload = newest.noOp ? await noOpPayload(lead, (await submitter()).address) : open.payload;
      return addAttempt(lead, open, { payload, fees, noOp: newest.noOp, reason: open.reason });
    },

    async withMoreGas(lead, open) {
      if (open.payload.gasLimit >= mostGas || (await isMined(lead, open))) return null;
      const { client } = lead.chain;
      const { to, data, gasLimit } = open.payload;
      const estimated = await estimate(lead, { to, data });
      const wanted = Math.max(2 * gasLimit, 2 * (estimated ?? 0));
      const payload = { to, data, gasLimit: Math.min(wanted, mostGas) };
      const present = await readFees(client, maxFeePerGasWei);
      // A node may have the former attempt after all, so this one has to outbid it, as far as the cap allows.
      const fees = raiseFees(open.attempts[0], present, maxFeePerGasWei) ?? present;
      const attempt = await addAttempt(lead, open, { payload, fees, noOp: false, reason: open.reason });
      if (attempt) open.payload = payload;
      return attempt;
    },

    async noOp(lead, open, reason) {
      if (await isMined(lead, open)) return null;
      const present = await readFees(lead.chain.client, maxFeePerGasWei);
      const payload = await noOpPayload(lead, (await submitter()).address);
      // A node may have the payload after all, so the no-op has to outbid it, as far as the cap allows.
      const fees = raiseFees(open.attempts[0], present, maxFeePerGasWei) ?? present;
      return addAttempt(lead, open, { payload, fees, noOp: true, reason });
    },

    isTakenByOther: (lead, { nonce }) => finalCount.includes(lead, nonce),

    async moveToNewNonce(lead, open) {
      if (await isMined(lead, open)) return null;
      const account = await submitter();
      const { client, chainId } = lead.chain;
      const fees = await readFees(client, maxFeePerGasWei);
      return lead.term.commit(async (db) => {
        if (!(await lockOpen(db, open))) return null;
        if (open.reason !== null) {
          await fail(db, open, open.reason);
          return null;
        }
        const { nonce } = await takeNonce(db, account.address);
        const signed = await signTransaction(account, open.payload, { chainId, nonce, fees });
        await leaveNonce(db, open.id, { nonce, reason: takenByOther });
        await insertAttempt(db, open.id, { ...signed, number: 1, fees });
        const attempt = { ...signed, ...fees, number: 1, noOp: false, firstSentAgoMs: null, sentAgoMs: null };
        return { nonce, attempt };
      });
    },
  };

  async function fail(db: Db, { id, purpose }: OpenTransaction, reason: string): Promise<void> {
    await changeOutgoing(db, id, { status: 'failed' });
    await applyOutcomes(db, [{ outgoingId: id, purpose, to: 'failed', reason }]);
  }
}

async function isMined({ chain }: Lead, { attempts }: OpenTransaction): Promise<boolean> {
  return (
    (await findReceipt(
      chain.client,
      attempts.map(({ hash }) => hash),
    )) !== null
  );
}

async function noOpPayload(lead: Lead, address: Address): Promise<Payload> {
  // Some chains require more than the usual gas, and return that as the estimate.
  const gas = await estimate(lead, { account: address, to: address, value: 0n });
  return { to: address, data: '0x', gasLimit: Math.max(gas ?? 0, transferGas) };
}

/** Null if the node refuses the estimate. */
async function estimate({ chain }: Lead, call: EstimateGasParameters): Promise<number | null> {
  try {
    return Number(await chain.client.estimateGas(call));
  } catch (error) {
    if (rpcFaultOf(error)?.kind !== 'refused') throw error;
    return null;
  }
}
