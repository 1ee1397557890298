/**
 * Compares the chain with what the database knows to have sent. Everything is stored before it is sent, so a transaction
 * that only the chain has was stored in commits that this database lacks, or is another program's.
 */
import { sql } from 'kysely';
import type { PublicClient } from 'viem';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { checksummed } from '../../runtime/address.ts';
import { type Check, laterPass } from '../../runtime/check.ts';
import { nextNonce } from './outgoing.store.ts';

interface Account {
  address: Buffer;
}

export interface LostCommitsDeps {
  db: Db;
  /** Throws NotMade when the chain cannot be reached. */
  chain(): Promise<PublicClient>;
}

export function lostCommitsCheck({ db, chain }: LostCommitsDeps): Check {
  const make = async () => {
    // Nothing was ever sent.
    if (!(await db.selectFrom('sender_accounts').select('address').executeTakeFirst())) return undefined;
    const client = await chain();
    return rowsPass<Account>({
      db,
      what: 'sending accounts on the chain',
      table: 'sender_accounts',
      key: [{ column: 's.address', member: 'address' }],
      read: ({ where, end }) => sql<Account>`select s.address from sender_accounts s where ${where} ${end}`,
      async judge(rows) {
        const judged = rows.map(async ({ address: bytes }) => {
          const address = checksummed(fromBytea(bytes));
          // In this order: what is sent meanwhile is stored by then.
          const used = await client.getTransactionCount({ address });
          const known = (await nextNonce(db, address)) ?? used;
          return used > known
            ? [{ rule: 'commits_lost', ids: { account: address }, ...told(used - known) }]
            : [];
        });
        return (await Promise.all(judged)).flat();
      },
    });
  };
  const pass = laterPass('sending accounts on the chain', make);
  return {
    name: 'lost-commits',
    // There are few accounts.
    passes: [{ ...pass, since: () => [pass] }],
    notes: async () => (await lostBefore(db)).map(noteOf),
  };
}

function told(transactions: number): { message: string; advice: string } {
  return {
    message: `The chain has ${transactions} transactions of the account that this database does not know: the database lacks its last commits, or another program sends from the account.`,
    advice:
      'After the promotion of a replica, a return to a snapshot or a restore, run `holdfast promote`, and start a node: it goes on behind what was lost. What was acknowledged in the lost commits has to be sent again by those who sent it. Otherwise rotate the key: somebody else has it.',
  };
}

interface Loss {
  address: Buffer;
  transactions: number;
  last_before: Date | null;
}

/** What a node found when it took the lead, and went on behind. */
async function lostBefore(db: Db): Promise<Loss[]> {
  const { rows } = await sql<Loss>`
    select s.address, s.lost_below::integer - min(t.nonce)::integer - (count(*) filter (where t.nonce < s.lost_below))::integer
      as transactions, max(t.created_at) filter (where t.nonce < s.lost_below) as last_before
    from sender_accounts s join outgoing_transactions t on t.account = s.address
    where s.lost_below > 0 group by s.address, s.lost_below`.execute(db);
  return rows.filter(({ transactions }) => transactions > 0);
}

function noteOf({ address, transactions, last_before }: Loss): string {
  const since = last_before === null ? '' : `, all later than ${last_before.toISOString()}`;
  return `The chain has ${transactions} transactions of the account ${checksummed(fromBytea(address))} that this database never knew${since}. Unless another program sent them, commits were lost with a database before this one, and what was acknowledged in them.`;
}
