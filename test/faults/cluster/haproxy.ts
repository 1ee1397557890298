/** HAProxy before four nodes, with deploy/haproxy/haproxy.cfg. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathOf } from '../../support/programs/needs.ts';
import { freePort } from '../../support/service/postgres-server.ts';
import { waitUntil } from '../../support/service/process.ts';

const sampleFile = resolve(import.meta.dirname, '../../../deploy/haproxy/haproxy.cfg');

export interface Haproxy {
  url: string;
  start(): Promise<void>;
  kill(): Promise<void>;
}

/** `nodes`: HOST:PORT of each. The sample has two, and says where to add more. */
export async function createProxy(home: string, nodes: string[]): Promise<Haproxy> {
  const bind = `127.0.0.1:${await freePort()}`;
  const url = `http://${bind}`;
  const sample = await readFile(sampleFile, 'utf8');
  const second = `    server node2 "\${PROXY_NODE_2}"\n`;
  if (!sample.includes(second)) throw new Error(`${sampleFile} has no second node`);
  const more = nodes
    .slice(2)
    .map((_node, place) => `    server node${place + 3} "\${PROXY_NODE_${place + 3}}"\n`);
  const file = join(home, 'haproxy.cfg');
  await writeFile(
    file,
    sample.replace(second, () => second + more.join('')),
  );
  const program = pathOf('haproxy');
  let child: ChildProcess | null = null;

  return {
    url,
    async start() {
      child = spawn(program, ['-db', '-f', file], {
        env: {
          PATH: process.env.PATH ?? '',
          PROXY_BIND: bind,
          HOLDFAST_PUBLIC_URL: url,
          ...Object.fromEntries(nodes.map((node, place) => [`PROXY_NODE_${place + 1}`, node])),
        },
        stdio: 'ignore',
      });
      await waitUntil(() =>
        fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2_000) })
          .then(async (answer) => answer.body?.cancel().then(() => true))
          .catch(() => false),
      );
    },
    async kill() {
      const running = child;
      child = null;
      if (running === null || running.exitCode !== null || running.signalCode !== null) return;
      const exited = new Promise((done) => running.once('exit', done));
      running.kill('SIGKILL');
      await exited;
    },
  };
}
