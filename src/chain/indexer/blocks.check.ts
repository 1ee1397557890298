/** Checks that stored blocks are linked by hash and match the chain, and that they contain everything marked as mined. */
import { sql } from 'kysely';
import type { PublicClient } from 'viem';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { type Numbers, writtenNumbers } from '../../db/written-since.ts';
import { type Check, type Finding, NotMade, type Pass } from '../../runtime/check.ts';
import { rpcFaultOf } from '../rpc/json-rpc.ts';
import { readHash } from './blocks.ts';

export interface BlocksCheckDeps {
  db: Db;
  /** Throws NotMade when the chain is unavailable. */
  chain(): Promise<PublicClient>;
}

export function blocksCheck(deps: BlocksCheckDeps): Check {
  return {
    name: 'blocks',
    passes: [
      linksPass(deps),
      outgoingPass(deps),
      transactionsPass(deps),
      identityPass(deps),
      hashesPass(deps),
    ],
  };
}

/**
 * Number of newest blocks that must all be stored, relevant to us or not. The indexer keeps 1,000; a reorg may have
 * removed some of them.
 */
const surelyHeld = 700;

const heldFrom = sql`(select max(number) - ${surelyHeld}::bigint from chain_blocks)`;
const indexAgain =
  'Rows were changed in the database, or the database was restored for a different chain: compare with a backup.';

const blockNumbers: Numbers = {
  table: 'chain_blocks',
  column: 'number',
  time: sql`to_timestamp(time_seconds)`,
};

interface StoredBlock {
  number: number;
  hash: Buffer;
  parent_hash: Buffer;
  time_seconds: number;
  previous_hash: Buffer | null;
  previous_time: number | null;
  /** From the embedded chain's journal. */
  journal_hash: Buffer | null;
  genesis_hash: Buffer | null;
  gap: boolean;
}

function linksPass({ db }: BlocksCheckDeps): Pass {
  return rowsPass<StoredBlock>({
    db,
    what: 'blocks',
    table: 'chain_blocks',
    written: [writtenNumbers(db, blockNumbers)],
    key: [{ column: 'b.number', member: 'number' }],
    read: ({ where, end }) => sql<StoredBlock>`
      select b.number, b.hash, b.parent_hash, b.time_seconds, p.hash as previous_hash, p.time_seconds as previous_time,
             journal.hash as journal_hash, (select genesis_hash from chain) as genesis_hash,
             p.number is null and b.number > ${heldFrom} and b.number > (select min(number) from chain_blocks) as gap
      from chain_blocks b
      left join chain_blocks p on p.number = b.number - 1
      left join embedded_chain_blocks journal on journal.number = b.number and (select embedded from chain)
      where ${where} ${end}`,
    judge: (rows) => rows.flatMap(judgeLink),
  });
}

function judgeLink(row: StoredBlock): Finding[] {
  const { number } = row;
  const findings: Finding[] = [];
  const find = (rule: string, message: string) =>
    findings.push({ rule, ids: { block: number }, message, advice: indexAgain });
  if (row.gap) find('block_gap', `Block ${number} is stored, but block ${number - 1} before it is not.`);
  if (row.previous_hash && !row.previous_hash.equals(row.parent_hash)) {
    find('block_unlinked', `The parent of block ${number} is not the stored block ${number - 1}.`);
  }
  if (row.previous_time !== null && row.previous_time > row.time_seconds) {
    find('block_time', `Block ${number} is older than the block before it.`);
  }
  const known = number === 0 ? (row.genesis_hash ?? row.journal_hash) : row.journal_hash;
  if (known && !known.equals(row.hash)) {
    find(
      'block_differs',
      `Block ${number} is stored as ${fromBytea(row.hash)}; ${number === 0 ? 'the chain began' : 'the journal of the embedded chain has it'} with ${fromBytea(known)}.`,
    );
  }
  return findings;
}

interface Placed {
  id: number;
  status: string;
  block_number: number;
  block_hash: Buffer;
  block_time: number | null;
  stored_hash: Buffer | null;
  stored_time: number | null;
  must_be_stored: boolean;
}

function outgoingPass({ db }: BlocksCheckDeps): Pass {
  return rowsPass<Placed>({
    db,
    what: 'mined outgoing transactions',
    table: 'outgoing_transactions',
    written: [writtenNumbers(db, { table: 'outgoing_transactions' })],
    key: [{ column: 't.id', member: 'id' }],
    // Old blocks are kept only if they concern a vault, and not every transaction of ours does.
    read: ({ where, end }) => sql<Placed>`
      select t.id, t.status, t.block_number, t.block_hash, t.block_time, b.hash as stored_hash,
             b.time_seconds as stored_time, t.block_number > ${heldFrom} or t.purpose = 'anchor' as must_be_stored
      from outgoing_transactions t left join chain_blocks b on b.number = t.block_number
      where t.block_number is not null and ${where} ${end}`,
    judge: (rows) => rows.flatMap(judgePlaced),
  });
}

function judgePlaced(row: Placed): Finding[] {
  const { id, status, block_number: block, stored_hash } = row;
  const tell = (message: string): Finding[] => [
    {
      rule: 'outgoing_off_chain',
      ids: { outgoing: id, block },
      message: `The outgoing transaction ${id} is ${status} in block ${block}, ${message}.`,
      advice: indexAgain,
    },
  ];
  if (!stored_hash) return row.must_be_stored ? tell('which is not stored') : [];
  if (!stored_hash.equals(row.block_hash)) return tell(`whose hash is different: ${fromBytea(stored_hash)}`);
  if (row.block_time !== row.stored_time) return tell('whose time is different');
  return [];
}

interface Listed {
  workspace_id: string;
  vault_id: string;
  block_number: number;
  transaction_index: number;
  hash: Buffer;
  fault: string;
}

function transactionsPass({ db }: BlocksCheckDeps): Pass {
  return rowsPass<Listed>({
    db,
    what: 'transactions of vaults',
    table: 'vault_transactions',
    key: [
      { column: 't.workspace_id', member: 'workspace_id' },
      { column: 't.vault_id', member: 'vault_id' },
      { column: 't.block_number', member: 'block_number' },
      { column: 't.transaction_index', member: 'transaction_index' },
    ],
    pageRows: 5_000,
    read: ({ where, end }) => sql<Listed>`
      select t.workspace_id, t.vault_id, t.block_number, t.transaction_index, t.hash,
             case when b.number is null then 'which is not stored'
                  when not b.kept then 'which is not marked to be kept'
                  when b.time_seconds <> t.time_seconds then 'whose time is another one'
                  when not exists (select 1 from vaults v where v.workspace_id = t.workspace_id and v.id = t.vault_id)
                  then 'and there is no such vault' end as fault
      from vault_transactions t left join chain_blocks b on b.number = t.block_number
      where ${where} ${end}`,
    judge: (rows) =>
      rows
        .filter(({ fault }) => fault !== null)
        .map(({ vault_id: vault, hash, block_number: block, fault }) => ({
          rule: 'transaction_off_chain',
          ids: { vault, transaction: fromBytea(hash), block },
          message: `The transaction ${fromBytea(hash)} of vault ${vault} is listed in block ${block}, ${fault}.`,
          advice: indexAgain,
        })),
  });
}

/** Checks that the configured nodes serve the chain that this database belongs to. */
function identityPass({ db, chain }: BlocksCheckDeps): Pass {
  const pass: Pass = {
    what: 'the chain itself',
    count: async () => 1,
    async look() {
      const known = await db.selectFrom('chain').select('chain_id').executeTakeFirst();
      if (!known) return { rows: 0, last: undefined, findings: [] };
      const client = await chain();
      try {
        await client.getBlockNumber();
        return { rows: 1, last: undefined, findings: [] };
      } catch (error) {
        const fault = rpcFaultOf(error);
        if (fault?.kind !== 'wrong_chain') throw error;
        const finding = {
          rule: 'other_chain',
          ids: {},
          message: `The chain is not the one that was used for anchoring: ${fault.message}.`,
          advice:
            'Give RPC addresses of the right chain. If the chain itself was reset, its anchors are gone.',
        };
        return { rows: 1, last: undefined, findings: [finding] };
      }
    },
    since: () => [pass],
  };
  return pass;
}

interface Hashed {
  number: number;
  hash: Buffer;
}

/** Concurrent requests. */
const inFlight = 8;

function hashesPass({ db, chain }: BlocksCheckDeps): Pass {
  return rowsPass<Hashed>({
    db,
    what: 'blocks against the chain',
    table: 'chain_blocks',
    written: [writtenNumbers(db, blockNumbers)],
    key: [{ column: 'b.number', member: 'number' }],
    pageRows: 200,
    read: ({ where, end }) => sql<Hashed>`select b.number, b.hash from chain_blocks b where ${where} ${end}`,
    async judge(rows) {
      const client = await chain();
      const findings: Finding[] = [];
      for (let at = 0; at < rows.length; at += inFlight) {
        const compared = rows.slice(at, at + inFlight).map((row) => compareHash(client, row));
        findings.push(...(await Promise.all(compared)).flat());
      }
      return findings;
    },
  });
}

async function compareHash(client: PublicClient, { number, hash }: Hashed): Promise<Finding[]> {
  const found = await readHash(client, number);
  if (found === null) throw new NotMade(`the node does not have block ${number}: it lags, or has dropped it`);
  if (found === fromBytea(hash)) return [];
  return [
    {
      rule: 'block_not_on_chain',
      ids: { block: number },
      message: `Block ${number} is stored as ${fromBytea(hash)}; the chain has ${found}.`,
      advice:
        'After a reorganisation the service stores the new blocks within seconds: check the loop indexer in /readyz. If it is fine, the chain was reset or the row was changed.',
    },
  ];
}
