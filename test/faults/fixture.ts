/** Everything a run stands on: the service, its database, its chain, the receivers, the load and the journal. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificate } from '../support/clients/receiver.ts';
import { firstSecretOf, type Settings } from '../support/service/process.ts';
import { type ChainMode, type FixtureChain, openChain } from './chain.ts';
import { type Client, createClient } from './client.ts';
import { installNotices } from './commits.ts';
import { type Follower, followFeed } from './follower.ts';
import { installGates } from './gates.ts';
import { createJournal, type Journal } from './journal.ts';
import { createLoad, type Load, type LoadOptions } from './load.ts';
import { createNodes, firstDataDir, type Nodes, secondDataDir } from './nodes.ts';
import type { Random } from './random.ts';
import { type Receivers, startReceivers } from './receivers.ts';
import { openStore, type Store } from './store.ts';

export interface Fixture {
  /** Holds the data directories; kept when a rule is broken. */
  home: string;
  /** Of every node. */
  settings: Settings;
  nodes: Nodes;
  chain: FixtureChain;
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

export interface FixtureOptions extends LoadOptions {
  mode: ChainMode;
}

export async function openFixture(random: Random, { mode, ...load }: FixtureOptions): Promise<Fixture> {
  const home = await mkdtemp(join(tmpdir(), 'holdfast-faults-'));
  const dataDirs = { first: firstDataDir(home), second: secondDataDir(home) };
  for (const dataDir of Object.values(dataDirs)) await mkdir(dataDir);
  const chain = await openChain(mode, { dataDirs, settings: commonSettings() });
  const settings = { ...commonSettings(), ...chain.settings };
  const store = openStore(dataDirs.first);
  const nodes = createNodes(home, { settings, store });
  const closing = new AbortController();

  async function end(): Promise<void> {
    closing.abort();
    await nodes.killAll();
    // Left behind with what it holds; a later start would take it up again.
    await store.kill();
    await chain.close();
  }

  try {
    const first = await nodes.startFirst();
    const key = await firstSecretOf(first.service);
    await installNotices(store);
    await installGates(store);
    const journal = createJournal();
    const { signal } = closing;
    const client = createClient({ nodes, key, journal, random: random.stream('nodes'), signal });
    const receivers = await startReceivers(client, journal.complaints);
    const tally = new Map<string, number>();
    return {
      home,
      settings,
      nodes,
      chain,
      store,
      receivers,
      journal,
      load: createLoad({ client, journal, random: random.stream('load'), ...load }),
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
