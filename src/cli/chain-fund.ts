/** Implements `holdfast chain fund`: a real transfer from the embedded chain's faucet, with or without a running service. */
import type { Hex, PublicClient } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { findEmbeddedChain } from '../chain/embedded/embedded-chain.ts';
import { createJournal, type Journal } from '../chain/embedded/journal.ts';
import { createChainLead } from '../chain/lead/lead.ts';
import { offeredFees } from '../chain/registry/registry-deployment.ts';
import { rpcFaultOf } from '../chain/rpc/json-rpc.ts';
import { createChainRpc } from '../chain/rpc/rpc.ts';
import { openServiceAccount } from '../keys/service-account.ts';
import { OperatorError } from '../runtime/errors.ts';
import { pause } from '../runtime/loop.ts';
import type { ChainCommandContext } from './chain-context.ts';

export interface Transfer {
  to: string;
  amountWei: bigint;
}

export interface Funded {
  transactionHash: Hex;
  blockNumber: number;
}

/** Enough for a start of the chain under emulation, with a long journal. */
const longestStartMs = 120_000;
const longestMineMs = 60_000;
const lookMs = 50;
const mostTries = 5;

export async function fund(context: ChainCommandContext, transfer: Transfer): Promise<Funded> {
  const { config, store, keyring } = context;
  const { db } = store.database;
  if (config.chain.rpcUrls.length > 0) {
    throw new OperatorError(
      'HOLDFAST_CHAIN_RPC_URLS is set, but only the embedded chain has a faucet. Use a faucet or an account of that chain.',
    );
  }
  return withChain(context, async (client) => {
    const faucet = await openServiceAccount(db, keyring, 'faucet');
    const journal = createJournal(db);
    const from = (await journal.head())?.number ?? 0;
    const { raw, hash } = await send(client, faucet, transfer);
    return { transactionHash: hash, blockNumber: await untilJournalled(journal, raw, from) };
  });
}

/** Uses the chain of the leading service; if none leads, this process leads for the duration. */
async function withChain<T>(
  context: ChainCommandContext,
  work: (client: PublicClient) => Promise<T>,
): Promise<T> {
  const { config, store, keyring, log } = context;
  const { db } = store.database;
  let othersLead = false;
  const chainLead = createChainLead({
    config: config.chain,
    dataDir: config.dataDir,
    db,
    connection: store.connection,
    keyring,
    log,
    onStandBy() {
      othersLead = true;
    },
  });
  const stopping = new AbortController();
  let failure: unknown = null;
  const running = chainLead.loop
    .run(stopping.signal, () => {})
    .catch((error) => {
      failure = error;
    });
  try {
    const deadline = performance.now() + longestStartMs;
    const { signal } = new AbortController();
    while (performance.now() < deadline && failure === null) {
      if (othersLead || chainLead.lead()) {
        const client = await reachNode(context);
        if (client) return await work(client.client).finally(client.close);
      }
      await pause(lookMs, signal);
    }
    throw (
      failure ??
      new OperatorError(
        'The embedded chain is not running on this machine: another node runs it. Run this command there.',
      )
    );
  } finally {
    stopping.abort();
    await running;
    await chainLead.close();
  }
}

/** Null while the chain node is not up yet, or not on this machine. */
async function reachNode({ config, store }: ChainCommandContext) {
  const { db } = store.database;
  const running = await findEmbeddedChain(db, config.dataDir);
  const first = await createJournal(db).block(0);
  if (!running || !first) return null;
  const { chainId, rpcUrl } = running;
  const rpc = createChainRpc({ chainId, genesisHash: first.hash, urls: () => [rpcUrl] });
  try {
    await rpc.client.getBlockNumber();
    return rpc;
  } catch {
    await rpc.close();
    return null;
  }
}

/** Another command may take the same nonce at the same time: then it tries the next one. */
async function send(
  client: PublicClient,
  faucet: PrivateKeyAccount,
  { to, amountWei }: Transfer,
): Promise<{ raw: Hex; hash: Hex }> {
  for (let tries = 1; ; tries += 1) {
    const raw = await faucet.signTransaction({
      ...(await offeredFees(client)),
      chainId: client.chain?.id as number,
      nonce: await client.getTransactionCount({ address: faucet.address, blockTag: 'pending' }),
      to: to as Hex,
      value: amountWei,
      // A transfer to a contract may need more than the 21,000 gas of a plain one.
      gas: 200_000n,
    });
    try {
      return { raw, hash: await client.sendRawTransaction({ serializedTransaction: raw }) };
    } catch (error) {
      if (rpcFaultOf(error)?.kind !== 'refused' || tries === mostTries) throw error;
    }
  }
}

async function untilJournalled(journal: Journal, raw: Hex, from: number): Promise<number> {
  const { signal } = new AbortController();
  let last = from;
  for (const deadline = performance.now() + longestMineMs; performance.now() < deadline; ) {
    for (const block of await journal.after(last, 100)) {
      if (block.transactions.includes(raw)) return block.number;
      last = block.number;
    }
    await pause(lookMs, signal);
  }
  throw new OperatorError(
    `The transaction was sent, but was not mined within ${longestMineMs / 1000} s. See "holdfast chain status" and the log of the service.`,
  );
}
