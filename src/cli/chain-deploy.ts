/** Implements `holdfast chain deploy`: deploys the registry to a chain by CREATE2, from the submitter's account. */

import { type Address, type Hex, keccak256, type PublicClient } from 'viem';
import { reachChain } from '../chain/open-rpc-chain.ts';
import {
  deployerAddress,
  deployerDeployment,
  registryAddress,
  registryDeploymentData,
} from '../chain/registry/registry.ts';
import {
  hasDeployer,
  mostPerGasWei,
  offeredFees,
  readRegistryState,
  signDeployment,
} from '../chain/registry/registry-deployment.ts';
import { hasSent } from '../chain/sender/outgoing.store.ts';
import type { Db } from '../db/database.ts';
import { openServiceAccount } from '../keys/service-account.ts';
import { OperatorError } from '../runtime/errors.ts';
import { pause } from '../runtime/loop.ts';
import type { ChainCommandContext } from './chain-context.ts';

export interface Deployment {
  chainId: number;
  registry: Address;
  /** Null when it was already deployed. */
  transactionHash: Hex | null;
}

const longestWaitMs = 10 * 60_000;
const lookMs = 1_000;

export async function deployRegistry(context: ChainCommandContext): Promise<Deployment> {
  const { config, store, keyring } = context;
  const { db } = store.database;
  if (config.chain.rpcUrls.length === 0) {
    throw new OperatorError(
      'The service deploys the registry on the embedded chain by itself when it first runs. For another chain, set HOLDFAST_CHAIN_RPC_URLS.',
    );
  }
  const { chainId, rpc } = await reachChain(db, config.chain.rpcUrls);
  const { client } = rpc;
  try {
    await requireUsualAddress(config.chain.registryAddress);
    const state = await readRegistryState(client, registryAddress);
    if (state === 'other')
      throw new OperatorError(`Chain ${chainId} has another contract at ${registryAddress}.`);
    if (state === 'present') return { chainId, registry: registryAddress, transactionHash: null };
    await requireDeployer(client, chainId);
    const submitter = await openServiceAccount(db, keyring, 'submitter');
    await requireUnused(db, submitter.address);

    const call = { account: submitter.address, to: deployerAddress, data: registryDeploymentData() };
    const [fees, balance, nonce] = await Promise.all([
      offeredFees(client),
      client.getBalance({ address: submitter.address }),
      client.getTransactionCount({ address: submitter.address, blockTag: 'pending' }),
    ]);
    // Some nodes refuse to estimate gas for an account that could not pay.
    const gas = balance === 0n ? usualGas : ((await client.estimateGas(call)) * 12n) / 10n;
    const needed = gas * mostPerGasWei(fees);
    if (balance < needed) {
      throw new OperatorError(
        `The submitter ${submitter.address} has ${balance} wei on chain ${chainId}, but the deployment may cost ${needed}. Send it at least ${needed - balance} wei (and more for the anchors that follow), then run this again.`,
      );
    }
    const raw = await signDeployment(submitter, { chainId, nonce, gas, fees });
    await client.sendRawTransaction({ serializedTransaction: raw });
    const transactionHash = keccak256(raw);
    await untilDeployed(client, transactionHash);
    return { chainId, registry: registryAddress, transactionHash };
  } finally {
    await rpc.close();
  }
}

/** Measured: 267,057 under the rules of Prague; rollups add their data costs. */
const usualGas = 400_000n;

async function requireUsualAddress(configured: Address | null): Promise<void> {
  if (configured === null || configured === registryAddress) return;
  throw new OperatorError(
    `HOLDFAST_REGISTRY_ADDRESS is ${configured}, but this command deploys the registry at ${registryAddress}, its address on every chain. Remove the setting first.`,
  );
}

async function requireDeployer(client: PublicClient, chainId: number): Promise<void> {
  if (await hasDeployer(client)) return;
  const { signer, fundingWei, rawTransaction } = deployerDeployment;
  throw new OperatorError(
    `Chain ${chainId} lacks the common CREATE2 deployer at ${deployerAddress}. Send ${fundingWei} wei to ${signer}, then send this raw transaction (eth_sendRawTransaction), and run this again. If the node refuses it because it has no chain id, see the documentation of the chain on how to get the deployer.\n${rawTransaction}`,
  );
}

/** Only the sender may use nonces of an account that sends anchors. */
async function requireUnused(db: Db, submitter: Address): Promise<void> {
  if (!(await hasSent(db, submitter))) return;
  throw new OperatorError(
    `Anchors have already been sent from ${submitter}, so only the service may use it. Deploy from any other account: send a transaction to ${deployerAddress} with this data:\n${registryDeploymentData()}`,
  );
}

/** viem's own waiting misses a late receipt when no further block follows. */
async function untilDeployed(client: PublicClient, hash: Hex): Promise<void> {
  const signal = AbortSignal.timeout(longestWaitMs);
  while (!signal.aborted) {
    if ((await readRegistryState(client, registryAddress)) === 'present') return;
    await pause(lookMs, signal);
  }
  throw new OperatorError(
    `The transaction ${hash} was sent, but was not mined within ${longestWaitMs / 60_000} minutes. Run this again later: it first checks whether the registry is there.`,
  );
}
