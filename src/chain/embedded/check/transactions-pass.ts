/** Checks that the list of transactions has nothing that the journal does not have. */
import { sql } from 'kysely';
import { keccak256 } from 'viem';
import { fromBytea } from '../../../db/bytea.ts';
import type { Db } from '../../../db/database.ts';
import { rowsPass } from '../../../db/rows-pass.ts';
import type { Finding, Pass } from '../../../runtime/check.ts';
import { makeAgain } from './advice.ts';

interface Listed {
  hash: Buffer;
  number: number;
  index: number;
  raw: Buffer | null;
}

/** Some transactions have a hundred thousand bytes. */
const pageRows = 200;

export function transactionsPass(db: Db): Pass {
  return rowsPass<Listed>({
    db,
    what: 'listed transactions of the embedded chain',
    table: 'embedded_chain_transactions',
    key: [{ column: 't.hash', member: 'hash' }],
    pageRows,
    read: ({ where, end }) => sql<Listed>`
      select t.hash, t.number, t.index,
             case when t.index between 0 and 1000000 then b.transactions[t.index + 1] end as raw
      from embedded_chain_transactions t left join embedded_chain_blocks b on b.number = t.number
      where ${where} ${end}`,
    judge: (rows) => rows.flatMap(judge),
  });
}

function judge({ hash, number, index, raw }: Listed): Finding[] {
  const transaction = fromBytea(hash);
  if (raw !== null && keccak256(raw) === transaction) return [];
  return [
    {
      rule: 'transaction_unknown',
      ids: { transaction, block: number },
      message: `The transaction ${transaction} is listed at place ${index} of block ${number}, which has ${raw === null ? 'nothing' : 'another one'} there.`,
      advice: makeAgain,
    },
  ];
}
