/** What a run with several nodes has beyond one with a single service: Patroni behind them, HAProxy before them. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { freePort } from '../../support/service/postgres-server.ts';
import type { Settings } from '../../support/service/process.ts';
import { blobDir, firstDataDir, type Node, type Nodes } from '../nodes.ts';
import { isLost, type Store } from '../store.ts';
import { createProxy, type Haproxy } from './haproxy.ts';
import { type Patroni, startPatroni } from './patroni.ts';

const size = 4;

/** Before there are nodes: the database, and where each of them will be. */
export interface ClusterBase {
  patroni: Patroni;
  proxy: Haproxy;
  store: Store;
  /** Of every node, and of every command. */
  settings: Settings;
  /** Of each node alone. */
  places: Settings[];
  dataDirs: string[];
  close(): Promise<void>;
}

export interface Cluster extends Pick<ClusterBase, 'patroni' | 'proxy'> {
  size: number;
  startNode(place: number): Promise<void>;
  killNode(place: number): Promise<void>;
  /** SIGTERM, which has to end it cleanly. */
  stopNode(place: number): Promise<void>;
}

/** What it is made of. */
export const clusterPrograms = ['patroni', 'postgresql-15', 'etcd', 'haproxy'] as const;

export async function openClusterBase(home: string): Promise<ClusterBase> {
  const patroni = await startPatroni();
  const store = createStore(patroni);
  try {
    const places: Settings[] = [];
    const dataDirs: string[] = [];
    for (let place = 0; place < size; place++) {
      const dataDir = place === 0 ? firstDataDir(home) : join(home, `node-${place + 1}`);
      await mkdir(dataDir, { recursive: true });
      dataDirs.push(dataDir);
      places.push({ HOLDFAST_DATA_DIR: dataDir, PORT: String(await freePort()) });
    }
    await mkdir(blobDir(home), { recursive: true });
    const proxy = await createProxy(
      home,
      places.map(({ PORT }) => `127.0.0.1:${PORT}`),
    );
    return {
      patroni,
      proxy,
      store,
      places,
      dataDirs,
      settings: {
        DATABASE_URL: patroni.url,
        HOLDFAST_BLOB_URL: pathToFileURL(blobDir(home)).href,
        HOLDFAST_TRUST_PROXY: '127.0.0.1',
        HOLDFAST_PUBLIC_URL: proxy.url,
      },
      async close() {
        await proxy.kill();
        await store.end();
        await patroni.close();
      },
    };
  } catch (error) {
    await patroni.close();
    throw error;
  }
}

/** Starts the nodes beyond the first, which runs already and has made the master key, and the proxy. */
export async function openCluster(base: ClusterBase, nodes: Nodes, home: string): Promise<Cluster> {
  const running = new Map<number, Node>([[0, nodes.first()]]);
  const key = { HOLDFAST_MASTER_KEY_FILE: join(firstDataDir(home), 'master.key') };
  async function end(place: number, how: (node: Node) => Promise<void>): Promise<void> {
    const node = running.get(place);
    running.delete(place);
    if (node) await how(node);
  }
  const cluster: Cluster = {
    patroni: base.patroni,
    proxy: base.proxy,
    size,
    async startNode(place) {
      running.set(place, await nodes.start({ ...base.places[place], ...key }));
    },
    killNode: (place) => end(place, nodes.kill),
    stopNode: (place) => end(place, nodes.stop),
  };
  for (let place = 1; place < size; place++) await cluster.startNode(place);
  await base.proxy.start();
  return cluster;
}

/** Asks whoever takes writes now. */
function createStore({ primaryUrl, primary }: Patroni): Store & { end(): Promise<void> } {
  let kept: Promise<pg.Client> | null = null;
  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: await primaryUrl(),
      connectionTimeoutMillis: 5_000,
      query_timeout: 120_000,
    });
    client.on('error', forget).on('end', forget);
    await client.connect();
    return client;
  }
  function forget(): void {
    kept = null;
  }
  return {
    async query<R extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<R[]> {
      for (let trial = 1; ; trial++) {
        const used = kept;
        kept ??= connect();
        const asked = kept;
        try {
          return (await (await asked).query<R>({ text, values })).rows;
        } catch (error) {
          if (kept === asked) kept = null;
          if (!isLost(error) || (used === null && trial > 20)) throw error;
        }
      }
    },
    url: primaryUrl,
    pid: () => Promise.reject(new Error('there are several servers')),
    async kill() {
      await (await primary()).kill();
    },
    async end() {
      const client = await kept?.catch(() => null);
      await client?.end().catch(() => {});
    },
  };
}
