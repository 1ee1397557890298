/**
 * The transactions of a vault, newest first, page by page. A reorg can move transactions past the reader's position; those
 * are shown again rather than left out.
 */
import type { Pool } from 'pg';
import { type HexText, toBytea } from '../../db/bytea.ts';
import { AppError } from '../../runtime/errors.ts';
import {
  belowHashStatement,
  belowStatement,
  movedStatement,
  type PageRow,
  readLine,
  readPosition,
  type Statement,
  type VaultTransaction,
} from './transactions.store.ts';

/** The last transaction of the previous page: only its hash, or also its position and the last reorg at that time. */
export interface Place {
  hash: HexText;
  stood?: { blockNumber: number; index: number; reorgId: number };
}

export interface TransactionQuery {
  workspaceId: string;
  vaultId: string;
  /** UTC days, both inclusive. */
  initialDate?: string | undefined;
  finalDate?: string | undefined;
  after: Place | null;
  limit: number;
}

export interface TransactionPage {
  transactions: VaultTransaction[];
  /** Where the next page begins; null on the last page. */
  next: Required<Place> | null;
  /** The newest indexed block; null while there is none. */
  indexedBlock: number | null;
}

export interface Transactions {
  list(query: TransactionQuery): Promise<TransactionPage>;
}

export function createTransactions(pool: Pool): Transactions {
  async function run(
    statement: Statement,
    query: TransactionQuery,
    values: unknown[],
  ): Promise<PageRow | null> {
    const { name, text } = statement(query);
    const { workspaceId, vaultId, limit } = query;
    const { rows } = await pool.query<PageRow>({
      name,
      text,
      values: [workspaceId, vaultId, limit, ...values, ...daysOf(query)],
    });
    return rows[0] ?? null;
  }

  return {
    async list(query) {
      requireDateOrder(query);
      const { after } = query;
      const row = (await findBelow(query)) ?? (after && (await findMoved(query, after)));
      if (!row) {
        throw new AppError(
          'invalid_cursor',
          'The cursor is not the hash of a transaction of this vault. Pass X-Next-Cursor or the hash of the last item.',
        );
      }
      return toPage(row, query.limit);
    },
  };

  /** Null when a reorg may have moved something past the reader's position. */
  async function findBelow(query: TransactionQuery): Promise<PageRow | null> {
    const { after } = query;
    if (after && !after.stood) return run(belowHashStatement, query, [toBytea(after.hash)]);
    const { blockNumber, index, reorgId } = after?.stood ?? farthest;
    const row = await run(belowStatement, query, [blockNumber, index]);
    // Without a reorg in between, the transactions below the position are still the same.
    return after === null || row?.reorg_id === reorgId ? row : null;
  }

  function findMoved(query: TransactionQuery, { hash, stood }: Place): Promise<PageRow | null> {
    return run(movedStatement, query, [
      toBytea(hash),
      stood?.reorgId ?? null,
      stood?.blockNumber ?? null,
      stood?.index ?? null,
    ]);
  }
}

/** Above every block. */
const farthest = { blockNumber: Number.MAX_SAFE_INTEGER, index: 0, reorgId: null };

const daySeconds = 86_400;

/** The first second of the first day, and the first second after the last day. */
function daysOf({ initialDate, finalDate }: TransactionQuery): number[] {
  return [
    ...(initialDate === undefined ? [] : [secondsOf(initialDate)]),
    ...(finalDate === undefined ? [] : [secondsOf(finalDate) + daySeconds]),
  ];
}

function secondsOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / 1000;
}

function requireDateOrder({ initialDate, finalDate }: TransactionQuery): void {
  if (initialDate === undefined || finalDate === undefined || initialDate <= finalDate) return;
  throw new AppError('invalid_date_range', `initialDate ${initialDate} is after finalDate ${finalDate}.`);
}

function toPage(row: PageRow, limit: number): TransactionPage {
  const lines = row.lines?.split(',') ?? [];
  const { moved } = row;
  const size = moved + Math.max(moved > 0 ? 1 : 0, limit - moved);
  const transactions = lines.slice(0, size).map(readLine);
  const last = transactions.at(-1);
  return {
    transactions,
    next:
      lines.length > size && last
        ? {
            hash: last.hash,
            stood: { ...readPosition(lines[size - 1] ?? ''), reorgId: row.reorg_id },
          }
        : null,
    indexedBlock: row.indexed_block,
  };
}
