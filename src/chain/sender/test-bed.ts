/** A sender on a real database and a real chain whose blocks are mined by hand, with a plain indexer beside it. */
import type { TestContext } from 'node:test';
import { type Address, type Hex, keccak256, stringToHex } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { type Anvil, startAnvil } from '../../../test/anvil.ts';
import { openTestDatabase } from '../../../test/database.ts';
import { type RpcProxy, startRpcProxy } from '../../../test/rpc-proxy.ts';
import { fromBytea, toBytea } from '../../db/bytea.ts';
import type { Database, Db } from '../../db/database.ts';
import type { Chain, Lead } from '../chain.ts';
import { createChainRpc } from '../rpc/rpc.ts';
import type { Move } from './moves.ts';
import { createSender, type Outgoing, type Sender, type SenderDeps } from './sender.ts';

/** A block counts as final when so many follow it, unless a test says otherwise. */
export const finalAfter = 4;

export interface TestChain {
  anvil: Anvil;
  database: Database;
  stop(): Promise<void>;
}

/** A chain and a database for all tests of a file, one after the other: each costs more than most of the tests. */
export async function startTestChain(): Promise<TestChain> {
  const anvil = await startAnvil({ args: ['--no-mining', '--order', 'fifo'] });
  const database = await openTestDatabase();
  return {
    anvil,
    database,
    async stop() {
      await anvil.stop();
      await database.close();
    },
  };
}

export interface Bed {
  db: Db;
  anvil: Anvil;
  proxy: RpcProxy;
  account: PrivateKeyAccount;
  lead: Lead;
  /** The same, over a client that does not wait for long. */
  hurriedLead: Lead;
  moves: Move[];
  logged: string[];
  sender: Sender;
  /** As after a restart: nothing but the database is kept. */
  newSender(options?: Partial<SenderDeps>): Sender;
  enqueue(outgoing?: Partial<Outgoing>): Promise<{ id: number; hash: Hex }>;
  mine(blocks?: number): Promise<void>;
  /** Reads the chain up to its head, with rollback, and settles. */
  index(): Promise<void>;
  /** Lets so much time pass for all attempts. */
  age(seconds: number): Promise<void>;
  row(id: number): Promise<{ nonce: number; status: string; reason: string | null; mined: Hex | null }>;
  attempts(id: number): Promise<{ number: number; hash: Hex; raw: Hex; noOp: boolean; maxFeeWei: bigint }[]>;
  rawSent(): Hex[];
  inPool(): Promise<Hex[]>;
}

export async function openBed(
  t: TestContext,
  { anvil, database }: TestChain,
  options: Partial<SenderDeps> & {
    confirmations?: number;
    balanceWei?: bigint;
    blocksToFinality?: number;
  } = {},
): Promise<Bed> {
  const {
    confirmations = 1,
    balanceWei = 10n ** 18n,
    blocksToFinality = finalAfter,
    ...senderOptions
  } = options;
  const { db, pool } = database;
  await pool.query(
    'truncate outgoing_attempts, outgoing_transactions, sender_accounts, chain_blocks restart identity cascade',
  );
  const proxy = await startRpcProxy(() => anvil.url);
  const account = privateKeyToAccount(keccak256(stringToHex(`sender of the test: ${t.fullName}`)));
  await anvil.client.setBalance({ address: account.address, value: balanceWei });
  const genesisHash = (await anvil.client.getBlock({ blockNumber: 0n })).hash as Hex;
  const identity = { chainId: await anvil.client.getChainId(), genesisHash };
  const connect = (timeoutMs: number) => createChainRpc({ ...identity, urls: () => [proxy.url], timeoutMs });
  // What is answered at all is waited for, however busy the machine is.
  const [rpc, hurried] = [connect(60_000), connect(300)];
  const firstBlock = Number(await anvil.client.getBlockNumber()) + 1;
  t.after(async () => {
    await Promise.all([rpc.close(), hurried.close()]);
    await proxy.close();
    await anvil.client.request({ method: 'anvil_dropAllTransactions' } as never);
  });

  const moves: Move[] = [];
  const logged: string[] = [];
  const log = {
    info: (details: object, message: string) => void logged.push(`${message} ${JSON.stringify(details)}`),
    error: (details: object, message: string) => void logged.push(`${message} ${JSON.stringify(details)}`),
  };
  const chain: Chain = {
    ...identity,
    embedded: false,
    registry: account.address,
    confirmations,
    client: rpc.client,
    async head() {
      const { number, hash } = await rpc.client.getBlock();
      return { number: Number(number), hash };
    },
    finalizedNumber: async (headNumber) => headNumber - blocksToFinality,
    wake() {},
    doubt() {},
  };
  const lead: Lead = {
    term: {
      epoch: 1,
      signal: new AbortController().signal,
      commit: (work) => db.transaction().execute(work),
    },
    chain,
  };
  const hurriedLead: Lead = { ...lead, chain: { ...chain, client: hurried.client } };
  const newSender = (more: Partial<SenderDeps> = {}) =>
    createSender({
      submitter: async () => account,
      applyMoves: async (_db, told) => void moves.push(...told),
      log,
      holdMs: 0,
      ...senderOptions,
      ...more,
    });
  const sender = newSender();

  return {
    db,
    anvil,
    proxy,
    account,
    lead,
    hurriedLead,
    moves,
    logged,
    sender,
    newSender,
    async enqueue(outgoing) {
      const quote = await sender.quote(chain);
      return lead.term.commit((db) => sender.enqueue(db, quote, payload(outgoing)));
    },
    mine: (blocks = 1) => anvil.client.mine({ blocks }),
    index: () => indexBlocks({ db, anvil, sender, chain, firstBlock }),
    async age(seconds) {
      const past = new Date(Date.now() - seconds * 1000);
      await db
        .updateTable('outgoing_attempts')
        .set({ first_broadcast_at: past, broadcast_at: past })
        .where('broadcast_at', 'is not', null)
        .execute();
    },
    async row(id) {
      const row = await db
        .selectFrom('outgoing_transactions')
        .select(['nonce', 'status', 'reason', 'mined_hash'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      const { mined_hash, ...rest } = row;
      return { ...rest, mined: mined_hash && fromBytea(mined_hash) };
    },
    async attempts(id) {
      const rows = await db
        .selectFrom('outgoing_attempts')
        .select(['number', 'hash', 'raw', 'no_op', 'max_fee_wei'])
        .where('transaction_id', '=', id)
        .orderBy('number')
        .execute();
      return rows.map((row) => ({
        number: row.number,
        hash: fromBytea(row.hash),
        raw: fromBytea(row.raw),
        noOp: row.no_op,
        maxFeeWei: BigInt(row.max_fee_wei),
      }));
    },
    rawSent: () =>
      proxy.calls
        .filter(({ method }) => method === 'eth_sendRawTransaction')
        .map(({ params }) => params[0] as Hex),
    async inPool() {
      const { pending, queued } = await anvil.client.getTxpoolContent();
      return [pending, queued].flatMap((part) =>
        Object.entries(part)
          .filter(([address]) => address.toLowerCase() === account.address.toLowerCase())
          .flatMap(([, byNonce]) => Object.values(byNonce).map(({ hash }) => hash)),
      );
    },
  };
}

/** Something that passes: a call to an address without code. */
export function payload(outgoing: Partial<Outgoing> = {}): Outgoing {
  const nobody: Address = `0x${'ab'.repeat(20)}`;
  return { purpose: 'anchor', to: nobody, data: '0x01', gasLimit: 60_000, ...outgoing };
}

interface IndexNeeds {
  db: Db;
  anvil: Anvil;
  sender: Sender;
  chain: Chain;
  firstBlock: number;
}

async function indexBlocks({ db, anvil, sender, chain, firstBlock }: IndexNeeds): Promise<void> {
  const { client } = anvil;
  const headNumber = Number(await client.getBlockNumber());
  await db.transaction().execute(async (db) => {
    const stored = await db
      .selectFrom('chain_blocks')
      .select(['number', 'hash'])
      .orderBy('number', 'desc')
      .execute();
    let fork = firstBlock - 1;
    for (const { number, hash } of stored) {
      if (number > headNumber) continue;
      const now = await client.getBlock({ blockNumber: BigInt(number) });
      if (now.hash !== fromBytea(hash)) continue;
      fork = number;
      break;
    }
    if (stored[0] && stored[0].number > fork) {
      await sender.markUndone(db, { afterNumber: fork });
      await db.deleteFrom('chain_blocks').where('number', '>', fork).execute();
    }
    for (let number = fork + 1; number <= headNumber; number += 1) {
      const block = await client.getBlock({ blockNumber: BigInt(number) });
      await db
        .insertInto('chain_blocks')
        .values({
          number,
          hash: toBytea(block.hash as Hex),
          parent_hash: toBytea(block.parentHash),
          time_seconds: Number(block.timestamp),
        })
        .execute();
      const ours = await sender.attemptsAmong(db, block.transactions);
      const found = await Promise.all(
        ours.map(async ({ hash }) => {
          const receipt = await client.getTransactionReceipt({ hash });
          return {
            hash,
            blockNumber: number,
            blockHash: receipt.blockHash,
            blockTime: Number(block.timestamp),
            index: receipt.transactionIndex,
            succeeded: receipt.status === 'success',
          };
        }),
      );
      await sender.markMined(db, found);
    }
    await sender.settle(db, {
      headNumber,
      finalizedNumber: await chain.finalizedNumber(headNumber),
      confirmations: chain.confirmations,
    });
  });
}
