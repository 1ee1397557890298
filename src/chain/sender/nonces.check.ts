/** Checks outgoing transactions: no nonce is skipped, and every signed attempt matches its transaction. */
import { sql } from 'kysely';
import { type Hex, isAddressEqual, keccak256, parseTransaction, recoverTransactionAddress } from 'viem';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { firstNumber, writtenIn } from '../../db/written-since.ts';
import type { Check, Finding, Pass } from '../../runtime/check.ts';

interface AttemptColumns {
  number: number;
  hash: string;
  raw: string;
  no_op: boolean;
}

interface Row {
  id: number;
  account: Buffer;
  nonce: number;
  to_address: Buffer;
  call_data: Buffer;
  status: string;
  mined_hash: Buffer | null;
  succeeded: boolean | null;
  chain_id: number | null;
  /** The nonce before this one is missing, although earlier ones exist, and it is not known to be lost. */
  gap: boolean;
  /** Oldest first. */
  attempts: AttemptColumns[];
}

export function noncesCheck(db: Db): Check {
  return {
    name: 'nonces',
    passes: [
      accountsPass(db),
      rowsPass<Row>({
        db,
        what: 'outgoing transactions',
        table: 'outgoing_transactions',
        written: [
          writtenIn(
            db,
            'outgoing_transactions',
            async (since) => sql`
              select min(t.nonce) from outgoing_transactions t
              where t.account = g.value and t.id >= ${await firstNumber(db, { table: 'outgoing_transactions' }, since)}`,
            'account',
          ),
        ],
        key: [
          { column: 't.account', member: 'account' },
          { column: 't.nonce', member: 'nonce' },
        ],
        pageRows: 200,
        read: ({ where, end }) => sql<Row>`
          select t.id, t.account, t.nonce, t.to_address, t.call_data, t.status, t.mined_hash, t.succeeded,
                 (select chain_id from chain) as chain_id,
                 not exists (
                   select 1 from outgoing_transactions p where p.account = t.account and p.nonce = t.nonce - 1
                 ) and exists (
                   select 1 from outgoing_transactions p where p.account = t.account and p.nonce < t.nonce
                 ) and t.nonce > (select lost_below from sender_accounts s where s.address = t.account) as gap,
                 (select coalesce(json_agg(json_build_object('number', a.number, 'hash', '0x' || encode(a.hash, 'hex'),
                    'raw', '0x' || encode(a.raw, 'hex'), 'no_op', a.no_op) order by a.number), '[]')
                  from outgoing_attempts a where a.transaction_id = t.id) as attempts
          from outgoing_transactions t where ${where} ${end}`,
        async judge(rows) {
          const findings: Finding[] = [];
          for (const row of rows) findings.push(...judge(row), ...(await judgeAttempts(row)));
          return findings;
        },
      }),
    ],
  };
}

function accountsPass(db: Db): Pass {
  interface Account {
    address: Buffer;
    next_nonce: number;
    lost_below: number;
    last_nonce: number | null;
  }
  const pass = rowsPass<Account>({
    db,
    what: 'sending accounts',
    table: 'sender_accounts',
    key: [{ column: 's.address', member: 'address' }],
    read: ({ where, end }) => sql<Account>`
      select s.address, s.next_nonce, s.lost_below, last.nonce as last_nonce from sender_accounts s
      left join lateral (
        select t.nonce from outgoing_transactions t where t.account = s.address order by t.nonce desc limit 1
      ) as last on true
      where ${where} ${end}`,
    judge: (rows) =>
      rows
        .filter(
          ({ next_nonce, lost_below, last_nonce }) =>
            last_nonce !== null && next_nonce !== Math.max(last_nonce + 1, lost_below),
        )
        .map(({ address, next_nonce, last_nonce }) => ({
          rule: 'nonce_gap',
          ids: { account: fromBytea(address), nonce: Number(last_nonce) + 1 },
          message: `The next nonce of the account ${fromBytea(address)} is ${next_nonce}, but the last one with a transaction is ${last_nonce}.`,
          advice: gapAdvice,
        })),
  });
  // There are few.
  return { ...pass, since: () => [pass] };
}

const gapAdvice =
  'Transactions after the gap wait forever unless something else used that nonce: check the account with `holdfast chain status`, and let no other program send from it.';
const compare = 'The row was changed in the database: compare it with a backup.';

function judge({ id, account, nonce, status, mined_hash, succeeded, gap, attempts }: Row): Finding[] {
  const findings: Finding[] = [];
  const ids = { account: fromBytea(account), nonce, outgoing: id };
  if (gap) {
    findings.push({
      rule: 'nonce_gap',
      ids: { account: ids.account, nonce: nonce - 1 },
      message: `The account ${ids.account} has transactions before and after nonce ${nonce - 1}, but none with it.`,
      advice: gapAdvice,
    });
  }
  if (attempts.length === 0) {
    findings.push({
      rule: 'outgoing_without_attempt',
      ids,
      message: `The outgoing transaction ${id} (nonce ${nonce}) was never signed.`,
      advice: `Nothing can be sent for it, and all transactions after it wait: ${compare.toLowerCase()}`,
    });
  }
  const mined = attempts.find(({ hash }) => mined_hash !== null && hash === fromBytea(mined_hash));
  if (mined_hash !== null && !mined) {
    findings.push({
      rule: 'mined_unknown_attempt',
      ids,
      message: `The outgoing transaction ${id} counts as mined with ${fromBytea(mined_hash)}, which none of its signed versions has.`,
      advice: compare,
    });
  }
  const passed = status === 'confirmed' || status === 'finalized';
  if (mined && passed && (mined.no_op || succeeded !== true)) {
    findings.push({
      rule: 'outgoing_state',
      ids,
      message: `The outgoing transaction ${id} is ${status}, but what was mined ${mined.no_op ? 'is the no-op that took its nonce' : 'has reverted'}.`,
      advice: compare,
    });
  }
  return findings;
}

async function judgeAttempts(row: Row): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const attempt of row.attempts) {
    const fault = await faultOf(attempt, row);
    if (fault === null) continue;
    findings.push({
      rule: 'attempt_bytes',
      ids: { account: fromBytea(row.account), nonce: row.nonce, outgoing: row.id, attempt: attempt.number },
      message: `The signed bytes of outgoing transaction ${row.id}, attempt ${attempt.number}, ${fault}.`,
      advice: compare,
    });
  }
  return findings;
}

/** How the bytes contradict the columns stored with them; null if they agree. */
async function faultOf(attempt: AttemptColumns, row: Row): Promise<string | null> {
  const raw = attempt.raw as Hex;
  if (keccak256(raw) !== attempt.hash) return 'do not have the hash that is stored with them';
  let parsed: ReturnType<typeof parseTransaction>;
  let signer: Hex;
  try {
    parsed = parseTransaction(raw);
    signer = await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` });
  } catch (error) {
    return `are not a transaction (${(error as Error).message.split('\n')[0]})`;
  }
  if (!isAddressEqual(signer, fromBytea(row.account))) return `are signed by ${signer}`;
  if (row.chain_id !== null && parsed.chainId !== row.chain_id) return `are for chain ${parsed.chainId}`;
  if ((parsed.nonce ?? 0) !== row.nonce) return `have the nonce ${parsed.nonce ?? 0}`;
  if ((parsed.value ?? 0n) !== 0n) return `carry ${parsed.value} wei`;
  if (attempt.no_op) return (parsed.data ?? '0x') === '0x' ? null : 'are not a no-op: they carry call data';
  if (!parsed.to || !isAddressEqual(parsed.to, fromBytea(row.to_address))) return `are for ${parsed.to}`;
  if ((parsed.data ?? '0x') !== fromBytea(row.call_data)) return 'carry different call data';
  return null;
}
