/** Checks the results of each block of the journal against its transactions, its hash and its parent. */
import { sql } from 'kysely';
import { type Hex, keccak256 } from 'viem';
import { fromBytea, toBytea } from '../../../db/bytea.ts';
import type { Db } from '../../../db/database.ts';
import { countRows } from '../../../db/rows-pass.ts';
import { firstNumber, type Numbers } from '../../../db/written-since.ts';
import { type Finding, type Pass, passFrom, type Range } from '../../../runtime/check.ts';
import { makeAgain } from './advice.ts';
import { judgeBlock } from './block-rules.ts';
import type { ExecutedBlock } from './executed-block.ts';

const pageRows = 200;
/** Bounds the bytes of a page as well: one byte of a transaction or a log costs at least four gas. */
const pageGas = 60_000_000;

const journal: Numbers = {
  table: 'embedded_chain_blocks',
  column: 'number',
  time: sql`to_timestamp(timestamp_seconds)`,
};

type BlockRow = { number: number; newest: number | null } & Partial<ExecutedBlock>;

export function blocksPass(db: Db): Pass {
  const pass: Pass = {
    what: 'results of the embedded chain',
    count: () => countRows(db, 'embedded_chain_blocks'),
    async look(range) {
      const after = (range.after as number | undefined) ?? -1;
      const read = await readBlocks(db, after, range.until as number | undefined);
      // The first one may be the parent of the page.
      const rows = read.filter(({ number }) => number > after);
      const findings = missingResults(rows);
      const byNumber = new Map(read.flatMap((row) => (isExecuted(row) ? [[row.number, row] as const] : [])));
      for (const row of rows) {
        if (isExecuted(row)) findings.push(...(await judgeBlock(row, byNumber.get(row.number - 1))));
      }
      findings.push(...(await judgeListed(db, rows.filter(isExecuted))));
      return { rows: rows.length, last: rows.at(-1)?.number, findings };
    },
    since: (time) => [passFrom(pass, async () => (await firstNumber(db, journal, time)) - 1)],
  };
  return pass;
}

async function readBlocks(db: Db, after: number, until: Range['until']): Promise<BlockRow[]> {
  const end = until === undefined ? sql`limit ${pageRows + 1}` : sql``;
  const { rows } = await sql<StoredRow>`
    select number, hash, parent_hash, timestamp_seconds, gas_used, base_fee_wei, state_root, transactions_root,
           receipts_root, receipts, (select max(number) from embedded_chain_results) as newest,
           exists (select from embedded_chain where weighed.number between recorded_from and recorded_until) as is_recorded,
           case when receipts is not null then transactions end as transactions
    from (
      select page.*, sum(gas_used) over (order by number) as gas from (
        select b.number, b.hash, b.parent_hash, b.timestamp_seconds, b.transactions, r.gas_used, r.base_fee_wei,
               r.state_root, r.transactions_root, r.receipts_root, r.receipts
        from embedded_chain_blocks b left join embedded_chain_results r on r.number = b.number
        where b.number >= ${after} ${until === undefined ? sql`` : sql`and b.number <= ${until}`}
        order by b.number ${end}
      ) as page
    ) as weighed
    where number <= ${after + 1} ${until === undefined ? sql`or gas is null or gas <= ${pageGas}` : sql`or true`}
    order by number`.execute(db);
  return rows.map(fromRow);
}

/**
 * One finding for each run of blocks. Blocks after the newest results are not wrong: the service executes them when it
 * starts, for example after an older backup was restored.
 */
function missingResults(rows: BlockRow[]): Finding[] {
  const runs: { from: number; to: number }[] = [];
  for (const row of rows) {
    const { number, newest } = row;
    if (isExecuted(row) || newest === null || number > newest) continue;
    const run = runs.at(-1);
    if (run?.to === number - 1) run.to = number;
    else runs.push({ from: number, to: number });
  }
  return runs.map(({ from, to }) => ({
    rule: 'result_missing',
    ids: { block: from, to },
    message:
      from === to
        ? `Block ${from} of the embedded chain has no results.`
        : `The blocks ${from} to ${to} of the embedded chain have no results.`,
    advice: makeAgain,
  }));
}

/** Every transaction is in the list; one that two blocks have, with the place where it was first. */
async function judgeListed(db: Db, blocks: ExecutedBlock[]): Promise<Finding[]> {
  const places = blocks.flatMap(({ number, transactions }) =>
    transactions.map((raw, index) => ({ hash: keccak256(raw), number, index })),
  );
  if (places.length === 0) return [];
  const { rows } = await sql<{ hash: Buffer; number: number; index: number }>`
    select hash, number, index from embedded_chain_transactions
    where hash = any(${places.map(({ hash }) => toBytea(hash))}::bytea[])`.execute(db);
  const listed = new Map<Hex, { number: number; index: number }>(
    rows.map((row) => [fromBytea(row.hash), row]),
  );
  return places.flatMap(({ hash, number, index }) => {
    const found = listed.get(hash);
    // An earlier place is checked by the pass over the list.
    if (found && (found.number < number || (found.number === number && found.index <= index))) return [];
    return [
      {
        rule: found ? 'transaction_misplaced' : 'transaction_unlisted',
        ids: { transaction: hash, block: number },
        message: `The transaction ${hash} is at place ${index} of block ${number}, but ${found ? `is listed at place ${found.index} of block ${found.number}` : 'is not listed'}.`,
        advice: makeAgain,
      },
    ];
  });
}

function isExecuted(row: BlockRow): row is BlockRow & ExecutedBlock {
  return row.receipts !== undefined;
}

interface StoredRow {
  number: number;
  newest: number | null;
  is_recorded: boolean;
  hash: Buffer;
  parent_hash: Buffer;
  timestamp_seconds: number;
  transactions: Buffer[];
  gas_used: number;
  base_fee_wei: string;
  state_root: Buffer;
  transactions_root: Buffer;
  receipts_root: Buffer;
  /** Null, as everything but the first columns, if the block has no results. */
  receipts: Buffer[] | null;
}

function fromRow(row: StoredRow): BlockRow {
  const { number, newest, receipts } = row;
  if (receipts === null) return { number, newest };
  return {
    number,
    newest,
    hash: fromBytea(row.hash),
    isRecorded: row.is_recorded,
    parentHash: fromBytea(row.parent_hash),
    timestampSeconds: row.timestamp_seconds,
    transactions: row.transactions.map(fromBytea),
    gasUsed: row.gas_used,
    // A fraction cannot be a fee, and must not end the check.
    baseFeeWei: /^\d+$/.test(row.base_fee_wei) ? BigInt(row.base_fee_wei) : -1n,
    stateRoot: fromBytea(row.state_root),
    transactionsRoot: fromBytea(row.transactions_root),
    receiptsRoot: fromBytea(row.receipts_root),
    receipts,
  };
}
