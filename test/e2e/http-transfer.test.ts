/** How requests and answers travel over HTTP/1 and HTTP/2, also to clients that are refused while they still send. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { mostStreams } from '../../src/http/server/http2.ts';
import { makeSelfSigned } from '../support/clients/self-signed.ts';
import { needs, pathOf } from '../support/programs/needs.ts';
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
    env: { HOLDFAST_MASTER_KEY: masterKey },
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

test('a client that is refused while it sends can read why', async () => {
  const body = JSON.stringify({ name: 'x'.repeat(6 * 1024 * 1024) });
  const headers = { 'x-api-key': service.key, 'content-type': 'application/json' };
  for (let turn = 0; turn < 3; turn += 1) {
    const fetched = await fetch(service.url + vaults, { method: 'POST', headers, body });
    assert.equal(fetched.status, 413);
    assert.match(await fetched.text(), /payload_too_large/);
    // A connection of its own, which is closed with the answer.
    assert.equal(await postOnce(headers, body), 413);
  }
});

test('cuts off a client that keeps sending after the answer', async () => {
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

test('speaks HTTP/2 with its own TLS: requests, uploads, streams, refusals and an orderly stop', async () => {
  const { secure, ca } = await startSecureService();
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => warnings.push(message);
  process.on('warning', onWarning);
  const session = connectHttp2(secure.url, { ca });
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

const withCurl = needs('curl');

withCurl.test('curl can read why it is refused while it sends', async () => {
  const file = join(dir, 'large.json');
  await writeFile(file, JSON.stringify({ name: 'x'.repeat(6 * 1024 * 1024) }));
  for (const more of [[], ['-H', 'Connection: close'], ['-0'], ['-H', 'Expect:']]) {
    const said = await curl([
      ...['-H', `x-api-key: ${service.key}`, '-H', 'content-type: application/json'],
      ...['--data-binary', `@${file}`, ...more, service.url + vaults],
    ]);
    assert.match(said, /payload_too_large[\s\S]*\n413$/, more.join(' '));
  }
});

withCurl.test('curl speaks HTTP/2 with the own TLS', async (t) => {
  const { secure } = await startSecureService();
  t.after(() => secure.close());
  const told = ['-w', ' %{http_version}\n%{http_code}'];
  const said = await curl([
    '--http2',
    '-k',
    '-H',
    `x-api-key: ${secure.key}`,
    `${secure.url}/healthz`,
    ...told,
  ]);
  assert.match(said, /"ok"[\s\S]* 2\n200$/);
});

/** The service on the same database, with a certificate of its own. */
async function startSecureService(): Promise<{ secure: Service; ca: string }> {
  const [certFile, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
  const { cert, key } = makeSelfSigned('localhost', { hosts: ['127.0.0.1'] });
  await writeFile(certFile, cert);
  await writeFile(keyFile, key);
  const secure = await startService({
    env: {
      HOLDFAST_MASTER_KEY: masterKey,
      HOLDFAST_TLS_CERT_FILE: certFile,
      HOLDFAST_TLS_KEY_FILE: keyFile,
    },
    databaseUrl: database.url,
    runLoops: false,
  });
  return { secure, ca: cert };
}

/** What curl prints, and the status in the last line. */
function curl(args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(pathOf('curl'), ['-sS', '-w', '\n%{http_code}', ...args], (error, stdout, stderr) => {
      if (error) return reject(new Error(`${error.message} ${stderr} ${stdout.slice(0, 200)}`));
      resolve(stdout);
    });
  });
}
