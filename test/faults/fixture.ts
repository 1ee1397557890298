/** Everything a run stands on: the service, its database, its chain, the receivers, the load and the journal. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificate } from '../support/clients/receiver.ts';
import { nameEveryScope } from '../support/service/every-scope.ts';
import { firstSecretOf, type Settings } from '../support/service/process.ts';
import { type ChainMode, type FixtureChain, openChain } from './chain.ts';
import { type Client, createClient } from './client.ts';
import { type Cluster, openCluster, openClusterBase } from './cluster/cluster.ts';
import { installNotices } from './commits.ts';
import { type Follower, followFeed } from './follower.ts';
import { installGates } from './gates.ts';
import { createJournal, type Journal } from './journal.ts';
import { createLoad, type Load, type LoadOptions } from './load.ts';
import { createNodes, firstDataDir, type Nodes, secondDataDir } from './nodes.ts';
import type { Random } from './random.ts';
import { type Receivers, startReceivers } from './receivers.ts';
import { openStore, type Store } from './store.ts';

/** `single`: one node with the embedded PostgreSQL, at times a second one. `cluster`: see cluster/. */
export type Topology = 'single' | 'cluster';

export interface Fixture {
  /** Holds the data directories; kept when a rule is broken. */
  home: string;
  /** Of every node. */
  settings: Settings;
  nodes: Nodes;
  chain: FixtureChain;
  /** What is around several nodes. */
  cluster(): Cluster;
  store: Store;
  receivers: Receivers;
  journal: Journal;
  load: Load;
  follower: Follower;
  client: Client;
  /** The API key of the load. */
  key: string;
  /** How often something was done or seen, by its name. */
  tally: Map<string, number>;
  count(name: string, times?: number): void;
  close(options: { keep: boolean }): Promise<void>;
}

const commonSettings = () => ({
  HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8',
  HOLDFAST_WEBHOOK_CA_FILE: certificate().caFile,
  // Three times this, and no less than 5 s, is the lease of a claim.
  HOLDFAST_WEBHOOK_TIMEOUT_MS: '1500',
  HOLDFAST_WEBHOOK_RETRY_SCHEDULE: '200ms,400ms,800ms,1500ms,3s',
  HOLDFAST_LOG_LEVEL: 'warn',
});

/** Four nodes share a few cores, and with --minutes often other work: a start may wait for them, but not for ever. */
const longestClusterStartMs = 300_000;

export interface FixtureOptions extends LoadOptions {
  mode: ChainMode;
  topology: Topology;
}

export async function openFixture(
  random: Random,
  { mode, topology, ...load }: FixtureOptions,
): Promise<Fixture> {
  const home = await mkdtemp(join(tmpdir(), 'holdfast-faults-'));
  const dataDirs = { first: firstDataDir(home), second: secondDataDir(home) };
  for (const dataDir of Object.values(dataDirs)) await mkdir(dataDir);
  const base =
    topology === 'cluster'
      ? await openClusterBase(home).catch(async (error) => {
          await rm(home, { recursive: true, force: true });
          throw error;
        })
      : null;
  const common = { ...commonSettings(), ...base?.settings };
  const chain = await openChain(mode, {
    dataDirs: [dataDirs.first, ...(base?.dataDirs.slice(1) ?? [])],
    settings: common,
  }).catch(async (error) => {
    await base?.close();
    await rm(home, { recursive: true, force: true });
    throw error;
  });
  const settings = { ...common, ...chain.settings };
  const store = base?.store ?? openStore(dataDirs.first);
  const nodes = createNodes(home, {
    settings,
    store,
    ...(base && { first: base.places[0], startMs: longestClusterStartMs }),
  });
  const closing = new AbortController();

  async function end(): Promise<void> {
    closing.abort();
    await nodes.killAll();
    if (base) await base.close();
    // Left behind with what it holds; a later start would take it up again.
    else await store.kill();
    await chain.close();
  }

  try {
    const first = await nodes.startFirst();
    const key = await firstSecretOf(first.service);
    const cluster = base && (await openCluster(base, nodes, home));
    await store.query(nameEveryScope);
    await installNotices(store);
    await installGates(store);
    const journal = createJournal();
    const { signal } = closing;
    const targets = () => (base ? [base.proxy.url] : nodes.answering().map(({ service }) => service.url));
    const client = createClient({ targets, key, journal, random: random.stream('nodes'), signal });
    const receivers = await startReceivers(client, journal.complaints);
    const tally = new Map<string, number>();
    return {
      home,
      settings,
      nodes,
      chain,
      cluster() {
        if (!cluster) throw new Error('this fault needs a cluster');
        return cluster;
      },
      store,
      receivers,
      journal,
      load: createLoad({
        client,
        journal,
        random: random.stream('load'),
        answersMayComeLate: base !== null,
        ...load,
      }),
      follower: followFeed(client),
      client,
      key,
      tally,
      count(name, times = 1) {
        tally.set(name, (tally.get(name) ?? 0) + times);
      },
      async close({ keep }) {
        await end();
        await receivers.close();
        if (!keep) await rm(home, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await end();
    await rm(home, { recursive: true, force: true });
    throw error;
  }
}
