/** For the tests of the lead: nodes that lead on a chain, in this process and in another that can be killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { openTestDatabase } from '../../../test/database.ts';
import { type Settings, waitUntil } from '../../../test/process.ts';
import type { ChainConfig } from '../../config/config.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { openKeyring } from '../../keys/keyring.ts';
import { superviseLoops } from '../../runtime/loop.ts';
import type { Lead } from '../chain.ts';
import { endAnvil, findAnvilProcess } from '../embedded/anvil-process.ts';
import { createJournal } from '../embedded/journal.ts';
import { chainPlaces } from '../embedded/places.ts';
import { type ChainLead, createChainLead } from './lead.ts';

export const embeddedConfig: ChainConfig = {
  rpcUrls: [],
  confirmations: null,
  registryAddress: null,
  anchorIntervalMs: 1_000,
  feeCapGwei: 500,
};

export interface LeadBed {
  database: Database & { url: string };
  /** Of the nodes in this process; the others have their own. */
  dataDir: string;
  /** For commands beside them. */
  settings: Settings;
  logged: { details: Record<string, unknown>; message: string }[];
  node(config?: Partial<ChainConfig>, options?: { patienceMs?: number }): Promise<LeadingNode>;
  nodeElsewhere(): Promise<ChildProcess>;
  counts(): Promise<Record<string, number>>;
}

export interface LeadingNode extends Pick<ChainLead, 'lead' | 'openChain'> {
  /** How often it has looked and found another one leading. */
  looks(): number;
  /** Waits for it, as long as an emulated anvil may take. */
  leads(): Promise<Lead>;
  /** Waits until it fails for a reason that an operator can mend. */
  waitsFor(): Promise<string>;
  stop(): Promise<void>;
}

const startMs = 60_000;

export async function openLeadBed(t: TestContext): Promise<LeadBed> {
  const database = await openTestDatabase();
  const home = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-lead-')));
  const dataDir = join(home, 'here');
  const logged: LeadBed['logged'] = [];
  const note = (details: object, message: string) => void logged.push({ details: { ...details }, message });
  const stops: (() => Promise<void>)[] = [];
  t.after(async () => {
    for (const stop of stops) await stop();
    // What a killed process left.
    const chainId = (await createJournal(database.db).chainId()) ?? 0;
    const places = chainPlaces(join(home, 'elsewhere'), chainId);
    const left = await findAnvilProcess(places, chainId);
    if (left) await endAnvil(left, places);
    await database.close();
    await rm(home, { recursive: true, force: true });
  });
  const masterKey = { file: join(dataDir, 'master.key'), generated: true };

  return {
    database,
    dataDir,
    settings: { DATABASE_URL: database.url, HOLDFAST_DATA_DIR: dataDir },
    logged,
    async node(config = {}, options = {}) {
      const node = await startNode({
        dataDir,
        masterKey,
        database,
        url: database.url,
        config: { ...embeddedConfig, ...config },
        log: { info: note, error: note },
        ...options,
      });
      stops.push(node.stop);
      return node;
    },
    async nodeElsewhere() {
      const given = { dataDir: join(home, 'elsewhere'), masterKey, url: database.url };
      // Without --input-type, which the keyring's thread would inherit and refuse.
      const code = `import(${JSON.stringify(import.meta.url)}).then((bed) => bed.leadElsewhere(${JSON.stringify(given)}))`;
      const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
      stops.push(() => killed(child));
      await once(createInterface(child.stdout), 'line');
      return child;
    },
    async counts() {
      const tables = ['chain', 'embedded_chain', 'embedded_chain_blocks'] as const;
      const all = tables.map(async (table) => {
        const { rows } = await database.pool.query<{ count: number }>(`select count(*) from ${table}`);
        return [table, rows[0]?.count ?? 0] as const;
      });
      return Object.fromEntries(await Promise.all(all));
    },
  };
}

interface NodeOptions {
  dataDir: string;
  masterKey: { file: string; generated: boolean };
  database: Database;
  url: string;
  config: ChainConfig;
  patienceMs?: number;
  log: { info(details: object, message: string): void; error(details: object, message: string): void };
}

async function startNode(options: NodeOptions): Promise<LeadingNode> {
  const { dataDir, masterKey, database, url, config, log, patienceMs } = options;
  const keyring = await openKeyring({ db: database.db, source: masterKey });
  let looks = 0;
  const chainLead = createChainLead({
    onStandBy() {
      looks += 1;
    },
    ...(patienceMs !== undefined && { patienceMs }),
    config,
    dataDir,
    db: database.db,
    connection: () => ({ connectionString: url }),
    keyring,
    log,
  });
  const loops = superviseLoops([chainLead.loop], log);
  loops.start();
  let stopped = false;
  return {
    lead: chainLead.lead,
    openChain: chainLead.openChain,
    looks: () => looks,
    leads: () => waitUntil(chainLead.lead, startMs),
    waitsFor: () => waitUntil(() => loops.health()[0]?.lastError ?? null, startMs),
    async stop() {
      if (stopped) return;
      stopped = true;
      await loops.stop(20_000);
      await chainLead.close();
      await keyring.close();
    },
  };
}

/** What the other process does; says on stdout when it leads. */
export async function leadElsewhere(
  given: Pick<NodeOptions, 'dataDir' | 'masterKey' | 'url'>,
): Promise<void> {
  const database = openDatabase({ connection: () => ({ connectionString: given.url }), onError() {} });
  const log = { info() {}, error() {} };
  const node = await startNode({ ...given, database, config: embeddedConfig, log });
  await node.leads();
  console.log('leads');
}

export async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
