/** Decodes transactions and checks what does not depend on other transactions. */
import type { Common } from '@ethereumjs/common';
import { createTxFromRLP, TransactionType, type TypedTransaction } from '@ethereumjs/tx';
import { Account, type Address, bytesToHex, hexToBytes } from '@ethereumjs/util';
import type { Hex } from 'viem';
import type { CheckedTransaction } from './protocol.ts';
import type { State } from './state.ts';

/** The request is at fault, not the engine. */
export class InvalidRequest extends Error {
  override name = 'InvalidRequest';
}

/** Throws InvalidRequest if it is not a transaction of this chain with a valid signature. */
export function decodeTransaction(raw: Hex, common: Common): TypedTransaction {
  let transaction: TypedTransaction;
  try {
    transaction = createTxFromRLP(hexToBytes(raw), { common, freeze: false });
    const sender = senderOf(transaction);
    transaction.getSenderAddress = () => sender;
  } catch (error) {
    throw new InvalidRequest(`invalid transaction: ${(error as Error).message.slice(0, 200)}`);
  }
  if (transaction.type === TransactionType.BlobEIP4844) {
    throw new InvalidRequest('transaction type not supported: this chain has no blobs');
  }
  return transaction;
}

/** To recover a sender takes longer than to execute most transactions, and each is decoded at least twice. */
const senders = new Map<string, Address>();
const mostSenders = 4_096;

function senderOf(transaction: TypedTransaction): Address {
  const hash = bytesToHex(transaction.hash());
  const known = senders.get(hash);
  if (known) return known;
  const sender = transaction.getSenderAddress();
  senders.set(hash, sender);
  const [oldest] = senders.keys();
  if (senders.size > mostSenders && oldest !== undefined) senders.delete(oldest);
  return sender;
}

export async function checkTransaction(raw: Hex, state: State, common: Common): Promise<CheckedTransaction> {
  const transaction = decodeTransaction(raw, common);
  if (
    transaction.gasLimit > BigInt(Number.MAX_SAFE_INTEGER) ||
    transaction.nonce > BigInt(Number.MAX_SAFE_INTEGER)
  ) {
    throw new InvalidRequest('invalid transaction: gas limit or nonce out of range');
  }
  const intrinsic = transaction.getIntrinsicGas();
  if (transaction.gasLimit < intrinsic) {
    throw new InvalidRequest(`intrinsic gas too low: have ${transaction.gasLimit}, want ${intrinsic}`);
  }
  const from = transaction.getSenderAddress();
  const { nonce, balance } = await accountOf(state, from);
  return {
    hash: bytesToHex(transaction.hash()),
    from: from.toString(),
    nonce: Number(transaction.nonce),
    gasLimit: Number(transaction.gasLimit),
    ...costsOf(transaction),
    account: { nonce: Number(nonce), balanceWei: balance },
  };
}

export function costsOf(
  transaction: TypedTransaction,
): Pick<CheckedTransaction, 'maxFeeWei' | 'priorityFeeWei' | 'costWei'> {
  const fees = transaction as { gasPrice?: bigint; maxFeePerGas?: bigint; maxPriorityFeePerGas?: bigint };
  const maxFeeWei = fees.maxFeePerGas ?? fees.gasPrice ?? 0n;
  return {
    maxFeeWei,
    priorityFeeWei: fees.maxPriorityFeePerGas ?? maxFeeWei,
    costWei: transaction.value + transaction.gasLimit * maxFeeWei,
  };
}

export async function accountOf({ manager }: State, address: Address): Promise<Account> {
  return (await manager.getAccount(address)) ?? new Account();
}
