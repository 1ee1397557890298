/** Opens the embedded chain for a term: starts it, checks its identity, and deploys the registry. */
import { type PublicClient, parseEther } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Db } from '../db/database.ts';
import type { Term } from '../db/leadership.ts';
import { openServiceAccount } from '../keys/service-account.ts';
import { OperatorError } from '../runtime/errors.ts';
import { pause } from '../runtime/loop.ts';
import { type EmbeddedChain, startEmbeddedChain } from './embedded/embedded-chain.ts';
import type { Alloc } from './embedded/genesis.ts';
import { createJournal } from './embedded/journal.ts';
import type { OpenChain, OpenChainDeps } from './open-chain.ts';
import { deployerAddress, deployerRuntimeCode, registryAddress } from './registry/registry.ts';
import { offeredFees, readRegistryState, signDeployment } from './registry/registry-deployment.ts';
import { createChainClient } from './rpc/chain-client.ts';
import { blocksToFinality, finalByDepth } from './rules/finality.ts';
import { findStoredChain, requireSame, requireStored } from './stored-chain.ts';

/** Consecutive failures, without a successful step between them, after which the chain is restarted. */
const mostFailures = 5;
const retryMs = 500;
/** Measured: 267,057. Unused gas is not charged. */
const deploymentGas = 1_000_000n;

export async function openEmbeddedChain(term: Term, deps: OpenChainDeps): Promise<OpenChain> {
  const { config, dataDir, db, keyring, log, onBlock } = deps;
  const submitter = await openServiceAccount(db, keyring, 'submitter');
  const faucet = await openServiceAccount(db, keyring, 'faucet');
  await requireJournalOf(db);
  const embedded = await startEmbeddedChain({
    dataDir,
    db,
    commit: term.commit,
    signal: term.signal,
    log,
    alloc: genesisAlloc({ submitter, faucet }),
    ...(onBlock && { onBlock }),
  });
  const { chainId, genesisHash } = embedded;
  const client = createChainClient(chainId, embedded.call);
  try {
    await ensureRegistry(embedded, client, faucet);
    const registry = registryAddress;
    await requireStored(term, {
      chainId,
      genesisHash,
      embedded: true,
      registry,
      submitter: submitter.address,
    });
    return {
      chain: {
        chainId,
        genesisHash,
        embedded: true,
        registry,
        confirmations: config.confirmations ?? 1,
        client,
        head: async () => embedded.head(),
        doubt() {},
        finalizedNumber: async (head) => finalByDepth(head, blocksToFinality),
        // A transaction that enters the pool wakes the miner.
        wake() {},
      },
      keep: (signal, beat) => keepRunning(embedded, { signal, beat, log }),
      close: embedded.close,
    };
  } catch (error) {
    await embedded.close();
    throw error;
  }
}

/** Refuses to start a new chain when the stored chain's journal is missing or belongs to another chain. */
async function requireJournalOf(db: Db): Promise<void> {
  const stored = await findStoredChain(db);
  if (!stored) return;
  requireSame(stored, { embedded: true });
  const journal = createJournal(db);
  const [chainId, first] = await Promise.all([journal.chainId(), journal.block(0)]);
  if (chainId === null || first === null) {
    throw new OperatorError(
      `The journal of the embedded chain ${stored.chainId} is missing from the database, and everything anchored so far is on that chain. Nothing was changed: restore the tables embedded_chain and embedded_chain_blocks from your backup.`,
    );
  }
  requireSame(stored, { chainId, genesisHash: first.hash });
}

/** More than can be spent: an anchor takes 46,409 gas, so a billion anchors cost 10^5 ether at 2 gwei. */
function genesisAlloc(accounts: { submitter: PrivateKeyAccount; faucet: PrivateKeyAccount }): Alloc {
  return {
    [accounts.faucet.address]: { balanceWei: parseEther('1000000000') },
    [accounts.submitter.address]: { balanceWei: parseEther('1000000') },
    // Nonce 1, as on other chains, where its author's transaction created the contract.
    [deployerAddress]: { code: deployerRuntimeCode, nonce: 1 },
  };
}

/** Deploys from the faucet, because only the sender may use the submitter's nonces. */
async function ensureRegistry(
  embedded: EmbeddedChain,
  client: PublicClient,
  faucet: PrivateKeyAccount,
): Promise<void> {
  if ((await readRegistryState(client, registryAddress)) === 'present') return;
  const raw = await signDeployment(faucet, {
    chainId: embedded.chainId,
    nonce: await client.getTransactionCount({ address: faucet.address }),
    gas: deploymentGas,
    fees: await offeredFees(client),
  });
  await embedded.mine(raw);
  const state = await readRegistryState(client, registryAddress);
  if (state !== 'present') throw new Error(`the registry is ${state} after its deployment`);
}

/** Runs the chain's own loop. The loop recovers from occasional failures; a lasting failure ends the term. */
async function keepRunning(
  { loop }: EmbeddedChain,
  { signal, beat, log }: { signal: AbortSignal; beat: () => void; log: OpenChainDeps['log'] },
): Promise<void> {
  let failures = 0;
  const well = () => {
    failures = 0;
    beat();
  };
  while (!signal.aborted) {
    try {
      await loop.run(signal, well);
    } catch (error) {
      failures += 1;
      if (signal.aborted) return;
      if (error instanceof OperatorError || failures >= mostFailures) throw error;
      log.error({ err: error, failures }, 'the embedded chain is failing');
      await pause(retryMs, signal);
    }
  }
}
