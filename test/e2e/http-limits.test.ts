/** Settings that change how the service is reached: rate limits, TLS, its public address, metrics and proxies. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get as getPlainly, type IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type ConnectionOptions, connect as connectSecurely } from 'node:tls';
import { newApiKey } from '../../src/access/api-keys/api-key-text.ts';
import { makeSelfSigned } from '../support/clients/self-signed.ts';
import { placeAll } from '../support/fixtures/placed-events.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { createTestDatabase, type TestDatabase, withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

const vaults = '/api-v1/platform/vaults';
const passedOn: Record<string, string>[] = [
  { 'x-forwarded-for': '203.0.113.9' },
  { 'x-forwarded-for': '127.0.0.1' },
  { forwarded: 'for=203.0.113.9' },
  { via: '1.1 proxy' },
];

const masterKey = { HOLDFAST_MASTER_KEY: randomBytes(32).toString('hex') };
let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

/** Tests that share a service with these settings. */
function withSettings(env: Record<string, string>, tests: (service: () => Service) => void): void {
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  describe(`with ${settings.join(' ')}`, () => {
    let service: Service;
    before(async () => {
      service = await startService({
        env: { ...masterKey, ...env },
        databaseUrl: database.url,
        runLoops: false,
      });
    });
    after(() => service.close());
    tests(() => service);
  });
}

function assertLimited(answer: Answer): void {
  assertError(answer, 'rate_limit_exceeded');
  const seconds = Number(answer.headers.get('retry-after'));
  assert.ok(seconds >= 1 && seconds <= 3600, `${seconds} s`);
  assert.equal(answer.headers.get('ratelimit-policy'), '"default";q=5;w=3600');
  assert.match(answer.headers.get('ratelimit') ?? '', /^"default";r=0;t=\d+$/);
}

// By the hour: no machine is so slow that a limit is over before it was passed.
withSettings({ HOLDFAST_RATE_LIMIT: '5/hour' }, (service) => {
  test('each key has its own limit and is told what is left, and a refused request does nothing', async () => {
    const [key, other] = [await service().makeKey({ newWorkspace: true }), await service().makeKey()];
    for (const left of [4, 3, 2, 1, 0]) {
      const { status, headers } = await service().call('GET', vaults, { key });
      assert.equal(status, 200);
      assert.equal(headers.get('ratelimit-policy'), '"default";q=5;w=3600');
      assert.match(headers.get('ratelimit') ?? '', new RegExp(`^"default";r=${left};t=[1-9]\\d*$`));
      assert.equal(headers.get('retry-after'), null);
    }
    assertLimited(await service().call('GET', vaults, { key }));
    assertLimited(await service().call('POST', vaults, { key, body: { name: 'Refused' } }));
    const { status, text } = await service().call('GET', vaults, { key: other });
    assert.equal(status, 200);
    assert.ok(!text.includes('Refused'));
    assert.equal((await service().call('GET', '/healthz')).status, 200, 'what needs no key is not limited');
  });

  test('requests that fail count too', async () => {
    const key = await service().makeKey({ scopes: ['vaults:read'] });
    for (let turn = 0; turn < 4; turn += 1) {
      assertError(await service().call('POST', vaults, { key, body: {} }), 'forbidden');
    }
    assertError(await service().call('GET', `${vaults}/0x1`, { key }), 'invalid_address');
    assertLimited(await service().call('GET', vaults, { key }));
  });

  test('limits requests without a valid key by address, while valid keys continue', async () => {
    for (const key of [null, 'x', newApiKey(), newApiKey(), newApiKey()]) {
      assertError(await service().call('GET', vaults, { key }), 'unauthorized');
    }
    // Nobody can say to be somebody else when no proxy is trusted.
    const forged = { 'x-forwarded-for': '203.0.113.9' };
    assertLimited(await service().call('GET', vaults, { key: newApiKey(), headers: forged }));
    assert.equal((await service().call('GET', vaults, { key: await service().makeKey() })).status, 200);
  });

  test('shows metrics on this machine only, and not through a proxy', async () => {
    await service().call('GET', vaults, { key: await service().makeKey() });
    const here = await service().call('GET', '/metrics', { key: null });
    assert.equal(here.status, 200);
    assert.match(here.headers.get('content-type') ?? '', /^text\/plain/);
    assert.match(
      here.text,
      /holdfast_http_request_duration_seconds_count\{[^}]*route="\/api-v1\/platform\/vaults"/,
    );
    for (const headers of passedOn) {
      assertError(await service().call('GET', '/metrics', { headers }), 'unauthorized');
      const token = { ...headers, authorization: 'Bearer null' };
      assertError(await service().call('GET', '/metrics', { headers: token }), 'unauthorized');
    }
  });
});

withSettings(
  { HOLDFAST_RATE_LIMIT: '5/hour', HOLDFAST_TRUST_PROXY: '1', HOLDFAST_METRICS_TOKEN: 'figures-please' },
  (service) => {
    test('limits requests for missing files by address, but not for existing ones', async () => {
      const ask = (path: string) =>
        service().call('GET', path, { key: null, headers: { 'x-forwarded-for': '203.0.113.44' } });
      const missing = ['/static/a.js', '/static/b', '/verify/assets/a.js', '/nothing', '/static/c.css'];
      for (const path of missing) assertError(await ask(path), 'resource_not_found');
      for (const path of missing) assertLimited(await ask(path));
      const page = await fetch(`${service().url}/sign-in`);
      const [, script = ''] = /src="(\/static\/[^"]+\.js)"/.exec(await page.text()) ?? [];
      const headers = { 'x-forwarded-for': '203.0.113.44' };
      assert.equal((await fetch(service().url + script, { headers })).status, 200);
    });

    test('uses the address that the proxy names, and trusts nothing before it', async () => {
      const from = (forwarded: string) =>
        service().call('GET', vaults, { key: newApiKey(), headers: { 'x-forwarded-for': forwarded } });
      for (let turn = 0; turn < 5; turn += 1) {
        assertError(await from(`198.51.100.${turn}, 203.0.113.1`), 'unauthorized');
      }
      assertLimited(await from('203.0.113.1'));
      assertError(await from('203.0.113.2'), 'unauthorized');
    });

    test('the token shows metrics to others, and no other token does', async () => {
      for (const headers of passedOn) {
        const ask = (authorization: string) =>
          service().call('GET', '/metrics', { key: null, headers: { ...headers, authorization } });
        assert.equal((await ask('Bearer figures-please')).status, 200);
        for (const wrong of [
          '',
          'Bearer',
          'Bearer figures',
          'Basic figures-please',
          'Bearer figures-pleasE',
        ]) {
          assertError(await ask(wrong), 'unauthorized');
        }
      }
      assert.equal((await service().call('GET', '/metrics', { key: null })).status, 200);
    });
  },
);

for (const [proxies, believed] of [
  ['127.0.0.0/8', true],
  ['10.0.0.0/8,192.0.2.1', false],
] as const) {
  withSettings({ HOLDFAST_RATE_LIMIT: '1/hour', HOLDFAST_TRUST_PROXY: proxies }, (service) => {
    test(`${believed ? 'trusts' : 'does not trust'} a proxy at 127.0.0.1`, async () => {
      const from = async (address: string) =>
        (await service().call('GET', vaults, { key: null, headers: { 'x-forwarded-for': address } })).status;
      assert.equal(await from('203.0.113.1'), 401);
      assert.equal(await from('203.0.113.2'), believed ? 401 : 429);
    });
  });
}

withSettings(
  { HOLDFAST_RATE_LIMIT: 'off', HOLDFAST_PUBLIC_URL: 'https://evidence.example.org/base/' },
  (service) => {
    test('there are no limits and no rate limit headers', async () => {
      const answers = await Promise.all(Array.from({ length: 60 }, () => service().call('GET', vaults)));
      for (const { status, headers } of answers) {
        assert.equal(status, 200);
        assert.equal(headers.get('ratelimit'), null);
        assert.equal(headers.get('ratelimit-policy'), null);
      }
    });

    test('uses the public address in every link that the service prints', async () => {
      const base = 'https://evidence.example.org/base';
      for (const path of ['/nothing', `${vaults}/0x1`, '/%ff']) {
        const { json } = await service().call('GET', path);
        assert.equal(json.docUrl, `${base}/docs/errors#${json.errorCode}`);
      }
      const problem = await service().call('GET', '/nothing', {
        headers: { accept: 'application/problem+json' },
      });
      assert.equal(problem.json.type, `${base}/docs/errors#resource_not_found`);
      const { json: document } = await service().call('GET', '/openapi.json');
      assert.deepEqual(document.servers, [{ url: base }]);
    });

    test('sends no HSTS without its own TLS', async () => {
      assert.equal((await service().call('GET', vaults)).headers.get('strict-transport-security'), null);
    });
  },
);

test('speaks HTTPS with its own certificate, and sends HSTS', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-tls-'));
  const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  const { cert: ca, key } = makeSelfSigned('localhost', { hosts: ['127.0.0.1'] });
  await writeFile(certFile, ca);
  await writeFile(keyFile, key);
  const env = { ...masterKey, HOLDFAST_TLS_CERT_FILE: certFile, HOLDFAST_TLS_KEY_FILE: keyFile };
  const service = await startService({ env, databaseUrl: database.url, runLoops: false });
  try {
    assert.match(service.url, /^https:/);
    const secure = (path: string) => getSecurely(service, path, ca);
    const list = await secure(vaults);
    assert.equal(list.status, 200);
    const missing = await secure('/nothing');
    assertError(missing, 'resource_not_found');
    assert.ok(missing.json.docUrl.startsWith(`${service.url}/docs/errors#`));
    assert.equal((await secure(missing.json.docUrl.slice(service.url.length))).status, 200);
    for (const { headers } of [list, missing, await secure('/%ff')]) {
      assert.match(headers.get('strict-transport-security') ?? '', /^max-age=\d{8,}/);
    }
    const port = Number(new URL(service.url).port);
    for (const [offered, agreed] of [
      [{ maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' }, null],
      [{ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA' }, null],
      [{ maxVersion: 'TLSv1.2', ciphers: 'DEFAULT' }, 'ECDHE-ECDSA-AES256-GCM-SHA384'],
    ] as const) {
      assert.equal(await cipherOf({ port, ca, ...offered }), agreed, JSON.stringify(offered));
    }
    const socket = connectSecurely({ port, ca });
    await once(socket, 'secureConnect');
    await assertClosedWithin(generalCutMs, service, socket);
  } finally {
    await service.close();
    await rm(directory, { recursive: true });
  }
});

/** Null where they do not agree on any. */
function cipherOf(options: ConnectionOptions): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connectSecurely(options, () => {
      resolve(socket.getCipher().name);
      socket.destroy();
    });
    socket.on('error', () => resolve(null));
  });
}

function getSecurely(service: Service, path: string, ca: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.url);
    const headers = { 'x-api-key': service.key };
    get({ hostname, port, path, ca, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => {
        const headers = new Headers(response.headers as Record<string, string>);
        const json = /json/.test(headers.get('content-type') ?? '') ? JSON.parse(text) : null;
        resolve({ status: response.statusCode ?? 0, headers, text, json });
      });
    }).on('error', reject);
  });
}

describe('the stop of the service', { concurrency: true }, () => {
  test('is not delayed by an idle connection on which nothing was sent', async (t) => {
    const { service, socket } = await connected(t);
    await assertClosedWithin(generalCutMs, service, socket);
  });

  test('is not delayed for long by a half-sent request', async (t) => {
    const { service, socket } = await connected(t);
    socket.write('POST /api-v1/platform/vaults HTTP/1.1\r\nhost: x\r\n');
    await waitUntil(() => socket.bytesWritten > 0);
    // Well before the minute after which the HTTP parser gives up by itself.
    await assertClosedWithin(3 * generalCutMs, service, socket);
  });

  test('completes an answer that the client has not read yet', async (t) => {
    const { service } = await connected(t);
    const [count, bytes] = [650, 10_000];
    await withClient({ connectionString: database.url }, async (client) => {
      await client.query(
        `insert into events (workspace_id, id, type, envelope)
         select w.id, 'evt_' || lpad(n::text, 26, '0'), 'vault.deactivated', json_build_object('n', repeat('x', $2))::text
         from workspaces w, generate_series(1, $1::integer) as n where w.slug = 'default'`,
        [count, bytes],
      );
      await client.query(placeAll);
    });
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { 'x-api-key': service.key };
      const url = `${service.url}/api-v1/platform/events?limit=${count}`;
      getPlainly(url, { agent: false, headers }, resolve).on('error', reject);
    });
    const { server } = service.app.server.http;
    const closed = service.close();
    await waitUntil(() => !server.listening);
    let text = '';
    for await (const chunk of answer.setEncoding('utf8')) text += chunk;
    assert.ok(answer.complete);
    assert.equal(JSON.parse(text).length, count);
    await closed;
  });

  async function connected(t: TestContext): Promise<{ service: Service; socket: Socket }> {
    const service = await startService({ env: masterKey, databaseUrl: database.url, runLoops: false });
    t.after(service.close);
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    t.after(() => socket.destroy());
    socket.on('error', () => {});
    await once(socket, 'connect');
    return { service, socket };
  }
});

/** Every connection that is still open is cut 5.2 s after the stop began. */
const generalCutMs = 5_000;

/** By a timer in the event loop of the service: on a busy machine both are late. */
async function assertClosedWithin(ms: number, service: Service, socket: Socket): Promise<void> {
  const timer = new AbortController();
  const late = setTimeout(ms, 'late', { signal: timer.signal }).catch(() => 'closed');
  const closed = once(socket, 'close').then(() => 'closed');
  const stopped = service.close();
  assert.equal(await Promise.race([closed, late]), 'closed');
  timer.abort();
  await stopped;
}
