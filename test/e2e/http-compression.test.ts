/** Which answers are compressed, and how: by what the client accepts, and never with a secret in them. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { Type } from 'typebox';
import { chooseEncoding, compressAnswers, namesSecret } from '../../src/http/bodies/compression.ts';
import { sendForm } from '../support/clients/upload.ts';
import { someTarget, webhookSettings } from '../support/openapi/openapi-operations.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const platform = '/api-v1/platform';
const vaults = `${platform}/vaults`;

let service: Service;

before(async () => {
  service = await startService({ env: webhookSettings, runLoops: false });
  await Promise.all(
    Array.from({ length: 20 }, (_, place) =>
      service.call('POST', vaults, { body: { name: `Vault ${place}`, description: 'x'.repeat(200) } }),
    ),
  );
});
after(() => service.close());

test('uses the encoding that the client prefers', () => {
  for (const [accepted, chosen] of [
    [undefined, null],
    ['', null],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['GZIP;Q=0.5', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *;q=0.1', 'gzip'],
    ['gzip;q=0, br;q=0', null],
    ['identity', null],
    ['identity;q=1, gzip;q=0.5', null],
    ['identity;q=0.5, gzip', 'gzip'],
    ['gzip;q=1.5', null],
    ['deflate', null],
  ] as const)
    assert.equal(chooseEncoding(accepted), chosen, accepted);
});

test('compresses JSON and pages over a kilobyte on request, and HEAD says the same', async () => {
  for (const path of [vaults, '/openapi.json', '/docs', '/docs/errors', '/verify', '/metrics']) {
    const plain = await raw('GET', path);
    assert.equal(plain.headers['content-encoding'], undefined, path);
    for (const [encoding, decompress] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const packed = await raw('GET', path, { 'accept-encoding': encoding });
      assert.equal(packed.headers['content-encoding'], encoding, path);
      assert.equal(Number(packed.headers['content-length']), packed.body.length);
      assert.ok(packed.body.length < plain.body.length / 2, path);
      if (path !== '/metrics') assert.deepEqual(decompress(packed.body), plain.body, path);
      const head = await raw('HEAD', path, { 'accept-encoding': encoding });
      assert.equal(head.headers['content-encoding'], encoding, path);
      if (path !== '/metrics')
        assert.equal(head.headers['content-length'], packed.headers['content-length'], path);
      assert.equal(head.body.length, 0);
    }
    for (const { headers } of [plain, await raw('GET', path, { 'accept-encoding': 'gzip' })])
      assert.equal(headers.vary, 'accept-encoding', path);
  }
  const small = await raw('GET', '/healthz', { 'accept-encoding': 'gzip' });
  assert.deepEqual([small.headers['content-encoding'], small.headers.vary], [undefined, undefined]);
});

test('compresses the scripts of the dashboard, which clients cache forever', async () => {
  const page = await raw('GET', '/sign-in');
  const [, script = ''] = /src="(\/static\/[^"]+\.js)"/.exec(String(page.body)) ?? [];
  const plain = await raw('GET', script);
  const packed = await raw('GET', script, { 'accept-encoding': 'br' });
  assert.deepEqual(brotliDecompressSync(packed.body), plain.body);
  assert.ok(packed.body.length < plain.body.length / 2);
  assert.match(packed.headers['cache-control'] ?? '', /immutable/);
  assert.deepEqual((await raw('GET', script, { 'accept-encoding': 'br' })).body, packed.body);
});

test('compresses only so many static files at a time, and sends the others uncompressed', {
  skip: process.platform === 'win32' && 'needs named pipes',
}, async (t) => {
  const app = Fastify();
  compressAnswers(app);
  const files = Array.from({ length: 6 }, (_, n) => Buffer.from(`${n}`.repeat(5_000)));
  app.get<{ Params: { n: number } }>('/files/:n', { config: { sameBytes: true } }, async (request, reply) =>
    reply.type('text/plain').send(files[request.params.n]),
  );
  const ask = (n: number) =>
    app.inject({ method: 'GET', url: `/files/${n}`, headers: { 'accept-encoding': 'br' } });
  await app.ready();
  const letGo = await holdThreadPool(t);
  const packed: boolean[] = [];
  const answers = files.map(async (_, n) => {
    const { headers } = await ask(n);
    packed.push(headers['content-encoding'] === 'br');
  });
  try {
    await waitUntil(() => packed.length === 2 || null);
  } finally {
    letGo();
  }
  await Promise.all(answers);
  assert.deepEqual(packed, [false, false, true, true, true, true]);
  // Who was sent away has not spoilt it for the next.
  for (const [n] of files.entries()) assert.equal((await ask(n)).headers['content-encoding'], 'br');
  await app.close();
});

/** Every thread waits for a pipe to be opened at its other end, so that nothing is compressed until it is let go. */
async function holdThreadPool(t: TestContext): Promise<() => void> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-pipes-'));
  const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);
  const pipes = Array.from({ length: threads }, (_, n) => join(folder, `pipe-${n}`));
  execFileSync('mkfifo', pipes);
  const opened = pipes.map((pipe) => open(pipe, 'r'));
  const ends: number[] = [];
  t.after(async () => {
    for (const file of await Promise.all(opened)) await file.close();
    for (const end of ends) closeSync(end);
    await rm(folder, { recursive: true });
  });
  return () => {
    for (const pipe of pipes) ends.push(openSync(pipe, 'r+'));
  };
}

test('sends stored bytes and their ranges uncompressed', async () => {
  const { json: vault } = await service.call('POST', vaults, { body: { name: 'Files' } });
  const text = 'all work and no play '.repeat(500);
  const { json: file } = await sendForm(service, `${platform}/files`, {
    parts: [
      ['vaultAddress', vault.address],
      ['file', new File([text], 'a.txt', { type: 'text/plain' })],
    ],
  });
  const path = `${platform}/files/${file.id}/content`;
  const whole = await raw('GET', path, { 'accept-encoding': 'gzip, br' });
  assert.deepEqual([whole.headers['content-encoding'], String(whole.body)], [undefined, text]);
  const part = await raw('GET', path, { 'accept-encoding': 'gzip', range: 'bytes=5-2000' });
  assert.deepEqual([part.status, String(part.body)], [206, text.slice(5, 2001)]);
  const etag = whole.headers.etag ?? '';
  assert.match(etag, /^"/);
  assert.equal((await raw('GET', path, { 'accept-encoding': 'gzip', 'if-none-match': etag })).status, 304);
});

test('never compresses an answer with a secret, on any route', async () => {
  const made = await raw(
    'POST',
    `${platform}/webhooks/endpoints`,
    { 'accept-encoding': 'gzip', 'content-type': 'application/json' },
    JSON.stringify({ url: `${someTarget}?${'x'.repeat(1200)}`, eventTypes: ['vault.deactivated'] }),
  );
  assert.equal(made.status, 201, String(made.body));
  assert.ok(made.body.length > 1024);
  assert.match(JSON.parse(String(made.body)).secret, /^whsec_/);
  assert.equal(made.headers['content-encoding'], undefined);

  const document = service.app.server.http.swagger() as unknown as {
    paths: Record<string, Record<string, { responses?: Record<string, unknown> }>>;
  };
  const found = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { responses = {} }]) => namesSecret(responses))
      .map(([method]) => `${method} ${path}`),
  );
  // A field by another name would be missing here.
  assert.deepEqual(found.sort(), [
    'get /api-v1/platform/webhooks/endpoints/{endpointId}/secret',
    'post /api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/signoffs/requests/',
    'post /api-v1/damc/assets/{assetId}/published-pages/',
    'post /api-v1/damc/workers/{address}/invite',
    'post /api-v1/damc/workers/{address}/passkeys/{passkeyId}/link',
    'post /api-v1/platform/api-keys',
    'post /api-v1/platform/approvals/{approvalId}/collect',
    'post /api-v1/platform/invitations',
    'post /api-v1/platform/webhooks/endpoints',
    'post /api-v1/platform/webhooks/endpoints/{endpointId}/portal-links',
    'post /api-v1/platform/webhooks/endpoints/{endpointId}/rotate-secret',
    'post /api-v1/platform/webhooks/portal/rotate-secret',
    'post /api-v1/platform/webhooks/portal/secret',
  ]);
});

test('compresses a new route only if its schema shows that it has no secret', async () => {
  const app = Fastify();
  compressAnswers(app);
  const long = 'x'.repeat(5_000);
  const text = (name: string) => ({ 200: Type.Object({ [name]: Type.String() }) });
  app.post('/described', { schema: { response: text('name') } }, async () => ({ name: long }));
  app.post('/secret', { schema: { response: text('accessToken') } }, async () => ({ accessToken: long }));
  app.post('/undescribed', async () => ({ name: long }));
  app.get('/json', async () => ({ name: long }));
  app.get('/page', async (_request, reply) => reply.type('text/html').send(long));
  app.get('/marked', { config: { secretAnswer: true } }, async (_request, reply) =>
    reply.type('text/html').send(long),
  );
  app.get('/tagged', async (_request, reply) => reply.header('etag', '"1"').type('text/html').send(long));
  const packed: string[] = [];
  for (const url of ['/described', '/secret', '/undescribed', '/json', '/page', '/marked', '/tagged']) {
    const method = ['/json', '/page', '/marked', '/tagged'].includes(url) ? 'GET' : 'POST';
    const answer = await app.inject({ method, url, headers: { 'accept-encoding': 'gzip' } });
    assert.equal(answer.statusCode, 200, url);
    if (answer.headers['content-encoding'] !== undefined) packed.push(url);
  }
  assert.deepEqual(packed, ['/described', '/page']);
  await app.close();
});

test('the reference is one small page, which clients cache until it changes', async () => {
  const page = await raw('GET', '/docs/api', { 'accept-encoding': 'br' });
  const html = String(brotliDecompressSync(page.body));
  assert.ok(page.body.length < 100_000, `${page.body.length} bytes`);
  assert.match(html, /<html lang="en">/);
  assert.doesNotMatch(html, /<(script|link|img)[^>]+(src|href)="(?!\/favicon)/, 'nothing else is fetched');
  for (const path of ['/api-v1/damc/workers/', '/api-v1/platform/vaults/{vaultAddress}/transactions'])
    assert.ok(html.includes(path), path);
  const { etag = '' } = page.headers;
  assert.match(etag, /^W\//);
  const again = await raw('GET', '/docs/api', { 'if-none-match': etag });
  assert.deepEqual([again.status, again.body.length], [304, 0]);
  assert.equal((await raw('GET', '/docs/api/js/scalar.js')).status, 404);
});

interface RawAnswer {
  status: number;
  headers: Record<string, string | undefined>;
  body: Buffer;
}

/** The bytes as they come, not unpacked. */
function raw(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(service.url + path, {
      method,
      headers: { 'x-api-key': service.key, ...headers },
    });
    sent.on('response', async (response) => {
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece);
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers as RawAnswer['headers'],
        body: Buffer.concat(pieces),
      });
    });
    sent.on('error', reject).end(body);
  });
}
