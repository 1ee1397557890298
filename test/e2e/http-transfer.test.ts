/** How answers travel: compressed or not, over HTTP/1 and HTTP/2, and to clients that are refused while they still send. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { Type } from 'typebox';
import { chooseEncoding, compressAnswers, namesSecret } from '../../src/http/bodies/compression.ts';
import { mostStreams } from '../../src/http/server/http2.ts';
import { sendForm } from '../support/clients/upload.ts';
import { someTarget, webhookSettings } from '../support/openapi/openapi-operations.ts';
import { createTestDatabase, type TestDatabase } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const platform = '/api-v1/platform';
const vaults = `${platform}/vaults`;
const masterKey = randomBytes(32).toString('hex');

let database: TestDatabase;
let service: Service;
let dir: string;

before(async () => {
  database = await createTestDatabase();
  dir = await mkdtemp(join(tmpdir(), 'holdfast-transfer-'));
  service = await startService({
    env: { ...webhookSettings, HOLDFAST_MASTER_KEY: masterKey },
    databaseUrl: database.url,
    runLoops: false,
  });
  await Promise.all(
    Array.from({ length: 20 }, (_, place) =>
      service.call('POST', vaults, { body: { name: `Vault ${place}`, description: 'x'.repeat(200) } }),
    ),
  );
});
after(async () => {
  await service.close();
  await database.drop();
  await rm(dir, { recursive: true });
});

test('the encoding is the one that the client likes best', () => {
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

test('JSON and pages over a kilobyte are compressed for those who ask, and HEAD says the same', async () => {
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

test('scripts of the dashboard are compressed and kept by clients for good', async () => {
  const page = await raw('GET', '/sign-in');
  const [, script = ''] = /src="(\/static\/[^"]+\.js)"/.exec(String(page.body)) ?? [];
  const plain = await raw('GET', script);
  const packed = await raw('GET', script, { 'accept-encoding': 'br' });
  assert.deepEqual(brotliDecompressSync(packed.body), plain.body);
  assert.ok(packed.body.length < plain.body.length / 2);
  assert.match(packed.headers['cache-control'] ?? '', /immutable/);
  assert.deepEqual((await raw('GET', script, { 'accept-encoding': 'br' })).body, packed.body);
});

test('of files that are compressed once, too, only so many are at a time; the others travel as they are', {
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

test('stored bytes and their ranges travel as they are', async () => {
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

test('no answer with a secret is compressed, whatever route gives it', async () => {
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
    'post /api-v1/platform/api-keys',
    'post /api-v1/platform/invitations',
    'post /api-v1/platform/webhooks/endpoints',
    'post /api-v1/platform/webhooks/endpoints/{endpointId}/rotate-secret',
  ]);
});

test('a new route is compressed only if its schema shows that there is no secret in it', async () => {
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

test('the reference is one small page, kept by clients until it changes', async () => {
  const page = await raw('GET', '/docs', { 'accept-encoding': 'br' });
  const html = String(brotliDecompressSync(page.body));
  assert.ok(page.body.length < 100_000, `${page.body.length} bytes`);
  assert.match(html, /<html lang="en">/);
  assert.doesNotMatch(html, /<(script|link|img)[^>]+(src|href)="(?!\/favicon)/, 'nothing else is fetched');
  for (const path of ['/api-v1/damc/workers/', '/api-v1/platform/vaults/{vaultAddress}/transactions'])
    assert.ok(html.includes(path), path);
  const { etag = '' } = page.headers;
  assert.match(etag, /^W\//);
  const again = await raw('GET', '/docs', { 'if-none-match': etag });
  assert.deepEqual([again.status, again.body.length], [304, 0]);
  assert.equal((await raw('GET', '/docs/js/scalar.js')).status, 404);
});

test('a client that is refused while it sends gets to read why', async () => {
  const body = JSON.stringify({ name: 'x'.repeat(6 * 1024 * 1024) });
  const headers = { 'x-api-key': service.key, 'content-type': 'application/json' };
  for (let turn = 0; turn < 3; turn += 1) {
    const fetched = await fetch(service.url + vaults, { method: 'POST', headers, body });
    assert.equal(fetched.status, 413);
    assert.match(await fetched.text(), /payload_too_large/);
    // A connection of its own, which is closed with the answer.
    assert.equal(await postOnce(headers, body), 413);
  }
  const file = join(dir, 'large.json');
  await writeFile(file, body);
  for (const more of [[], ['-H', 'Connection: close'], ['-0'], ['-H', 'Expect:']]) {
    const said = await curl([
      ...['-H', `x-api-key: ${service.key}`, '-H', 'content-type: application/json'],
      ...['--data-binary', `@${file}`, ...more, service.url + vaults],
    ]);
    if (said !== null) assert.match(said, /payload_too_large[\s\S]*\n413$/, more.join(' '));
  }
});

test('whoever goes on sending after the answer is cut off', async () => {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  const fields = `Host: a\r\nx-api-key: ${service.key}\r\nContent-Type: application/json`;
  socket.write(`POST ${vaults} HTTP/1.1\r\n${fields}\r\nContent-Length: ${2 ** 40}\r\n\r\n`);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  await waitUntil(() => received.includes('payload_too_large'));
  const piece = Buffer.alloc(1024 * 1024);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  for (let sent = 0; !socket.destroyed; sent += 1) {
    assert.ok(sent < 200, 'two hundred megabytes were taken');
    if (!socket.write(piece))
      await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
  }
  await closed;
});

test('with TLS of its own the service speaks HTTP/2: requests, uploads, streams, refusals, and a stop in order', async () => {
  const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  const secure = await startService({
    env: { HOLDFAST_MASTER_KEY: masterKey, HOLDFAST_TLS_CERT_FILE: cert, HOLDFAST_TLS_KEY_FILE: key },
    databaseUrl: database.url,
    runLoops: false,
  });
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => warnings.push(message);
  process.on('warning', onWarning);
  const session = connectHttp2(secure.url, { ca: await readFile(cert) });
  session.on('error', () => {});
  try {
    await once(session, 'connect');
    await waitUntil(() => session.remoteSettings.maxConcurrentStreams === mostStreams);
    const auth = { 'x-api-key': secure.key };
    const list = await ask(session, { ':path': vaults, 'accept-encoding': 'br', ...auth });
    assert.equal(list.status, 200);
    assert.ok(JSON.parse(String(brotliDecompressSync(list.body))).length >= 20);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => ask(session, { ':path': `${vaults}?limit=1`, ...auth })),
    );
    assert.ok(answers.every(({ status }) => status === 200));

    const { json: vault } = await service.call('POST', vaults, { body: { name: 'Over HTTP/2' } });
    const bytes = randomBytes(3 * 1024 * 1024);
    const form = new Response(
      Object.entries({ vaultAddress: vault.address, file: new File([bytes], 'b.bin') }).reduce(
        (all, [name, value]) => {
          all.append(name, value);
          return all;
        },
        new FormData(),
      ),
    );
    const uploaded = await ask(
      session,
      {
        ':method': 'POST',
        ':path': `${platform}/files`,
        'content-type': form.headers.get('content-type') ?? '',
        ...auth,
      },
      Buffer.from(await form.arrayBuffer()),
    );
    assert.equal(uploaded.status, 202, String(uploaded.body));
    const { id } = JSON.parse(String(uploaded.body));
    const stored = await ask(session, { ':path': `${platform}/files/${id}/content`, ...auth });
    assert.ok(stored.body.equals(bytes));

    const refused = await ask(
      session,
      { ':method': 'POST', ':path': vaults, 'content-type': 'application/json', ...auth },
      Buffer.alloc(300_000, ' '),
    );
    assert.equal(refused.status, 413);
    assert.match(String(refused.body), /payload_too_large/);
    assert.equal(refused.headers.connection, undefined);

    const curled = await curl(['--http2', '-k', '-H', `x-api-key: ${secure.key}`, `${secure.url}/healthz`]);
    if (curled !== null) assert.match(curled, /"ok"[\s\S]*\n200$/);

    const events = session.request({ ':path': `${platform}/events/stream`, ...auth });
    const [head] = await once(events, 'response');
    assert.match(String(head['content-type']), /^text\/event-stream/);
    assert.equal(head['content-encoding'], undefined);
    const [first] = await once(events, 'data');
    assert.match(String(first), /the events follow/);
    events.resume();
    const ended = once(events, 'end');
    const closed = once(session, 'close');
    await secure.close();
    await ended;
    await closed;
    assert.equal(events.rstCode, constants.NGHTTP2_NO_ERROR, 'the stream ended in order');
    assert.deepEqual(warnings, []);
  } finally {
    process.off('warning', onWarning);
    session.destroy();
    await secure.close();
  }
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

function postOnce(headers: Record<string, string>, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(service.url + vaults, { method: 'POST', agent: false, headers });
    sent.on('response', (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject).end(body);
  });
}

async function ask(
  session: ClientHttp2Session,
  headers: Record<string, string>,
  body?: Buffer,
): Promise<RawAnswer> {
  const stream = session.request(headers, { endStream: body === undefined });
  const answered = once(stream, 'response');
  if (body) stream.end(body);
  const [head] = await answered;
  const pieces: Buffer[] = [];
  stream.on('data', (piece) => pieces.push(piece));
  await once(stream, 'end');
  return { status: Number(head[':status']), headers: head, body: Buffer.concat(pieces) };
}

/** What curl prints, and the status in the last line; null where there is no curl, or none with HTTP/2. */
function curl(args: string[]): Promise<string | null> {
  return new Promise((resolve, reject) => {
    execFile('curl', ['-sS', '-w', '\n%{http_code}', ...args], (error, stdout, stderr) => {
      if (error && (error.code as unknown) === 'ENOENT') return resolve(null);
      if (error && /libcurl (version )?doesn't support|does not support/i.test(stderr)) return resolve(null);
      if (error) return reject(new Error(`${error.message} ${stderr} ${stdout.slice(0, 200)}`));
      resolve(stdout);
    });
  });
}
