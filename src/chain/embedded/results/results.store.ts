/** What executing the journal's blocks gave: headers, receipts and state, written in the commit of each block. */

import { sql } from 'kysely';
import type { Hex } from 'viem';
import { fromBytea, toBytea } from '../../../db/bytea.ts';
import type { Db } from '../../../db/database.ts';
import type { BlockResult, ParentBlock, StoredReceipt } from '../engine/protocol.ts';
import { decodeReceipt, encodeReceipt } from './receipt-bytes.ts';

/** A block of the journal with its results. */
export interface StoredBlock extends ParentBlock {
  parentHash: Hex;
  transactionsRoot: Hex;
  receiptsRoot: Hex;
  /** Raw and signed, in the order of the block. */
  transactions: Hex[];
  /** In the same order. */
  receipts: StoredReceipt[];
}

export interface Results {
  /** The newest block that has results; null if none has. */
  head(): Promise<StoredBlock | null>;
  block(number: number): Promise<StoredBlock | null>;
  blockByHash(hash: Hex): Promise<StoredBlock | null>;
  /** In order, 500 at most; ends before transactions and receipts exceed `mostBytes`, but has at least one. */
  blocks(range: { from: number; to: number; mostBytes: number }): Promise<StoredBlock[]>;
  transaction(hash: Hex): Promise<{ number: number; index: number } | null>;
  node(key: Uint8Array): Promise<Uint8Array | null>;
  blockHash(number: number): Promise<Hex | null>;
}

const mostBlocks = 500;

/** States of this many blocks, the head included, can be read. */
export const keptStates = 64;

export function createResults(db: Db): Results {
  const blocks = () =>
    db
      .selectFrom('embedded_chain_results as r')
      .innerJoin('embedded_chain_blocks as b', 'b.number', 'r.number')
      .select(['b.number', 'b.hash', 'b.parent_hash', 'b.timestamp_seconds', 'b.transactions'])
      .select(['r.gas_used', 'r.base_fee_wei', 'r.state_root', 'r.transactions_root', 'r.receipts_root'])
      .select('r.receipts');

  return {
    async head() {
      const row = await blocks().orderBy('r.number', 'desc').limit(1).executeTakeFirst();
      return row ? fromRow(row) : null;
    },
    async block(number) {
      const row = await blocks().where('r.number', '=', number).executeTakeFirst();
      return row ? fromRow(row) : null;
    },
    async blockByHash(hash) {
      const row = await blocks().where('b.hash', '=', toBytea(hash)).executeTakeFirst();
      return row ? fromRow(row) : null;
    },
    async blocks({ from, to, mostBytes }) {
      const { rows } = await sql<Row>`
        select number, hash, parent_hash, timestamp_seconds, transactions, gas_used, base_fee_wei, state_root,
          transactions_root, receipts_root, receipts
        from (
          select b.*, r.gas_used, r.base_fee_wei, r.state_root, r.transactions_root, r.receipts_root, r.receipts,
            sum(pg_column_size(r.receipts) + pg_column_size(b.transactions)) over (order by r.number) as bytes
          from embedded_chain_results r join embedded_chain_blocks b on b.number = r.number
          where r.number between ${from} and ${Math.min(to, from + mostBlocks - 1)}
        ) as ranged
        where bytes <= ${mostBytes} or number = ${from}
        order by number`.execute(db);
      return rows.map(fromRow);
    },
    async transaction(hash) {
      const row = await db
        .selectFrom('embedded_chain_transactions')
        .select(['number', 'index'])
        .where('hash', '=', toBytea(hash))
        .executeTakeFirst();
      return row ?? null;
    },
    async node(key) {
      const row = await db
        .selectFrom('embedded_chain_nodes')
        .select('value')
        .where('key', '=', Buffer.from(key))
        .executeTakeFirst();
      return row?.value ?? null;
    },
    async blockHash(number) {
      const row = await db
        .selectFrom('embedded_chain_blocks')
        .select('hash')
        .where('number', '=', number)
        .executeTakeFirst();
      return row ? fromBytea(row.hash) : null;
    },
  };
}

/** Part of the commit of the block. Changes nothing if the block already has results. */
export async function insertResults(block: BlockResult, db: Db): Promise<void> {
  const inserted = await db
    .insertInto('embedded_chain_results')
    .values({
      number: block.number,
      gas_used: block.gasUsed,
      base_fee_wei: block.baseFeeWei.toString(),
      state_root: toBytea(block.stateRoot),
      transactions_root: toBytea(block.transactionsRoot),
      receipts_root: toBytea(block.receiptsRoot),
      receipts: block.transactions.map(({ receipt }) => encodeReceipt(receipt)),
    })
    .onConflict((conflict) => conflict.column('number').doNothing())
    .returning('number')
    .executeTakeFirst();
  if (!inserted) return;
  const { number, transactions, changes } = block;
  if (transactions.length > 0) {
    const hashes = transactions.map(({ hash }) => toBytea(hash));
    // Blocks of anvil may contain a transaction that an earlier block has; the first one counts.
    await sql`
      insert into embedded_chain_transactions (hash, number, index)
      select hash, ${number}, place - 1 from unnest(${hashes}::bytea[]) with ordinality as t (hash, place)
      on conflict do nothing`.execute(db);
  }
  const keys = changes.added.map(([key]) => Buffer.from(key));
  const values = changes.added.map(([, value]) => Buffer.from(value));
  // In one order, so that nobody waits in a circle. A node may be one that an earlier block replaced.
  await sql`
    insert into embedded_chain_nodes (since, key, value)
    select ${number}, key, value from unnest(${keys}::bytea[], ${values}::bytea[]) as n (key, value)
    on conflict (key) do update set since = excluded.since`.execute(db);
  await db
    .insertInto('embedded_chain_replaced')
    .values({ number, keys: changes.replaced.map((key) => Buffer.from(key)) })
    .onConflict((conflict) =>
      conflict.column('number').doUpdateSet((row) => ({ keys: row.ref('excluded.keys') })),
    )
    .execute();
  await pruneStates(number, db);
}

/** Deletes the nodes that only states before the kept ones have. A node that was made again since stays. */
async function pruneStates(head: number, db: Db): Promise<void> {
  const due = await db
    .deleteFrom('embedded_chain_replaced')
    .where('number', '<=', head - keptStates + 1)
    .returning(['number', 'keys'])
    .execute();
  for (const { number, keys } of due) {
    // By an array, for which PostgreSQL uses the index: a join would read the whole state.
    await sql`
      delete from embedded_chain_nodes where key = any(${keys}::bytea[]) and since < ${number}`.execute(db);
  }
}

/** Before everything is executed again. Not by truncating, which a backup that is being made would see. */
export async function deleteResults(db: Db): Promise<void> {
  await db.deleteFrom('embedded_chain_results').execute();
  await db.deleteFrom('embedded_chain_transactions').execute();
  await db.deleteFrom('embedded_chain_nodes').execute();
  await db.deleteFrom('embedded_chain_replaced').execute();
}

interface Row {
  number: number;
  hash: Buffer;
  parent_hash: Buffer;
  timestamp_seconds: number;
  transactions: Buffer[];
  gas_used: number;
  base_fee_wei: string;
  state_root: Buffer;
  transactions_root: Buffer;
  receipts_root: Buffer;
  receipts: Buffer[];
}

function fromRow(row: Row): StoredBlock {
  return {
    number: row.number,
    hash: fromBytea(row.hash),
    parentHash: fromBytea(row.parent_hash),
    timestampSeconds: row.timestamp_seconds,
    transactions: row.transactions.map(fromBytea),
    gasUsed: row.gas_used,
    baseFeeWei: BigInt(row.base_fee_wei),
    stateRoot: fromBytea(row.state_root),
    transactionsRoot: fromBytea(row.transactions_root),
    receiptsRoot: fromBytea(row.receipts_root),
    receipts: row.receipts.map(decodeReceipt),
  };
}
