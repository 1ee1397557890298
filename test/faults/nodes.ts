/** The service as real processes: one with the embedded database, at times a second one beside it. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { enginesOf, isEngine } from '../support/chain/engine-process.ts';
import {
  processesMentioning,
  type RunningService,
  type Settings,
  serve,
  waitUntil,
} from '../support/service/process.ts';
import type { Store } from './store.ts';
import { Violation } from './violation.ts';

export interface Node {
  service: RunningService;
  pid: number;
  /** Stopped by SIGSTOP: it neither answers nor ends. */
  frozen: boolean;
}

/** Everything that this node has printed and logged. */
export function saidBy({ service }: Node): string {
  return service.stdout() + service.stderr();
}

export interface Nodes {
  /** Those that should answer now. */
  answering(): Node[];
  first(): Node;
  /** One more, with settings of its own. */
  start(own: Settings): Promise<Node>;
  startFirst(): Promise<Node>;
  /** A second one on the same database, with the same master key. */
  startSecond(): Promise<Node>;
  kill(node: Node): Promise<void>;
  /** SIGTERM, which has to end it cleanly. */
  stop(node: Node): Promise<void>;
  freeze(node: Node): void;
  wake(node: Node): void;
  isReady(node: Node): Promise<boolean>;
  /** A figure that this node tells Prometheus, summed over its labels. */
  figure(node: Node, name: string): Promise<number>;
  /** Also those that are just starting; none can be started after it. */
  killAll(): Promise<void>;
}

export interface NodesDeps {
  settings: Settings;
  /** Of the first one alone, beside its data directory. */
  first?: Settings;
  /** How long a start may take; see `serve`. */
  startMs?: number | undefined;
  store: Store;
}

export function createNodes(home: string, { settings, first: place = {}, startMs, store }: NodesDeps): Nodes {
  const dataDir = firstDataDir(home);
  let nodes: Node[] = [];

  const starting = new Set<Promise<unknown>>();
  let closed = false;

  async function start(own: Settings): Promise<Node> {
    if (closed) throw new Error('the run is over');
    const begun = add(serve({ ...settings, ...own }, startMs));
    starting.add(begun);
    return begun.finally(() => starting.delete(begun));
  }

  async function add(started: Promise<RunningService>): Promise<Node> {
    const service = await started;
    const { pid } = service.child;
    if (pid === undefined) throw new Error('the service has no process');
    const node = { service, pid, frozen: false };
    nodes.push(node);
    return node;
  }

  async function end(node: Node, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | string> {
    nodes = nodes.filter((one) => one !== node);
    node.service.child.kill(signal);
    return node.service.exited;
  }

  return {
    answering: () => nodes.filter(({ frozen }) => !frozen),
    first() {
      const [first] = nodes;
      if (!first) throw new Error('no service runs');
      return first;
    },
    start,
    startFirst: () => start({ HOLDFAST_DATA_DIR: dataDir, ...place }),
    async startSecond() {
      return start({
        HOLDFAST_DATA_DIR: secondDataDir(home),
        DATABASE_URL: await store.url(),
        HOLDFAST_MASTER_KEY_FILE: join(dataDir, 'master.key'),
        HOLDFAST_BLOB_URL: pathToFileURL(blobDir(home)).href,
      });
    },
    async kill(node) {
      await end(node, 'SIGKILL');
    },
    async stop(node) {
      const alone = nodes.length === 1;
      const engines = enginesOf(node.pid);
      const outcome = await end(node, 'SIGTERM');
      if (outcome !== 0)
        throw new Violation(`SIGTERM ended the service with ${outcome}`, [
          node.service.stderr().slice(-2000),
        ]);
      const left = [...(alone ? processesMentioning(dataDir) : []), ...engines.filter(isEngine)];
      if (left.length > 0) throw new Violation('SIGTERM left processes running', left);
    },
    freeze(node) {
      node.frozen = true;
      node.service.child.kill('SIGSTOP');
    },
    wake(node) {
      node.service.child.kill('SIGCONT');
      node.frozen = false;
    },
    async isReady({ service }) {
      const answer = await fetch(`${service.url}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(
        () => null,
      );
      await answer?.body?.cancel();
      return answer?.status === 200;
    },
    async figure({ service }, name) {
      const text = await waitUntil(() =>
        fetch(`${service.url}/metrics`, { signal: AbortSignal.timeout(5_000) })
          .then((answer) => answer.text())
          .catch(() => null),
      );
      const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))];
      if (values.length === 0) throw new Error(`/metrics has no ${name}`);
      return values.reduce((sum, [, value]) => sum + Number(value), 0);
    },
    async killAll() {
      closed = true;
      await Promise.allSettled(starting);
      for (const node of [...nodes]) await end(node, 'SIGKILL');
    },
  };
}

/** Where the first node keeps the database and the master key. */
export function firstDataDir(home: string): string {
  return join(home, 'first');
}

/** Where every node keeps the bytes of files. */
export function blobDir(home: string): string {
  return join(firstDataDir(home), 'blobs');
}

/** The second one has nothing there but a chain of its own while it leads. */
export function secondDataDir(home: string): string {
  return join(home, 'second');
}
