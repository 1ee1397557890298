/** Opens the chain behind the RPC addresses for a term, after checking its identity and its registry. */
import { BlockNotFoundError, type PublicClient } from 'viem';
import type { Db } from '../db/database.ts';
import type { Term } from '../db/leadership.ts';
import { openServiceAccount } from '../keys/service-account.ts';
import type { Finality } from '../proof/evm/known-chains.ts';
import { OperatorError } from '../runtime/errors.ts';
import { once, pause } from '../runtime/loop.ts';
import type { OpenChain, OpenChainDeps } from './open-chain.ts';
import { registryAddress } from './registry/registry.ts';
import { readRegistryState } from './registry/registry-deployment.ts';
import { rpcFaultOf } from './rpc/json-rpc.ts';
import { type ChainIdentity, type ChainRpc, createChainRpc, discoverChain } from './rpc/rpc.ts';
import { finalByDepth, finalityRule } from './rules/finality.ts';
import { findStoredChain, requireSame, requireStored } from './stored-chain.ts';

const defaultConfirmations = 12;
const beatMs = 1_000;

export interface ReachedChain extends ChainIdentity {
  rpc: ChainRpc;
}

/** Connects to this installation's chain over the configured addresses; the caller closes it. Refuses any other chain. */
export async function reachChain(db: Db, rpcUrls: readonly string[]): Promise<ReachedChain> {
  const stored = await findStoredChain(db);
  if (stored) requireSame(stored, { embedded: false });
  const { chainId, genesisHash } = stored ?? (await discoverChain(rpcUrls));
  const rpc = createChainRpc({ chainId, genesisHash, urls: () => rpcUrls });
  try {
    await rpc.client.getBlockNumber();
    return { chainId, genesisHash, rpc };
  } catch (error) {
    await rpc.close();
    const fault = rpcFaultOf(error);
    if (fault?.kind !== 'wrong_chain') throw error;
    throw new OperatorError(
      `HOLDFAST_CHAIN_RPC_URLS belongs to a different chain than this database: ${fault.message}. Nothing was changed.`,
      { cause: error },
    );
  }
}

export async function openRpcChain(term: Term, deps: OpenChainDeps): Promise<OpenChain> {
  const { config, db, keyring } = deps;
  const submitter = await openServiceAccount(db, keyring, 'submitter');
  const { chainId, genesisHash, rpc } = await reachChain(db, config.rpcUrls);
  const { client } = rpc;
  const close = once(rpc.close);
  try {
    const registry = config.registryAddress ?? registryAddress;
    const state = await readRegistryState(client, registry);
    if (state !== 'present') {
      throw new OperatorError(
        `Chain ${chainId} has ${state === 'missing' ? 'no contract' : 'another contract'} at ${registry}, where the anchor registry should be. Run "holdfast chain deploy"${config.registryAddress ? ', or correct HOLDFAST_REGISTRY_ADDRESS' : ''}.`,
      );
    }
    await requireStored(term, {
      chainId,
      genesisHash,
      embedded: false,
      registry,
      submitter: submitter.address,
    });
    return {
      chain: {
        chainId,
        genesisHash,
        embedded: false,
        registry,
        confirmations: config.confirmations ?? defaultConfirmations,
        client,
        head: rpc.head,
        doubt: rpc.doubt,
        finalizedNumber: (head) =>
          finalizedNumber(client, { rule: finalityRule({ chainId, genesisHash }), head }),
        wake() {},
      },
      async keep(signal, beat) {
        while (!signal.aborted) {
          beat();
          await pause(beatMs, signal);
        }
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Never above the head: nodes behind one address may differ by some blocks. */
async function finalizedNumber(
  client: PublicClient,
  { rule, head }: { rule: Finality; head: number },
): Promise<number> {
  if (rule !== 'finalized') return finalByDepth(head, rule);
  try {
    const { number } = await client.getBlock({ blockTag: 'finalized' });
    return Math.min(head, Number(number));
  } catch (error) {
    // The chain has not finalized anything yet.
    if (error instanceof BlockNotFoundError) return -1;
    throw error;
  }
}
