/**
 * The transactions of a vault, newest first, page by page. A reorg can move transactions past the reader's position; those
 * are shown again rather than left out.
 */
import type { Pool } from 'pg';
import { encodeArray } from '../../db/arrays.ts';
import { type HexText, toBytea } from '../../db/bytea.ts';
import { isStatementFault } from '../../db/faults.ts';
import { gather } from '../../db/gather.ts';
import { AppError } from '../../runtime/errors.ts';
import {
  belowHashStatement,
  belowStatement,
  manyBelowStatement,
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

/** Rows that a statement for many pages may ask for. */
const mostRows = 800;

export function createTransactions(pool: Pool): Transactions {
  const findTogether = gather<TransactionQuery, PageRow | null>({
    maxInFlight: 4,
    maxItems: 16,
    weight: { of: ({ limit }) => limit, max: mostRows },
    isItemFault: isStatementFault,
    async run(queries) {
      const [query] = queries;
      return query && queries.length === 1 ? [await findBelow(query)] : findManyBelow(queries);
    },
  });

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
      const row = (await findTogether(query)) ?? (after && (await findMoved(query, after)));
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
    const { blockNumber, index } = after?.stood ?? farthest;
    return unlessMoved(query, await run(belowStatement, query, [blockNumber, index]));
  }

  /** The same for each of them. */
  async function findManyBelow(queries: TransactionQuery[]): Promise<(PageRow | null)[]> {
    const places = queries.map(({ after }) => after?.stood ?? farthest);
    const { rows } = await pool.query<PageRow & { number: number }>({
      ...manyBelowStatement,
      values: [
        encodeArray(
          'text',
          queries.map(({ workspaceId }) => workspaceId),
        ),
        encodeArray(
          'text',
          queries.map(({ vaultId }) => vaultId),
        ),
        encodeArray(
          'integer',
          queries.map(({ limit }) => limit),
        ),
        encodeArray(
          'bigint',
          places.map(({ blockNumber }) => blockNumber),
        ),
        encodeArray(
          'integer',
          places.map(({ index }) => index),
        ),
        encodeArray(
          'bytea',
          queries.map(({ after }) => (after && !after.stood ? toBytea(after.hash) : null)),
        ),
        encodeArray(
          'bigint',
          queries.map(({ initialDate }) => initialDate && secondsOf(initialDate)),
        ),
        encodeArray(
          'bigint',
          queries.map(({ finalDate }) => finalDate && endOf(finalDate)),
        ),
      ],
    });
    const found: (PageRow | null)[] = queries.map(() => null);
    for (const row of rows) {
      const query = queries[row.number - 1];
      if (query) found[row.number - 1] = unlessMoved(query, row);
    }
    return found;
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

/** Without a reorg in between, the transactions below a position are still the same. */
function unlessMoved({ after }: TransactionQuery, row: PageRow | null): PageRow | null {
  return !after?.stood || row?.reorg_id === after.stood.reorgId ? row : null;
}

/** Above every block. */
const farthest = { blockNumber: Number.MAX_SAFE_INTEGER, index: 0, reorgId: null };

const daySeconds = 86_400;

/** The first second of the first day, and the first second after the last day. */
function daysOf({ initialDate, finalDate }: TransactionQuery): number[] {
  return [
    ...(initialDate === undefined ? [] : [secondsOf(initialDate)]),
    ...(finalDate === undefined ? [] : [endOf(finalDate)]),
  ];
}

function secondsOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / 1000;
}

function endOf(day: string): number {
  return secondsOf(day) + daySeconds;
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
