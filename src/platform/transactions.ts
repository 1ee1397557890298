/**
 * The transactions of a vault, newest first, a page at a time. A reorg can move transactions past the place where a
 * reader stands; those are shown again rather than left out.
 */
import type { Pool } from 'pg';
import { type HexText, toBytea } from '../db/bytea.ts';
import { AppError } from '../errors.ts';
import { type Checksum, loadChecksum } from './checksums.ts';
import {
  belowStatement,
  type Line,
  movedStatement,
  type PageRow,
  readLine,
  type Statement,
} from './transactions.store.ts';

export interface VaultTransaction {
  hash: HexText;
  /** EIP-55, as `to`. */
  from: string;
  to: string;
  valueWei: string;
  timeSeconds: number;
}

/** The last transaction of the page before: by its hash alone, or with where it stood, and as of which reorg. */
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
  /** Where the next page begins; null: this is the last one. */
  next: Required<Place> | null;
  /** The newest block that is indexed; null while there is none. */
  indexedBlock: number | null;
}

export interface Transactions {
  list(query: TransactionQuery): Promise<TransactionPage>;
}

export function createTransactions(pool: Pool): Transactions {
  const checksum = loadChecksum();

  async function run(
    statement: Statement,
    query: TransactionQuery,
    values: unknown[],
  ): Promise<PageRow | undefined> {
    const { name, text } = statement(query);
    const { workspaceId, vaultId, limit } = query;
    const { rows } = await pool.query<PageRow>({
      name,
      text,
      values: [workspaceId, vaultId, limit, ...values, ...daysOf(query)],
    });
    return rows[0];
  }

  return {
    async list(query) {
      requireDateOrder(query);
      const { after } = query;
      if (after?.stood || after === null) {
        const { blockNumber, index, reorgId } = after?.stood ?? farthest;
        const row = await run(belowStatement, query, [blockNumber, index]);
        // While no reorg came between, what stood below still does.
        if (row && (after === null || row.reorg_id === reorgId))
          return toPage(row, query.limit, await checksum);
      }
      if (after === null) throw new Error('a page from the top is always there');
      const { blockNumber, index, reorgId } = after.stood ?? {
        blockNumber: null,
        index: null,
        reorgId: null,
      };
      const row = await run(movedStatement, query, [toBytea(after.hash), reorgId, blockNumber, index]);
      if (!row) {
        throw new AppError('invalid_cursor', 'The cursor is the hash of no transaction of this vault.');
      }
      return toPage(row, query.limit, await checksum);
    },
  };
}

/** Above every block. */
const farthest = { blockNumber: Number.MAX_SAFE_INTEGER, index: 0, reorgId: null };

const daySeconds = 86_400;

/** The first second, and the first one after the last. */
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

function toPage(row: PageRow, limit: number, checksum: Checksum): TransactionPage {
  const lines = row.lines?.split(',') ?? [];
  const { moved } = row;
  const size = moved + Math.max(moved > 0 ? 1 : 0, limit - moved);
  const shown = lines.slice(0, size).map(readLine);
  const last = shown.at(-1);
  return {
    transactions: shown.map((line) => toTransaction(line, checksum)),
    next:
      lines.length > size && last
        ? {
            hash: `0x${last.hash}`,
            stood: {
              blockNumber: Number(last.blockNumber),
              index: Number(last.index),
              reorgId: row.reorg_id,
            },
          }
        : null,
    indexedBlock: row.indexed_block,
  };
}

function toTransaction(
  { hash, from, to, valueWei, timeSeconds }: Line,
  checksum: Checksum,
): VaultTransaction {
  return {
    hash: `0x${hash}`,
    from: checksum(from),
    to: checksum(to),
    valueWei,
    timeSeconds: Number(timeSeconds),
  };
}
