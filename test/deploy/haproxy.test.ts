/** The sample configuration of HAProxy before two nodes of one database. */
// tier: process
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { needs, pathOf } from '../support/programs/needs.ts';
import { freePort } from '../support/service/postgres-server.ts';
import { waitUntil } from '../support/service/process.ts';
import { callerAt, type Service, startService } from '../support/service/service.ts';

const file = join(resolve(import.meta.dirname, '../..'), 'deploy/haproxy/haproxy.cfg');
const { test } = needs('haproxy');
const vaults = '/api-v1/platform/vaults';
const publicUrl = 'https://evidence.example.org';
/** Both sides may be silent for this long, except where the configuration says otherwise: enough for a busy machine. */
const timeoutMs = 1_500;

test('HAProxy finds no fault in the configuration', () => {
  const { status, stderr } = spawnSync(pathOf('haproxy'), ['-c', '-f', file], {
    env: { ...process.env, PROXY_NODE_1: '127.0.0.1:1', PROXY_NODE_2: '127.0.0.1:2' },
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  assert.doesNotMatch(stderr, /WARNING|ALERT/);
});

test('two nodes behind HAProxy', async (t) => {
  const nodes = await startNodes(t);
  const [first, second] = nodes;
  const url = await startProxy(t, nodes);
  const call = callerAt(url, first.key);
  await waitUntil(async () => (await call('GET', '/readyz')).status === 200);

  await t.test('requests reach both nodes', async () => {
    const body = { name: 'Contracts' };
    assert.equal((await call('POST', vaults, { body })).status, 201);
    await waitUntil(async () => {
      assert.equal((await call('GET', vaults)).status, 200);
      const metrics = await Promise.all(nodes.map((node) => node.call('GET', '/metrics', { key: null })));
      return metrics.every(({ text }) => /_count\{[^}]*route="\/api-v1\/platform\/vaults"/.test(text));
    }, 10_000);
  });

  await t.test('the address of the client arrives, not the one it claims', async (t) => {
    const dispatcher = new Agent({ localAddress: '127.0.0.77' });
    t.after(() => dispatcher.close());
    const { body } = await request(`${url}/auth/sign-in/email`, {
      dispatcher,
      method: 'POST',
      headers: {
        origin: publicUrl,
        'content-type': 'application/json',
        'x-forwarded-for': '203.0.113.9',
        forwarded: 'for=203.0.113.9',
      },
      body: JSON.stringify({ email: 'nobody@example.com', password: 'not the right password' }),
    });
    await body.dump();
    const logged = () => nodes.map((node) => node.logged()).join('');
    // Written after the answer.
    await waitUntil(() => logged().includes('"address":"127.0.0.77"'));
    assert.doesNotMatch(logged(), /203\.0\.113\.9/);
  });

  await t.test('metrics are not shown to clients', async () => {
    assert.equal((await call('GET', '/metrics')).status, 404);
  });

  await t.test('an event stream outlives the usual timeouts', async () => {
    const { json: vault } = await call('POST', vaults, { body: { name: 'Followed' } });
    const { statusCode, body } = await request(`${url}/api-v1/platform/events/stream`, {
      headers: { 'x-api-key': first.key, accept: 'text/event-stream' },
      signal: AbortSignal.timeout(30_000),
    });
    assert.equal(statusCode, 200);
    await fallSilent(url, { key: first.key, times: 2 });
    assert.equal((await call('PATCH', `${vaults}/${vault.address}/deactivate`)).status, 200);
    let received = '';
    for await (const chunk of body) {
      received += chunk;
      if (received.includes('vault.deactivated')) break;
    }
    assert.match(received, /vault\.deactivated/, 'the stream was cut');
  });

  await t.test('a slow upload outlives the usual timeouts', async () => {
    const { json: vault } = await call('POST', vaults, { body: { name: 'Files' } });
    let isOver = false;
    const [{ statusCode, body }] = await Promise.all([
      request(`${url}/api-v1/platform/files`, {
        method: 'POST',
        headers: { 'x-api-key': first.key, 'content-type': 'multipart/form-data; boundary=line' },
        body: Readable.from(slowUpload(vault.address, () => isOver)),
      }),
      fallSilent(url, { key: first.key, times: 2 }).finally(() => {
        isOver = true;
      }),
    ]);
    assert.equal(statusCode, 202, await body.text());
  });

  await t.test('one node is enough', async () => {
    await first.close();
    for (let round = 0; round < 20; round++) {
      const body = { name: `One node ${round}` };
      assert.equal((await call('POST', vaults, { body })).status, 201);
      assert.equal((await call('GET', vaults)).status, 200);
    }
  });

  await t.test('without a node, the answer is an error of the usual shape', async () => {
    await second.close();
    const answer = await call('GET', vaults);
    assert.equal(answer.status, 503);
    assert.equal(answer.headers.get('retry-after'), '2');
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    const { timestamp, ...rest } = answer.json;
    assert.deepEqual(rest, {
      message: 'No node of the service is available. Try again shortly.',
      errorCode: 'service_unavailable',
      docUrl: `${publicUrl}/docs/errors#service_unavailable`,
    });
    assert.equal(new Date(timestamp).toISOString(), timestamp);
    assert.ok(Math.abs(Date.now() - Date.parse(timestamp)) < 60_000, timestamp);
  });
});

/** A third one, which HAProxy does not know, owns the database and the files: they outlive both nodes. */
async function startNodes(t: TestContext): Promise<[Service, Service]> {
  const env = { HOLDFAST_TRUST_PROXY: '127.0.0.1', HOLDFAST_PUBLIC_URL: publicUrl };
  const owner = await startService({ env, runLoops: false });
  t.after(() => owner.close());
  const master = { HOLDFAST_MASTER_KEY_FILE: join(owner.config.dataDir, 'master.key') };
  const shared = { env: { ...env, ...master }, databaseUrl: owner.databaseUrl };
  const first = await startService(shared);
  t.after(() => first.close());
  const second = await startService(shared);
  t.after(() => second.close());
  return [first, second];
}

async function startProxy(t: TestContext, nodes: Service[]): Promise<string> {
  const bind = `127.0.0.1:${await freePort()}`;
  const [first = '', second = ''] = nodes.map(({ url }) => new URL(url).host);
  const child = spawn(pathOf('haproxy'), ['-db', '-f', file], {
    env: {
      ...process.env,
      PROXY_BIND: bind,
      PROXY_NODE_1: first,
      PROXY_NODE_2: second,
      PROXY_TIMEOUT: `${timeoutMs}ms`,
      HOLDFAST_PUBLIC_URL: publicUrl,
    },
    stdio: 'ignore',
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  t.after(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  await waitUntil(() =>
    request(`http://${bind}/healthz`).then(
      ({ body }) => body.dump().then(() => true),
      () => false,
    ),
  );
  return `http://${bind}`;
}

/**
 * Stops in the middle of a request until HAProxy hangs up, and again: then the usual timeouts are in force, and have passed
 * this many times for everything that has been open meanwhile.
 */
async function fallSilent(url: string, { key, times }: { key: string; times: number }): Promise<void> {
  const { hostname, port } = new URL(url);
  const lines = [
    `POST ${vaults} HTTP/1.1`,
    `host: ${hostname}`,
    `x-api-key: ${key}`,
    'content-type: application/json',
    'content-length: 100',
  ];
  for (let time = 0; time < times; time += 1) {
    let received = '';
    await new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () =>
        socket.write(`${lines.join('\r\n')}\r\n\r\n{"name":`),
      );
      socket.on('data', (chunk) => (received += chunk));
      socket.once('close', resolve).once('error', reject);
    });
    // Of the one side or of the other, whichever is found silent first.
    assert.match(received, /^HTTP\/1\.1 (408|504) /);
  }
}

/** A form whose bytes come slowly: no faster than needed not to be silent for too long, until it is over. */
async function* slowUpload(vaultAddress: string, isOver: () => boolean): AsyncGenerator<string> {
  yield `--line\r\ncontent-disposition: form-data; name="vaultAddress"\r\n\r\n${vaultAddress}\r\n`;
  yield '--line\r\ncontent-disposition: form-data; name="file"; filename="slow.txt"\r\n\r\n';
  while (!isOver()) {
    await sleep(timeoutMs / 5);
    yield 'bytes '.repeat(100);
  }
  yield '\r\n--line--\r\n';
}
