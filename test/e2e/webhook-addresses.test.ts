/** Where webhooks must never go: counted on real listeners at the very addresses that hostile URLs lead to. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer as createHttpServer, type Server as HttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { type AddressGuard, createAddressGuard, toAllowList } from '../../src/egress/address-guard.ts';
import type { FoundAddress, Resolve } from '../../src/egress/name-lookup.ts';
import { createExchanger, type Exchanger } from '../../src/webhooks/exchange/exchange.ts';
import { hostileUrls } from '../support/clients/hostile-urls.ts';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { startService } from '../support/service/service.ts';

/** Loopback in both families on one port: what 127.1, 0, [::], [::ffff:7f00:1] and their like would reach. */
let listeners: Server[];
let port: number;
let connections = 0;
/** A plain receiver at another loopback address on the same port, which alone may be allowed. */
let allowed: HttpServer;
let answer: RequestListener;
before(async () => {
  const forbidden = () =>
    createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
  // A port that is free in one family may be taken in the other.
  await waitUntil(async () => {
    allowed = createHttpServer((request, response) => answer(request, response));
    // One that is kept stays until its client lets go of it.
    allowed.keepAliveTimeout = 0;
    listeners = [forbidden(), forbidden(), allowed];
    const [inV4, inV6] = listeners as [Server, Server];
    try {
      port = await listen(inV4, '127.0.0.1');
      await listen(inV6, '::1', port);
      await listen(allowed, '127.0.0.2', port);
      return true;
    } catch (error) {
      for (const listener of listeners) listener.close();
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      return false;
    }
  });
});
after(() => {
  allowed.closeAllConnections();
  for (const listener of listeners) listener.close();
});
beforeEach(() => {
  connections = 0;
  answer = (_request, response) => response.writeHead(204).end();
});

async function listen(server: Server, host: string, port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return (server.address() as AddressInfo).port;
}

/** The same URL, as it is written, on the port of the listeners. */
function onPort(url: string): string {
  return isHttp(url) ? url.replace(/^(\w+:\/\/[^/]+)/, `$1:${port}`) : url;
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

const v4 = (address: string): FoundAddress => ({ address, family: 4 });

/** Nothing here is left without an answer: the time is for a busy machine. */
function exchangerFor(guard: AddressGuard): Exchanger {
  return createExchanger({ guard, timeoutMs: 30_000, caFile: null });
}

const post = (exchanger: Exchanger, url: string) =>
  exchanger.post({ url: new URL(url), headers: { 'content-type': 'application/json' }, body: '{}' });

test('the hostile URLs reach the listeners without the guard', async () => {
  const guard = createAddressGuard(toAllowList(['0.0.0.0/0', '::/0']));
  const exchanger = exchangerFor(guard);
  for (const url of [
    'https://127.1/',
    'https://2130706433/',
    'https://0/',
    'https://[::1]/',
    'https://[::ffff:7f00:1]/',
  ])
    await post(exchanger, onPort(url));
  await exchanger.close();
  assert.equal(connections, 5);
});

test('no hostile URL opens a connection, and the error reveals nothing about its target', async () => {
  const exchanger = exchangerFor(createAddressGuard(toAllowList([])));
  const parsed = hostileUrls.map(onPort).filter(isHttp);
  assert.ok(parsed.length > 40);
  for (const url of parsed) {
    // Credentials are refused when saving; the address itself is public, and nothing may be sent there from a test.
    if (new URL(url).username !== '') continue;
    const outcome = await post(exchanger, url);
    assert.match(outcome.error ?? '', /only sent (to public addresses|over https)/, url);
    assert.deepEqual([outcome.statusCode, outcome.responseBody, outcome.responseHeaders], [null, '', {}]);
  }
  await exchanger.close();
  assert.equal(connections, 0);
});

test('connects to a name that changes its answer only where it was vetted', async () => {
  const answers = [[v4('93.184.216.34')], [v4('127.0.0.1')], [v4('127.0.0.1')]];
  const guard = createAddressGuard(toAllowList([]), async () => answers.shift() ?? []);
  const url = `https://rebind.example.org:${port}/`;
  assert.equal((await guard.vetUrl(url)).href, url, 'saved while it was public');
  const exchanger = exchangerFor(guard);
  const outcome = await post(exchanger, url);
  await exchanger.close();
  assert.match(outcome.error ?? '', /address is not public/);
  assert.equal(connections, 0);
  assert.equal(
    answers.length,
    1,
    'asked once for the connection, so that there is no second answer to go by',
  );
});

const guardFor = (resolve: Resolve) => createAddressGuard(toAllowList(['127.0.0.2']), resolve);

test('tries only the good addresses of a mixed answer, in any order', async () => {
  let received = 0;
  answer = (_request, response) => {
    received += 1;
    response.writeHead(204, { connection: 'close' }).end();
  };
  for (const found of [
    [v4('127.0.0.1'), v4('127.0.0.2')],
    [v4('127.0.0.2'), v4('127.0.0.1')],
    [{ address: '::1', family: 6 as const }, v4('127.0.0.2')],
  ]) {
    const exchanger = exchangerFor(guardFor(async () => found));
    assert.equal((await post(exchanger, `http://mixed.example.org:${port}/`)).statusCode, 204);
    await exchanger.close();
  }
  assert.equal(received, 3);
  assert.equal(connections, 0);
});

test('a kept-alive connection serves the next delivery without another lookup', async () => {
  // That is as safe as the first: the connection stays at the address that was vetted, whatever the name says by now.
  let looked = 0;
  const remotePorts = new Set<number | undefined>();
  answer = (request, response) => {
    remotePorts.add(request.socket.remotePort);
    response.writeHead(204).end();
  };
  const exchanger = exchangerFor(
    guardFor(async () => {
      looked += 1;
      return [v4(looked === 1 ? '127.0.0.2' : '127.0.0.1')];
    }),
  );
  for (let delivery = 0; delivery < 3; delivery += 1) {
    assert.equal((await post(exchanger, `http://kept.example.org:${port}/`)).statusCode, 204);
    // The answer is told a moment before its connection is free again.
    await new Promise(setImmediate);
  }
  await exchanger.close();
  assert.equal(looked, 1);
  assert.equal(remotePorts.size, 1);
  assert.equal(connections, 0);
});

test('follows no redirect, of any kind or target', async () => {
  const targets = [`http://127.0.0.1:${port}/`, `https://[::1]:${port}/`, `//127.0.0.1:${port}/`, '/again'];
  let requests = 0;
  answer = (request, response) => {
    requests += 1;
    const [, status, target] = request.url?.split('/') ?? [];
    response.writeHead(Number(status), { location: targets[Number(target)] }).end();
  };
  const exchanger = exchangerFor(guardFor(async () => [v4('127.0.0.2')]));
  for (const status of [300, 301, 302, 303, 307, 308])
    for (const target of targets.keys()) {
      const outcome = await post(exchanger, `http://moved.example.org:${port}/${status}/${target}`);
      assert.equal(outcome.statusCode, status);
      assert.equal(outcome.error, `The receiver answered ${status}; redirects are not followed.`);
    }
  await exchanger.close();
  assert.equal(requests, 6 * targets.length);
  assert.equal(connections, 0);
});

test('saves no hostile URL, and sends nothing to one that is already stored', async () => {
  let received = 0;
  answer = (_request, response) => {
    received += 1;
    response.writeHead(204).end();
  };
  const saved = `http://127.0.0.2:${port}/`;
  const env = {
    HOLDFAST_MASTER_KEY: randomBytes(32).toString('hex'),
    HOLDFAST_WEBHOOK_RETRY_SCHEDULE: '10ms',
  };
  const endpoints = '/api-v1/platform/webhooks/endpoints';
  const body = (url: string) => ({ url, eventTypes: ['vault.deactivated'] });
  // Saved while its address was allowed.
  const lenient = await startService({
    env: { ...env, HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8' },
    runLoops: false,
  });
  const strict = await startService({ env, databaseUrl: lenient.databaseUrl });
  try {
    const stored = hostileUrls
      .map(onPort)
      .filter(isHttp)
      .filter((url) => new URL(url).username === '');
    const made: { url: string; id: string }[] = [];
    // In turn: a workspace has at most 20 tests of endpoints under way.
    for (const url of [saved, ...stored]) {
      const { status, json } = await lenient.call('POST', endpoints, { body: body(saved) });
      assert.equal(status, 201);
      made.push({ url, id: json.id });
    }
    received = 0;

    for (const url of hostileUrls.map(onPort)) {
      const created = await strict.call('POST', endpoints, { body: body(url) });
      assert.equal(created.status, 400, url);
      assert.match(created.json.message, /url/);
      const changed = await strict.call('PATCH', `${endpoints}/${made[0]?.id}`, { body: { url } });
      assert.equal(changed.status, 400, url);
    }
    const { json: kept } = await strict.call('GET', `${endpoints}/${made[0]?.id}`);
    assert.equal(kept.url, saved);

    await withClient({ connectionString: lenient.databaseUrl }, async (client) => {
      for (const { url, id } of made.slice(1))
        await client.query('update webhook_endpoints set url = $1 where id = $2', [url, id]);
    });
    const vault = (await strict.call('POST', '/api-v1/platform/vaults', { body: { name: 'v' } })).json
      .address;
    await strict.call('PATCH', `/api-v1/platform/vaults/${vault}/deactivate`);
    const list = '/api-v1/platform/webhooks/deliveries?type=vault.deactivated';
    const failed = await waitUntil(async () => {
      const { json } = await strict.call('GET', `${list}&status=failed&limit=1000`);
      return json.length === made.length ? json : null;
    });
    for (const { id } of failed) {
      const { attempts } = (await strict.call('GET', `/api-v1/platform/webhooks/deliveries/${id}`)).json;
      assert.equal(attempts.length, 2);
      for (const { statusCode, error, responseBody, responseHeaders } of attempts) {
        assert.match(error, /only sent (to public addresses|over https)/);
        assert.deepEqual([statusCode, responseBody, responseHeaders], [null, '', {}]);
      }
    }
    assert.equal(connections, 0);
    assert.equal(received, 0);
  } finally {
    await strict.close();
    await lenient.close();
  }
});
