/** The embedded chain's journal in PostgreSQL: the source of truth, from which everything else can be made again. */
import type { Hex } from 'viem';
import type { Db } from '../../db/database.ts';
import type { Term } from '../../db/leadership.ts';
import type { BlockResult } from './engine/protocol.ts';
import { insertResults } from './results/results.store.ts';

export interface BlockRef {
  number: number;
  hash: Hex;
}

export interface JournalBlock extends BlockRef {
  parentHash: Hex;
  timestampSeconds: number;
  /** Raw signed bytes, in block order. */
  transactions: Hex[];
}

export interface ChainBirth {
  chainId: number;
  /** The exact text of the genesis file. */
  genesis: string;
}

/**
 * The blocks that anvil made and whose hash only the journal knows: anvil's state had accounts and slots in it that
 * Ethereum's rules leave out. `from` is null as long as no such block is known.
 */
export interface RecordedBlocks {
  from: number | null;
  until: number;
}

export interface Origin extends ChainBirth {
  madeBy: string | null;
  recorded: RecordedBlocks;
}

export interface Journal {
  /** How the chain was created; the first caller's proposal is stored and never changes. */
  birth(propose: () => ChainBirth): Promise<Origin>;
  /** Null before the first start. */
  chainId(): Promise<number | null>;
  block(number: number): Promise<JournalBlock | null>;
  head(): Promise<JournalBlock | null>;
  /** At most `limit` blocks after this number, in order. */
  after(number: number, limit: number): Promise<JournalBlock[]>;
  /** Stores block 0 with its results, and the program that made it. */
  begin(genesis: JournalBlock, madeBy: string, result: BlockResult): Promise<void>;
  /**
   * Stores the block and its results in one commit. Idempotent. False if the journal has a different block at this number,
   * or a different parent before it.
   */
  append(block: JournalBlock, result: BlockResult): Promise<boolean>;
}

export type Commit = Term['commit'];

/** For read-only users such as commands. */
const notToBeWritten: Commit = () => Promise.reject(new Error('this journal is only read'));

const columns = ['number', 'hash', 'parent_hash', 'timestamp_seconds', 'transactions'] as const;

/** `commit` runs work in one transaction, and refuses it once another node leads. */
export function createJournal(db: Db, commit: Commit = notToBeWritten): Journal {
  const blocks = () => db.selectFrom('embedded_chain_blocks').select(columns);

  async function block(number: number): Promise<JournalBlock | null> {
    const row = await blocks().where('number', '=', number).executeTakeFirst();
    return row ? fromRow(row) : null;
  }

  /** False if a block with this number already exists. */
  async function insert(given: JournalBlock, into: Db): Promise<boolean> {
    const inserted = await into
      .insertInto('embedded_chain_blocks')
      .values({
        number: given.number,
        hash: bytes(given.hash),
        parent_hash: bytes(given.parentHash),
        timestamp_seconds: given.timestampSeconds,
        transactions: given.transactions.map(bytes),
      })
      .onConflict((conflict) => conflict.column('number').doNothing())
      .returning('number')
      .execute();
    return inserted.length > 0;
  }

  const stored = () =>
    db
      .selectFrom('embedded_chain')
      .select(['chain_id', 'genesis', 'made_by', 'recorded_from', 'recorded_until'])
      .executeTakeFirst();

  return {
    block,
    chainId: async () => (await stored())?.chain_id ?? null,
    async birth(propose) {
      let row = await stored();
      if (!row) {
        const { chainId, genesis } = propose();
        await commit((db) =>
          db
            .insertInto('embedded_chain')
            .values({ chain_id: chainId, genesis, made_by: null })
            .onConflict((conflict) => conflict.column('singleton').doNothing())
            .execute(),
        );
        row = await stored();
      }
      if (!row) throw new Error('the identity of the embedded chain was not stored');
      const recorded = { from: row.recorded_from, until: row.recorded_until };
      return { chainId: row.chain_id, genesis: row.genesis, madeBy: row.made_by, recorded };
    },
    async head() {
      const row = await blocks().orderBy('number', 'desc').limit(1).executeTakeFirst();
      return row ? fromRow(row) : null;
    },
    async after(number, limit) {
      const rows = await blocks().where('number', '>', number).orderBy('number').limit(limit).execute();
      return rows.map(fromRow);
    },
    begin(genesis, madeBy, result) {
      return commit(async (db) => {
        await db.updateTable('embedded_chain').set({ made_by: madeBy }).execute();
        if (await insert(genesis, db)) await insertResults(result, db);
      });
    },
    async append(given, result) {
      const inserted = await commit(async (db) => {
        if (!(await insert(given, db))) return false;
        await insertResults(result, db);
        return true;
      }).catch((error) => {
        // The previous block is not its parent.
        if ((error as { code?: string }).code === foreignKeyViolation) return false;
        throw error;
      });
      return inserted || (await block(given.number))?.hash === given.hash;
    },
  };
}

const foreignKeyViolation = '23503';

interface Row {
  number: number;
  hash: Buffer;
  parent_hash: Buffer;
  timestamp_seconds: number;
  transactions: Buffer[];
}

function fromRow(row: Row): JournalBlock {
  return {
    number: row.number,
    hash: hex(row.hash),
    parentHash: hex(row.parent_hash),
    timestampSeconds: row.timestamp_seconds,
    transactions: row.transactions.map(hex),
  };
}

function bytes(text: Hex): Buffer {
  return Buffer.from(text.slice(2), 'hex');
}

function hex(value: Buffer): Hex {
  return `0x${value.toString('hex')}`;
}
