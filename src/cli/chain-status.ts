/** Implements `holdfast chain status`: shows the chain, its head, the account, and what waits to be anchored. */

import type { Address, Hex, PublicClient } from 'viem';
import { readBacklog, type SetAsideBatch } from '../anchoring/batching/set-aside.ts';
import { findEmbeddedChain } from '../chain/embedded/embedded-chain.ts';
import { createJournal } from '../chain/embedded/journal.ts';
import { reachChain } from '../chain/open-rpc-chain.ts';
import { createAnchorReader } from '../chain/registry/anchor-reader.ts';
import { forecastGas } from '../chain/registry/gas-forecast.ts';
import { registryAddress } from '../chain/registry/registry.ts';
import { type RegistryState, readRegistryState } from '../chain/registry/registry-deployment.ts';
import { createChainRpc, type RpcHealth } from '../chain/rpc/rpc.ts';
import { findStoredChain, requireSame } from '../chain/stored-chain.ts';
import { openServiceAccount } from '../keys/service-account.ts';
import { knownChain } from '../proof/evm/known-chains.ts';
import type { ChainCommandContext } from './chain-context.ts';
import { mostNamed } from './chain-retry.ts';
import { table } from './command.ts';

export interface ChainStatus {
  chainId: number | null;
  embedded: boolean;
  /** Nobody accepts the chain's clock without being told to: its anchors alone convince nobody else. */
  developmentEvidence: boolean;
  genesisHash: Hex | null;
  /** The gateway to the embedded chain, while the leading service runs on this machine. */
  rpcUrl: string | null;
  /** The RPC addresses, by host. */
  rpc: RpcHealth[];
  head: { number: number; hash: Hex; time: string } | null;
  indexedBlock: number | null;
  /** Blocks between the head and the indexed block. */
  lag: number | null;
  registry: Address;
  registryState: RegistryState | null;
  submitter: Address;
  balanceWei: string | null;
  /** How many anchors the balance pays for at current fees. */
  anchorsLeft: number | null;
  pendingLeaves: number;
  openTransactions: number;
  setAsideBatches: number;
  /** The oldest ones. */
  setAside: SetAsideBatch[];
}

export async function readChainStatus(context: ChainCommandContext): Promise<ChainStatus> {
  const { config, store, keyring } = context;
  const { db } = store.database;
  const { address: submitter } = await openServiceAccount(db, keyring, 'submitter');
  const seen = config.chain.rpcUrls.length === 0 ? await lookAtEmbedded(context) : await lookOverRpc(context);
  const { client, close, ...chain } = seen;
  try {
    const registry = config.chain.registryAddress ?? registryAddress;
    const [account, backlog, registryState] = await Promise.all([
      client && forecastGas(client, submitter),
      readBacklog(db, mostNamed),
      client && readRegistryState(client, registry),
    ]);
    const { indexedBlock, ...waiting } = backlog;
    const lag = chain.head && indexedBlock !== null ? chain.head.number - indexedBlock : null;
    return {
      ...chain,
      indexedBlock,
      lag,
      registry,
      registryState,
      submitter,
      balanceWei: account?.balanceWei ?? null,
      anchorsLeft: account?.anchorsLeft ?? null,
      ...waiting,
    };
  } finally {
    await close();
  }
}

export function tellChainStatus(status: ChainStatus): string {
  const { head, rpc } = status;
  const unknown = 'unknown: the chain is not running';
  const lines: [string, string][] = [
    [
      'Chain',
      status.chainId === null ? 'none yet: it is created when the service first runs' : `${status.chainId}`,
    ],
    ['Kind', status.embedded ? 'embedded' : 'external, over RPC'],
    ['Genesis', status.genesisHash ?? 'none yet'],
    ...(status.embedded ? [['RPC', status.rpcUrl ?? 'not running'] as [string, string]] : rpc.map(tellRpc)),
    ['Head', head ? `${head.number}, ${head.time}, ${head.hash}` : 'none yet'],
    [
      'Indexed',
      status.indexedBlock === null ? 'nothing yet' : `${status.indexedBlock} (${status.lag ?? '?'} behind)`,
    ],
    ['Registry', `${status.registry} ${tellRegistry[status.registryState ?? 'unknown']}`],
    ['Submitter', status.submitter],
    ['Balance', status.balanceWei === null ? unknown : `${status.balanceWei} wei`],
    ['Gas for', status.anchorsLeft === null ? unknown : `${status.anchorsLeft} anchors at current fees`],
    [
      'Pending',
      `${status.pendingLeaves} to be anchored, ${status.openTransactions} transactions in progress`,
    ],
    ['Set aside', tellSetAside(status)],
  ];
  const text = lines.map(([name, value]) => `${name.padEnd(10)} ${value}`.trimEnd()).join('\n');
  return status.developmentEvidence ? `${text}\n\nDevelopment evidence only: ${tellWhy(status)}` : text;
}

function tellWhy({ embedded, chainId, genesisHash }: ChainStatus): string {
  if (embedded) return 'the operator of this chain can set its clock.';
  const known = chainId === null ? null : knownChain(chainId);
  if (known === null) return 'it is not a known public chain; verifiers must name it in a trust file.';
  if (known.genesisHash !== genesisHash) {
    return `it has the id of ${known.name}, but another first block; verifiers must name it in a trust file.`;
  }
  if (known.test) return `${known.name} is a test network; verifiers must name it in a trust file.`;
  return `the node is one for development, which can imitate ${known.name}.`;
}

function tellSetAside({ setAsideBatches: count, setAside }: ChainStatus): string {
  if (count === 0) return '0 batches';
  const named = setAside.map(({ id, size, reason }) => [String(id), String(size), reason ?? 'unknown']);
  const more = count > named.length ? [`… and ${count - named.length} more`] : [];
  return [
    `${count} ${count === 1 ? 'batch' : 'batches'}; fix the reason, then run "holdfast chain retry BATCH" or "--all"`,
    ...table(['BATCH', 'LEAVES', 'REASON'], named).split('\n'),
    ...more,
  ].join(`\n${' '.repeat(11)}`);
}

const tellRegistry = {
  present: '(deployed)',
  missing: '(missing: run "holdfast chain deploy")',
  other: '(another contract is there)',
  unknown: '',
} as const;

function tellRpc({ host, ok, headNumber, durationMs, error }: RpcHealth): [string, string] {
  return ['RPC', ok ? `${host}: head ${headNumber} in ${Math.round(durationMs)} ms` : `${host}: ${error}`];
}

type Seen = Pick<
  ChainStatus,
  'chainId' | 'embedded' | 'developmentEvidence' | 'genesisHash' | 'rpcUrl' | 'rpc' | 'head'
> & { client: PublicClient | null; close(): Promise<void> };

/** The journal gives the head even while the chain is not running. */
async function lookAtEmbedded({ store, config }: ChainCommandContext): Promise<Seen> {
  const { db } = store.database;
  const stored = await findStoredChain(db);
  if (stored) requireSame(stored, { embedded: true });
  const journal = createJournal(db);
  const [first, head, running] = await Promise.all([
    journal.block(0),
    journal.head(),
    findEmbeddedChain(db, config.dataDir),
  ]);
  const rpc =
    running && first
      ? createChainRpc({ chainId: running.chainId, genesisHash: first.hash, urls: () => [running.rpcUrl] })
      : null;
  // A node that is just starting, or was left behind by a dead service, may not answer.
  const answers = await rpc?.client.getBlockNumber().then(
    () => true,
    () => false,
  );
  return {
    chainId: await journal.chainId(),
    embedded: true,
    developmentEvidence: true,
    genesisHash: first?.hash ?? null,
    rpcUrl: answers && running ? running.rpcUrl : null,
    rpc: [],
    head: head && { number: head.number, hash: head.hash, time: timeOf(head.timestampSeconds) },
    client: answers && rpc ? rpc.client : null,
    close: async () => rpc?.close(),
  };
}

async function lookOverRpc({ store, config }: ChainCommandContext): Promise<Seen> {
  const { chainId, genesisHash, rpc } = await reachChain(store.database.db, config.chain.rpcUrls);
  try {
    const reader = createAnchorReader((method, params) => rpc.client.request({ method, params } as never));
    const [health, block, isDevelopmentNode] = await Promise.all([
      rpc.health(),
      rpc.client.getBlock(),
      reader.isDevelopmentNode(),
    ]);
    const known = knownChain(chainId);
    const isPublic = known !== null && known.genesisHash === genesisHash && !known.test;
    return {
      chainId,
      embedded: false,
      developmentEvidence: !isPublic || isDevelopmentNode,
      genesisHash,
      rpcUrl: null,
      rpc: health,
      head: { number: Number(block.number), hash: block.hash, time: timeOf(Number(block.timestamp)) },
      client: rpc.client,
      close: rpc.close,
    };
  } catch (error) {
    await rpc.close();
    throw error;
  }
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
