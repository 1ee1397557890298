/** Content of files over HTTP: whole and in parts, under a safe name, to slow clients, and when the store has damaged it. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const platform = '/api-v1/platform';

let service: Service;
let vaultAddress: string;
/** The service's side of what is connected to it. */
const connections = new Set<Socket>();

before(async () => {
  service = await startService({ runLoops: false });
  service.app.server.http.server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  const { json } = await service.call('POST', `${platform}/vaults`, { body: { name: 'Archive' } });
  vaultAddress = json.address;
});
after(() => service?.close());

interface Upload {
  name?: string;
  mediaType?: string;
  expirationDate?: string;
  to?: string;
}

async function upload(content: Uint8Array, { name = 'a.bin', mediaType, expirationDate, to }: Upload = {}) {
  const form = new FormData();
  if (to === undefined) form.set('vaultAddress', vaultAddress);
  form.set('name', name);
  if (expirationDate !== undefined) form.set('expirationDate', expirationDate);
  const blob = new Blob([content as Uint8Array<ArrayBuffer>], { type: mediaType ?? 'application/pdf' });
  form.set('file', blob, 'upload');
  const url = `${service.url}${platform}/files${to === undefined ? '' : `/${to}/versions`}`;
  const answer = await fetch(url, { method: 'POST', headers: { 'x-api-key': service.key }, body: form });
  assert.equal(answer.status, 202, await answer.clone().text());
  return ((await answer.json()) as { id: string }).id;
}

const urlOf = (id: string, query = '') => `${platform}/files/${id}/content${query}`;

async function download(id: string, headers: Record<string, string> = {}, method = 'GET') {
  const answer = await fetch(service.url + urlOf(id), {
    method,
    headers: { 'x-api-key': service.key, ...headers },
  });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

/** Where the store on disk has the newest object. */
function objectPath(): string {
  const { blobs } = service.config;
  assert.equal(blobs.kind, 'disk');
  const names = readdirSync(blobs.dir, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /blb_/.test(name),
  );
  return join(blobs.dir, names.sort((a, b) => idIn(a).localeCompare(idIn(b))).at(-1) ?? '');
}

const idIn = (name: string) => /blb_\w+/.exec(name)?.[0] ?? '';

test('returns content as it was sent, as an attachment with its hash', async () => {
  const content = randomBytes(300_000);
  const id = await upload(content, { name: 'Vertrag für Zoë.pdf' });
  const { status, headers, bytes } = await download(id);
  assert.equal(status, 200);
  assert.ok(bytes.equals(content));
  const digest = createHash('sha256').update(content);
  const hash = digest.copy().digest('hex');
  assert.deepEqual(
    Object.fromEntries(
      [
        'content-type',
        'content-length',
        'content-disposition',
        'etag',
        'accept-ranges',
        'repr-digest',
        'x-content-type-options',
        'content-security-policy',
        'cache-control',
        'content-range',
        'x-expired',
      ].map((name) => [name, headers.get(name)]),
    ),
    {
      'content-type': 'application/pdf',
      'content-length': '300000',
      'content-disposition': `attachment; filename="Vertrag f_r Zo_.pdf"; filename*=UTF-8''Vertrag%20f%C3%BCr%20Zo%C3%AB.pdf`,
      etag: `"${hash}"`,
      'accept-ranges': 'bytes',
      'repr-digest': `sha-256=:${digest.digest('base64')}:`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'cache-control': 'no-store',
      'content-range': null,
      'x-expired': null,
    },
  );
});

test('HEAD gives the headers of GET, without the content', async () => {
  const id = await upload(randomBytes(200_000));
  const [get, head] = [await download(id), await download(id, { range: 'bytes=0-1' }, 'HEAD')];
  assert.equal(head.status, 200);
  assert.equal(head.bytes.length, 0);
  for (const name of ['content-type', 'content-length', 'content-disposition', 'etag', 'accept-ranges']) {
    assert.equal(head.headers.get(name), get.headers.get(name), name);
  }
});

test('returns any range of the content', async () => {
  const content = randomBytes(500_000);
  const id = await upload(content);
  for (const [range, start, end] of [
    ['bytes=0-0', 0, 1],
    ['bytes=131071-131073', 131_071, 131_074],
    ['bytes=100-400000', 100, 400_001],
    ['bytes=499999-', 499_999, 500_000],
    ['bytes=-300000', 200_000, 500_000],
    ['bytes=0-9999999', 0, 500_000],
  ] as const) {
    const { status, headers, bytes } = await download(id, { range });
    assert.equal(status, 206, range);
    assert.equal(headers.get('content-range'), `bytes ${start}-${end - 1}/500000`);
    assert.equal(headers.get('content-length'), String(end - start));
    assert.ok(bytes.equals(content.subarray(start, end)), range);
  }
  const whole = await download(id, { range: 'bytes=0-1,5-6' });
  assert.equal(whole.status, 200);
  assert.ok(whole.bytes.equals(content));
});

test('refuses a range beyond the content, and states its size', async () => {
  const id = await upload(Buffer.from('short'));
  const answer = await service.call('GET', urlOf(id), { headers: { range: 'bytes=5-' } });
  assertError(answer, 'range_not_satisfiable', /5 bytes/);
  assert.equal(answer.headers.get('content-range'), 'bytes */5');
});

test('If-Range resumes only the same content, and If-None-Match saves the transfer', async () => {
  const id = await upload(Buffer.from('first version'));
  const { headers } = await download(id);
  const etag = headers.get('etag') ?? '';
  assert.equal((await download(id, { range: 'bytes=6-', 'if-range': etag })).bytes.toString(), 'version');
  const same = await download(id, { 'if-none-match': etag });
  assert.deepEqual([same.status, same.bytes.length], [304, 0]);
  await upload(Buffer.from('second one'), { to: id });
  const changed = await download(id, { range: 'bytes=6-', 'if-range': etag, 'if-none-match': etag });
  assert.deepEqual([changed.status, changed.bytes.toString()], [200, 'second one']);
  const old = await service.call('GET', urlOf(id, '?version=1'));
  assert.deepEqual([old.status, old.text], [200, 'first version']);
});

test('serves an empty file as such', async () => {
  const id = await upload(Buffer.alloc(0));
  const { status, headers, bytes } = await download(id);
  assert.deepEqual([status, headers.get('content-length'), bytes.length], [200, '0', 0]);
});

test('serves a malicious page or name only as an attachment', async () => {
  const html = '<script>alert(1)</script>';
  const id = await upload(Buffer.from(html), { name: 'a"; x.html', mediaType: 'text/html' });
  const { headers } = await download(id);
  assert.equal(headers.get('content-type'), 'text/html');
  assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="[\w. -]+"/);
  assert.match(headers.get('content-security-policy') ?? '', /sandbox/);
});

test('missing content is 404, with the reason', async () => {
  const contentHash = `0x${'ab'.repeat(32)}`;
  const body = { vaultAddress, name: 'hash only', contentHash };
  const hashOnly = (await service.call('POST', `${platform}/files`, { body })).json.id;
  assertError(await service.call('GET', urlOf(hashOnly)), 'resource_not_found', /only its hash/);
  const id = await upload(randomBytes(10));
  assertError(await service.call('GET', urlOf(id, '?version=2')), 'resource_not_found', /no version 2/);
  assertError(await service.call('GET', urlOf('fil_none')), 'resource_not_found', /no file fil_none/);
  assertError(await service.call('GET', urlOf(id, '?version=0')), 'invalid_request', /version/);
  assertError(await service.call('GET', urlOf(id, '?v=1')), 'invalid_request', /"v"/);
  const key = await service.makeKey({ newWorkspace: true });
  assertError(await service.call('GET', urlOf(id), { key }), 'resource_not_found');
  const blind = await service.makeKey({ scopes: ['records:read'] });
  assertError(await service.call('GET', urlOf(id), { key: blind }), 'forbidden');
  assert.equal((await service.call('DELETE', urlOf(id))).status, 204);
  assertError(await service.call('GET', urlOf(id)), 'resource_not_found', /erased/);
});

test('still serves an expired file, and marks it', async () => {
  const id = await upload(randomBytes(10), { expirationDate: '2099-01-31T00:00:00Z' });
  assert.equal((await download(id)).headers.get('x-expired'), null);
  await withClient({ connectionString: service.databaseUrl }, (client) =>
    client.query(
      "update file_versions set expiration_date = '2020-01-31T00:00:00Z', expires_at = '2020-01-31T00:00:00Z' where file_id = $1",
      [id],
    ),
  );
  const { status, headers } = await download(id);
  assert.deepEqual([status, headers.get('x-expired')], [200, '2020-01-31T00:00:00Z']);
});

test('breaks off content that is damaged in the store, and logs it', async () => {
  const id = await upload(randomBytes(1_000_000));
  const path = objectPath();
  const damage = (at: number) => {
    const stored = readFileSync(path);
    stored[at] = (stored[at] ?? 0) ^ 1;
    writeFileSync(path, stored);
  };
  damage(700_000);
  await assert.rejects(download(id));
  await waitUntil(() => service.logged().includes('could not send all of the content'));
  // A part that does not touch it is as good as ever.
  assert.equal((await download(id, { range: 'bytes=0-99999' })).bytes.length, 100_000);
  damage(10);
  assertError(await service.call('GET', urlOf(id)), 'internal_error');
});

test('waits for a client that does not read, and releases everything when one disconnects', async () => {
  const content = randomBytes(32 * 1024 * 1024);
  const id = await upload(content);
  const path = objectPath();
  const isRead = () =>
    readdirSync('/proc/self/fd').some((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === path;
      } catch {
        return false;
      }
    });
  const client = await ask(id);
  const [connection] = [...connections].filter(({ remotePort }) => remotePort === client.localPort);
  assert.ok(connection);
  let last = -1;
  const sent = await waitUntil(async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const now = connection.bytesWritten;
    const stands = now > 0 && now === last;
    last = now;
    return stands ? now : null;
  });
  assert.ok(sent < content.length / 2, `${sent} bytes were sent to a client that reads none`);
  assert.ok(connection.writableLength < 1024 * 1024);
  assert.ok(isRead());
  client.destroy();
  await waitUntil(() => !isRead());

  assert.ok((await download(id)).bytes.equals(content));
});

/** Sends the request and takes nothing of the answer. */
async function ask(id: string): Promise<Socket> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(`GET ${urlOf(id)} HTTP/1.1\r\nhost: x\r\nx-api-key: ${service.key}\r\n\r\n`);
  await waitUntil(() => [...connections].some(({ remotePort }) => remotePort === socket.localPort));
  return socket;
}
