/** SQL for outgoing transactions: their nonces, their signed attempts, and which are still open. */
import { sql } from 'kysely';
import type { Address, Hex } from 'viem';
import { fromBytea, toBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import type { Fees } from './fees.ts';
import type { Payload, Signed } from './signing.ts';

export interface Attempt {
  number: number;
  hash: Hex;
  raw: Hex;
  noOp: boolean;
  maxFeeWei: bigint;
  priorityFeeWei: bigint;
  /**
   * Time since it was first and last sent to a node; null if it was never sent, or must be sent again at once. By the
   * database's clock, so that it is the same on every node.
   */
  firstSentAgoMs: number | null;
  sentAgoMs: number | null;
}

/** Neither mined nor failed, as far as we know. */
export interface OpenTransaction {
  id: number;
  nonce: number;
  purpose: string;
  status: 'signed' | 'submitted';
  payload: Payload;
  /** Why the payload can never succeed; null while it may. */
  reason: string | null;
  /** Newest first, never empty. */
  attempts: [Attempt, ...Attempt[]];
}

/** An attempt that was sent to a node, and whether the node has it now. */
export interface Sent {
  id: number;
  number: number;
  taken: boolean;
}

/** Takes the account's next nonce and locks it until the commit. `firstNonce` is for an account that never sent anything. */
export async function takeNonce(
  db: Db,
  address: Address,
  firstNonce: number | null = null,
): Promise<{ nonce: number; isFirst: boolean }> {
  const account = toBytea(address);
  const taken = await db
    .updateTable('sender_accounts')
    .set({ next_nonce: sql`next_nonce + 1` })
    .where('address', '=', account)
    .returning(sql<number>`next_nonce - 1`.as('nonce'))
    .executeTakeFirst();
  if (taken) return { nonce: taken.nonce, isFirst: false };
  if (firstNonce === null) throw new Error(`the account ${address} is gone from the database`);
  await db
    .insertInto('sender_accounts')
    .values({ address: account, next_nonce: firstNonce + 1 })
    .execute();
  return { nonce: firstNonce, isFirst: true };
}

/**
 * Given how many nonces are used as of a final block that is indexed: makes the account continue with at least this nonce.
 * Returns whether unknown transactions have used any: nonces that were not taken yet, or those of open transactions.
 */
export async function skipNonces(db: Db, address: Address, count: number): Promise<boolean> {
  const account = toBytea(address);
  const skipped = await db
    .updateTable('sender_accounts')
    .set({ next_nonce: count, lost_below: count })
    .where('address', '=', account)
    .where('next_nonce', '<', count)
    .returning('address')
    .executeTakeFirst();
  if (skipped) return true;
  const open = await db
    .selectFrom('outgoing_transactions')
    .select('id')
    .where('account', '=', account)
    .where('status', 'in', ['signed', 'submitted'])
    .where('nonce', '<', count)
    .limit(1)
    .executeTakeFirst();
  return open !== undefined;
}

/** The account's next nonce; null if it never had an outgoing transaction. */
export async function nextNonce(db: Db, account: Address): Promise<number | null> {
  const known = await db
    .selectFrom('sender_accounts')
    .select('next_nonce')
    .where('address', '=', toBytea(account))
    .executeTakeFirst();
  return known?.next_nonce ?? null;
}

export async function insertOutgoing(
  db: Db,
  address: Address,
  { nonce, purpose, to, data, gasLimit }: Payload & { nonce: number; purpose: string },
): Promise<number> {
  const { id } = await db
    .insertInto('outgoing_transactions')
    .values({
      account: toBytea(address),
      nonce,
      purpose,
      to_address: toBytea(to),
      call_data: toBytea(data),
      gas_limit: gasLimit,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export async function insertAttempt(
  db: Db,
  transactionId: number,
  { number, hash, raw, fees, noOp = false }: Signed & { number: number; fees: Fees; noOp?: boolean },
): Promise<void> {
  await db
    .insertInto('outgoing_attempts')
    .values({
      transaction_id: transactionId,
      number,
      hash: toBytea(hash),
      raw: toBytea(raw),
      max_fee_wei: String(fees.maxFeeWei),
      priority_fee_wei: String(fees.priorityFeeWei),
      no_op: noOp,
    })
    .execute();
}

/** The first open transactions of an account by nonce; later ones have to wait for these on chain anyway. */
export async function findOpen(db: Db, address: Address, limit: number): Promise<OpenTransaction[]> {
  const { rows } = await sql<OpenRow>`
    select t.id, t.nonce, t.purpose, t.status, t.to_address, t.call_data, t.gas_limit, t.reason,
           a.number, a.hash, a.raw, a.no_op, a.max_fee_wei, a.priority_fee_wei,
           extract(epoch from now() - a.first_broadcast_at)::float8 * 1000 as first_sent_ago_ms,
           extract(epoch from now() - a.broadcast_at)::float8 * 1000 as sent_ago_ms
    from (
      select id, nonce, purpose, status, to_address, call_data, gas_limit, reason from outgoing_transactions
      where account = ${toBytea(address)} and status in ('signed', 'submitted') order by nonce limit ${limit}
    ) t join outgoing_attempts a on a.transaction_id = t.id
    order by t.nonce, a.number desc`.execute(db);
  const found = new Map<number, OpenTransaction>();
  for (const row of rows) {
    const attempt = toAttempt(row);
    const known = found.get(row.id);
    if (known) known.attempts.push(attempt);
    else {
      found.set(row.id, {
        id: row.id,
        nonce: row.nonce,
        purpose: row.purpose,
        status: row.status,
        payload: {
          to: fromBytea(row.to_address),
          data: fromBytea(row.call_data),
          gasLimit: row.gas_limit,
        },
        reason: row.reason,
        attempts: [attempt],
      });
    }
  }
  return [...found.values()];
}

/** Locks a transaction that is still open under this nonce; false if it was settled or its nonce changed meanwhile. */
export async function lockOpen(db: Db, { id, nonce }: { id: number; nonce: number }): Promise<boolean> {
  const row = await db
    .selectFrom('outgoing_transactions')
    .select('id')
    .where('id', '=', id)
    .where('nonce', '=', nonce)
    .where('status', 'in', ['signed', 'submitted'])
    .forUpdate()
    .executeTakeFirst();
  return row !== undefined;
}

export async function changeOutgoing(
  db: Db,
  id: number,
  values: { nonce?: number; status?: 'signed' | 'failed'; reason?: string | null; gas_limit?: number },
): Promise<void> {
  await db.updateTable('outgoing_transactions').set(values).where('id', '=', id).execute();
}

/**
 * Gives the transaction another nonce. A failed copy keeps the old nonce and the attempts signed for it, so that nonces
 * have no gap and every attempt stays with the nonce that it was signed for.
 */
export async function leaveNonce(
  db: Db,
  id: number,
  { nonce, reason }: { nonce: number; reason: string },
): Promise<void> {
  const former = await db
    .selectFrom('outgoing_transactions')
    .select(['account', 'nonce', 'purpose', 'to_address', 'call_data', 'gas_limit'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await changeOutgoing(db, id, { nonce, status: 'signed' });
  const { id: left } = await db
    .insertInto('outgoing_transactions')
    .values({ ...former, status: 'failed', reason })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db
    .updateTable('outgoing_attempts')
    .set({ transaction_id: left })
    .where('transaction_id', '=', id)
    .execute();
}

/** The newest indexed block; null before the first. */
export async function lastIndexedBlock(db: Db): Promise<number | null> {
  const row = await db
    .selectFrom('chain_blocks')
    .select('number')
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.number ?? null;
}

/** Records what was just sent to nodes; returns the transactions that a node accepted for the first time. */
export async function storeBroadcasts(
  db: Db,
  sent: readonly Sent[],
): Promise<{ id: number; purpose: string }[]> {
  for (const { id, number } of sent) {
    await db
      .updateTable('outgoing_attempts')
      .set({ first_broadcast_at: sql`coalesce(first_broadcast_at, now())`, broadcast_at: sql`now()` })
      .where('transaction_id', '=', id)
      .where('number', '=', number)
      .execute();
  }
  const taken = sent.filter(({ taken }) => taken).map(({ id }) => id);
  if (taken.length === 0) return [];
  return db
    .updateTable('outgoing_transactions')
    .set({ status: 'submitted' })
    .where('id', 'in', taken)
    .where('status', '=', 'signed')
    .returning(['id', 'purpose'])
    .execute();
}

interface OpenRow {
  id: number;
  nonce: number;
  purpose: string;
  status: 'signed' | 'submitted';
  to_address: Buffer;
  call_data: Buffer;
  gas_limit: number;
  reason: string | null;
  number: number;
  hash: Buffer;
  raw: Buffer;
  no_op: boolean;
  max_fee_wei: string;
  priority_fee_wei: string;
  first_sent_ago_ms: number | null;
  sent_ago_ms: number | null;
}

function toAttempt(row: OpenRow): Attempt {
  return {
    number: row.number,
    hash: fromBytea(row.hash),
    raw: fromBytea(row.raw),
    noOp: row.no_op,
    maxFeeWei: BigInt(row.max_fee_wei),
    priorityFeeWei: BigInt(row.priority_fee_wei),
    firstSentAgoMs: row.first_sent_ago_ms,
    sentAgoMs: row.sent_ago_ms,
  };
}

/** Whether this account has ever had an outgoing transaction. */
export async function hasSent(db: Db, account: Address): Promise<boolean> {
  return (await nextNonce(db, account)) !== null;
}

/** Whether any transaction is neither mined nor failed, as far as we know. */
export async function hasOpen(db: Db): Promise<boolean> {
  const { rows } = await sql`
    select 1 from outgoing_transactions where status in ('signed', 'submitted') limit 1`.execute(db);
  return rows.length > 0;
}
