/** A chain that is mined by hand, a lead on it, and a sender that only takes notes: for tests of the indexer. */
import { type Address, type Hex, type PublicClient, toHex } from 'viem';
import { type Anvil, startAnvil } from '../../../test/anvil.ts';
import { toBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { checksummed } from '../../runtime/address.ts';
import type { BlockRef, Chain, Lead } from '../chain.ts';
import type { MinedTransaction } from './findings.ts';
import { createIndexer, type Indexer, type IndexerDeps, type MinedListener } from './indexer.ts';

export const registry: Address = '0x00000000000000000000000000000000000a11ce';

export interface TestChain {
  anvil: Anvil;
  /** Signs and sends a transfer, or a contract creation without `to`; waits for no block. */
  send(from: 0 | 1 | 2, transaction: { to?: Address; value?: bigint; data?: Hex }): Promise<Hex>;
  mine(blocks?: number): Promise<void>;
  /** Another branch from so many blocks below the head; what was mined there is gone. */
  reorg(depth: number): Promise<void>;
  head(): Promise<BlockRef>;
  chain(options?: Partial<Chain>): Promise<Chain>;
}

export async function startTestChain(): Promise<TestChain> {
  const anvil = await startAnvil({ args: ['--no-mining', '--order', 'fifo'] });
  const { client } = anvil;
  const head = async () => {
    const { number, hash } = await client.getBlock();
    return { number: Number(number), hash };
  };
  return {
    anvil,
    async send(from, { to, value = 0n, data }) {
      const account = anvil.accounts[from];
      const nonce = await client.getTransactionCount({ address: account.address, blockTag: 'pending' });
      const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n, gas: 100_000n };
      return client.sendTransaction({
        account,
        value,
        nonce,
        ...fees,
        ...(to !== undefined && { to }),
        ...(data !== undefined && { data }),
      });
    },
    mine: (blocks = 1) => client.mine({ blocks }),
    async reorg(depth) {
      await client.request({ method: 'anvil_reorg', params: [depth, []] } as never);
    },
    head,
    async chain(options = {}) {
      const genesis = await client.getBlock({ blockNumber: 0n });
      return {
        chainId: 31_337,
        genesisHash: genesis.hash,
        embedded: true,
        registry,
        confirmations: 1,
        client: client as unknown as PublicClient,
        head,
        finalizedNumber: async (headNumber) => headNumber - 2,
        wake() {},
        doubt() {},
        ...options,
      };
    },
  };
}

/** Commits as a leader does; nobody else wants the lead. */
export function leadOn(db: Db, chain: Chain, epoch = 1): Lead {
  const { signal } = new AbortController();
  return { chain, term: { epoch, signal, commit: (work) => db.transaction().execute(work) } };
}

export interface NotingSender extends MinedListener {
  /** Hashes of our own, with the outgoing transaction they belong to. */
  ours: Map<Hex, number>;
  mined: MinedTransaction[];
  undone: number[];
  settled: { headNumber: number; finalizedNumber: number; confirmations: number }[];
}

export function createNotingSender(): NotingSender {
  const notes: Pick<NotingSender, 'ours' | 'mined' | 'undone' | 'settled'> = {
    ours: new Map(),
    mined: [],
    undone: [],
    settled: [],
  };
  return {
    ...notes,
    attemptsAmong: async (_db, hashes) =>
      hashes.flatMap((hash) => {
        const outgoingId = notes.ours.get(hash);
        return outgoingId === undefined ? [] : [{ hash, outgoingId }];
      }),
    markMined: async (_db, found) => void notes.mined.push(...found),
    markUndone: async (_db, { afterNumber }) => void notes.undone.push(afterNumber),
    settle: async (_db, depth) => void notes.settled.push(depth),
  };
}

export function testIndexer(deps: Pick<IndexerDeps, 'db'> & Partial<IndexerDeps>): Indexer {
  return createIndexer({
    sender: createNotingSender(),
    vaultsOfAnchors: async () => [],
    log: { info() {}, error() {} },
    ...deps,
  });
}

/** Steps until there is nothing more to do. */
export async function follow(indexer: Indexer, lead: Lead): Promise<void> {
  while (await indexer.step(lead));
}

let made = 0;

/** A vault with the address of an account, so that tests can send from it. */
export async function insertVault(
  db: Db,
  address: Address,
): Promise<{ workspaceId: string; vaultId: string }> {
  made += 1;
  const workspaceId = `ws_${made}`;
  const vaultId = `vlt_${made}`;
  await db
    .insertInto('workspaces')
    .values({ id: workspaceId, name: workspaceId, slug: workspaceId })
    .execute();
  await db
    .insertInto('vaults')
    .values({
      workspace_id: workspaceId,
      id: vaultId,
      name: '',
      description: '',
      address: checksummed(address),
      status: 'active',
    })
    .execute();
  return { workspaceId, vaultId };
}

export async function insertSender(db: Db, address: Address): Promise<void> {
  await db
    .insertInto('sender_accounts')
    .values({ address: toBytea(address), next_nonce: 0 })
    .execute();
}

/** Some address nobody has. */
export function strangerAddress(number: number): Address {
  return toHex(0xabc0_0000 + number, { size: 20 });
}
