/** The indexer's SQL: blocks linked by hash, the transactions of vaults, and what a reorg removed. */
import { sql } from 'kysely';
import type { Hex } from 'viem';
import { fromBytea, toBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { checksummed } from '../../runtime/address.ts';
import type { Block, BlockHeader } from './blocks.ts';

export interface BlockRef {
  number: number;
  hash: Hex;
}

export interface VaultRef {
  workspaceId: string;
  vaultId: string;
}

/** A transaction in the list of one vault. */
export interface VaultTransactionRow extends VaultRef {
  blockNumber: number;
  index: number;
  hash: Hex;
  from: Hex;
  to: Hex;
  valueWei: string;
  timeSeconds: number;
}

/** The newest indexed block. */
export async function newestBlock(db: Db): Promise<BlockRef | null> {
  return (await storedBlocks(db, { downFrom: Number.MAX_SAFE_INTEGER, limit: 1 }))[0] ?? null;
}

/** Stored blocks from this number down, or up; old blocks have gaps between them. */
export async function storedBlocks(
  db: Db,
  { limit, ...range }: { limit: number } & ({ downFrom: number } | { upFrom: number }),
): Promise<BlockRef[]> {
  const blocks = db.selectFrom('chain_blocks').select(['number', 'hash']).limit(limit);
  const rows = await ('downFrom' in range
    ? blocks.where('number', '<=', range.downFrom).orderBy('number', 'desc')
    : blocks.where('number', '>=', range.upFrom).orderBy('number')
  ).execute();
  return rows.map(({ number, hash }) => ({ number, hash: fromBytea(hash) }));
}

/** The newest block number that counts as final; -1 if there is none. */
export async function finalNumber(db: Db): Promise<number> {
  const row = await db.selectFrom('chain').select('final_number').executeTakeFirst();
  return row?.final_number ?? -1;
}

/** Never lowers the number: only an operator may do that. */
export async function storeFinal(db: Db, number: number): Promise<void> {
  await db.updateTable('chain').set({ final_number: number }).where('final_number', '<', number).execute();
}

export async function storedHash(db: Db, number: number): Promise<Hex | null> {
  const [block] = await storedBlocks(db, { downFrom: number, limit: 1 });
  return block?.number === number ? block.hash : null;
}

/**
 * Finds which of these addresses, in lower case, belong to vaults. A subquery builds the array, so that the planner does
 * not examine it and the index is scanned in order: 24 ms for 8,000 addresses, where a lateral join took 80 ms. The
 * addresses are passed as one string, because `pg` quotes the elements of an array one by one.
 */
export async function findVaults(db: Db, addresses: Iterable<Hex>): Promise<Map<Hex, VaultRef[]>> {
  const found = new Map<Hex, VaultRef[]>();
  const wanted = [...addresses].join();
  if (wanted === '') return found;
  const { rows } = await sql<{ address: Hex; workspace_id: string; id: string }>`
    select lower(address) as address, workspace_id, id from vaults
    where lower(address) = any (array(select string_to_table(${wanted}, ',')))`.execute(db);
  for (const { address, workspace_id, id } of rows) {
    const vaults = found.get(address) ?? [];
    vaults.push({ workspaceId: workspace_id, vaultId: id });
    found.set(address, vaults);
  }
  return found;
}

/** When the first vault was created; null if there is none. Called once, before the first block. */
export async function oldestVault(db: Db): Promise<Date | null> {
  const row = await db
    .selectFrom('vaults')
    .select(({ fn }) => fn.min('created_at').as('made'))
    .executeTakeFirst();
  return row?.made ?? null;
}

/** The accounts that this installation sends from, in lower case. */
export async function senderAddresses(db: Db): Promise<Set<Hex>> {
  const rows = await db.selectFrom('sender_accounts').select('address').execute();
  return new Set(rows.map(({ address }) => fromBytea(address)));
}

/** `kept`: numbers of the blocks that contain a transaction of a vault. */
export async function insertBlocks(
  db: Db,
  blocks: readonly Block[],
  kept: ReadonlySet<number>,
): Promise<void> {
  if (blocks.length === 0) return;
  await sql`
    insert into chain_blocks (number, hash, parent_hash, time_seconds, kept)
    select * from unnest(
      ${blocks.map(({ number }) => number)}::bigint[],
      ${blocks.map(({ hash }) => toBytea(hash))}::bytea[],
      ${blocks.map(({ parentHash }) => toBytea(parentHash))}::bytea[],
      ${blocks.map(({ timeSeconds }) => timeSeconds)}::bigint[],
      ${blocks.map(({ number }) => kept.has(number))}::boolean[])`.execute(db);
}

export async function insertTransactions(db: Db, rows: readonly VaultTransactionRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    insert into vault_transactions (workspace_id, vault_id, block_number, transaction_index, hash, from_address,
                                    to_address, value_wei, time_seconds)
    select * from unnest(
      ${rows.map(({ workspaceId }) => workspaceId)}::text[],
      ${rows.map(({ vaultId }) => vaultId)}::text[],
      ${rows.map(({ blockNumber }) => blockNumber)}::bigint[],
      ${rows.map(({ index }) => index)}::integer[],
      ${rows.map(({ hash }) => toBytea(hash))}::bytea[],
      ${rows.map(({ from }) => checksummed(from))}::text[],
      ${rows.map(({ to }) => checksummed(to))}::text[],
      ${rows.map(({ valueWei }) => valueWei)}::numeric[],
      ${rows.map(({ timeSeconds }) => timeSeconds)}::bigint[])`.execute(db);
}

/** Inserts transactions of older blocks, indexed or not, that were not known to be ours at the time. */
export async function insertEarlier(
  db: Db,
  { rows, blocks }: { rows: readonly VaultTransactionRow[]; blocks: readonly BlockHeader[] },
): Promise<void> {
  for (const { number, hash, parentHash, timeSeconds } of blocks) {
    await db
      .insertInto('chain_blocks')
      .values({
        number,
        hash: toBytea(hash),
        parent_hash: toBytea(parentHash),
        time_seconds: timeSeconds,
        kept: true,
      })
      .onConflict((conflict) => conflict.column('number').doUpdateSet({ kept: true }))
      .execute();
  }
  const listed = await listedAmong(db, rows);
  await insertTransactions(
    db,
    rows.filter(({ vaultId, hash }) => !listed.has(`${vaultId} ${hash}`)),
  );
}

async function listedAmong(db: Db, rows: readonly VaultTransactionRow[]): Promise<Set<string>> {
  if (rows.length === 0) return new Set();
  const { rows: found } = await sql<{ vault_id: string; hash: Buffer }>`
    select t.vault_id, t.hash from vault_transactions t
    join unnest(${rows.map(({ vaultId }) => vaultId)}::text[], ${rows.map(({ hash }) => toBytea(hash))}::bytea[])
      as wanted (vault_id, hash) on t.vault_id = wanted.vault_id and t.hash = wanted.hash`.execute(db);
  return new Set(found.map(({ vault_id, hash }) => `${vault_id} ${fromBytea(hash)}`));
}

/** Removes all blocks after the fork, and records where their transactions were. */
export async function undoBlocks(
  db: Db,
  { forkNumber, oldHead }: { forkNumber: number; oldHead: number },
): Promise<void> {
  const { id } = await db
    .insertInto('chain_reorgs')
    .values({ fork_number: forkNumber, old_head: oldHead })
    .returning('id')
    .executeTakeFirstOrThrow();
  await sql`
    with gone as (
      delete from vault_transactions where block_number > ${forkNumber}
      returning vault_id, hash, block_number, transaction_index
    )
    insert into vault_transactions_undone (vault_id, hash, reorg_id, block_number, transaction_index)
    select vault_id, hash, ${id}::bigint, block_number, transaction_index from gone`.execute(db);
  await db.deleteFrom('chain_blocks').where('number', '>', forkNumber).execute();
}

/** Deletes some of the old blocks that contain nothing of ours. */
export async function dropBlocks(
  db: Db,
  { before, limit }: { before: number; limit: number },
): Promise<void> {
  await sql`
    delete from chain_blocks where number in (
      select number from chain_blocks where number < ${before} and not kept order by number limit ${limit}
    )`.execute(db);
}
