/** Forms with a file over HTTP: read in a stream, refused with nothing kept, repeated by key, and cut off midway. */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { markerName } from '../../src/blobs/object-names.ts';
import { type FormParts, openUpload, sendForm } from '../support/clients/upload.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const url = '/api-v1/platform/files';
const maxFileBytes = 1024 * 1024;

let service: Service;
let vaultAddress: string;

before(async () => {
  service = await startService({
    runLoops: false,
    env: { HOLDFAST_MAX_FILE_BYTES: String(maxFileBytes) },
  });
  vaultAddress = await newVault();
});
after(() => service.close());

async function newVault(): Promise<string> {
  return (await service.call('POST', '/api-v1/platform/vaults', { body: { name: 'Deeds' } })).json.address;
}

function fileOf(bytes: Buffer | string, name = 'deed.pdf', type = 'application/pdf'): File {
  return new File([bytes as never], name, { type });
}

/** The vault first, then what is given. */
function send(parts: FormParts['parts'], more: Omit<FormParts, 'parts'> = {}) {
  return sendForm(service, url, { parts: [['vaultAddress', vaultAddress], ...parts], ...more });
}

async function objects(): Promise<string[]> {
  assert.equal(service.config.blobs.kind, 'disk');
  const found = await readdir(service.config.dataDir, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile() && entry.parentPath.includes('blobs') && entry.name !== markerName)
    .map(({ name }) => name)
    .sort();
}

/** Everything that an upload could leave behind. */
async function left(): Promise<unknown> {
  const counts = await withClient({ connectionString: service.databaseUrl }, (client) =>
    client.query(`
      select (select count(*) from files)::int as files, (select count(*) from file_versions)::int as versions,
        (select count(*) from blobs)::int as blobs, (select count(*) from anchor_leaves)::int as leaves,
        (select count(*) from secrets where purpose = 'blob')::int as keys,
        (select count(*) from audit_entries where action like 'file.%')::int as entries,
        (select count(*) from idempotent_answers)::int as answers`),
  );
  return { ...counts.rows[0], objects: await objects() };
}

test('hashes the bytes, whether the fields come before or after the file', async () => {
  const bytes = randomBytes(300_000);
  const contentHash = `0x${createHash('sha256').update(bytes).digest('hex')}`;
  for (const parts of [
    [
      ['vaultAddress', vaultAddress],
      ['file', fileOf(bytes)],
    ],
    [
      ['file', fileOf(bytes)],
      ['vaultAddress', vaultAddress],
    ],
  ] satisfies FormParts['parts'][]) {
    const { status, json } = await sendForm(service, url, { parts });
    assert.equal(status, 202);
    assert.deepEqual(
      [json.contentHash, json.size, json.mediaType],
      [contentHash, 300_000, 'application/pdf'],
    );
  }
});

test('takes the name from the form unless a field overrides it, and drops any path in it', async () => {
  const named = async (...parts: FormParts['parts']) => (await send(parts)).json.name;
  assert.equal(await named(['file', fileOf('a', 'Übergabe 1.pdf')]), 'Übergabe 1.pdf');
  assert.equal(await named(['name', 'other.pdf'], ['file', fileOf('a', 'deed.pdf')]), 'other.pdf');
  assert.equal(await named(['name', ''], ['file', fileOf('a', 'deed.pdf')]), 'deed.pdf');
  assert.equal(await named(['file', fileOf('a', '../../etc/passwd')]), 'passwd');
  assert.equal(await named(['file', fileOf('a', 'C:\\secret\\deed.pdf')]), 'deed.pdf');
  assert.equal(await named(['file', fileOf('a', '..')]), '');
});

test('accepts an empty file', async () => {
  const { status, json } = await send([['file', fileOf('')]]);
  assert.deepEqual([status, json.size], [202, 0]);
  assert.equal(json.contentHash, `0x${createHash('sha256').digest('hex')}`);
});

test('explains what is wrong with a form, and stores nothing of it', async () => {
  const before = await left();
  const file = fileOf('some bytes');
  const cases: [FormParts['parts'], RegExp][] = [
    [[], /file is required/],
    [[['file', 'as text']], /file must be a file/],
    [[['other', file]], /"file", not as "other"/],
    [
      [
        ['file', file],
        ['file', file],
      ],
      /one file/,
    ],
    [
      [
        ['file', file],
        ['colour', 'red'],
      ],
      /"colour" is not a known field/,
    ],
    [
      [
        ['file', file],
        ['vaultAddress', vaultAddress],
      ],
      /"vaultAddress" is given more than once/,
    ],
    [
      [
        ['name', 'x'.repeat(70_000)],
        ['file', file],
      ],
      /"name" is too long/,
    ],
    [
      [...Array.from({ length: 21 }, (_, n): [string, string] => [`f${n}`, '']), ['file', file]],
      /too many parts/,
    ],
    [
      [
        ['__proto__', 'x'],
        ['file', file],
      ],
      /name that is not allowed/,
    ],
    [
      [
        ['name', '../x'],
        ['file', file],
      ],
      /not a path/,
    ],
    [
      [
        ['name', '..'],
        ['file', file],
      ],
      /not a path/,
    ],
    [
      [
        ['name', ' '],
        ['file', file],
      ],
      /name must not be blank/,
    ],
    [
      [
        ['name', 'a\\b'],
        ['file', file],
      ],
      /not a path/,
    ],
    [
      [
        ['name', 'a\u0007b'],
        ['file', file],
      ],
      /control characters/,
    ],
    [
      [
        ['name', 'a\0b'],
        ['file', file],
      ],
      /NUL/,
    ],
    [
      [
        ['name', 'annexe\u202efdp.exe'],
        ['file', file],
      ],
      /direction/,
    ],
    [
      [
        ['name', 'ü'.repeat(128)],
        ['file', file],
      ],
      /255 bytes/,
    ],
    [
      [
        ['expirationDate', '2031-02-29'],
        ['file', file],
      ],
      /calendar day/,
    ],
    [
      [
        ['expirationDate', ''],
        ['file', file],
      ],
      /calendar day/,
    ],
    [
      [
        ['expirationDate', '2020-01-01'],
        ['file', file],
      ],
      /in the past/,
    ],
    [[['file', fileOf('x', 'x', 'no/such/type')]], /mediaType/],
  ];
  for (const [parts, message] of cases) assertError(await send(parts), 'invalid_request', message);
  const elsewhere = {
    parts: [
      ['vaultAddress', '0x12'],
      ['file', file],
    ],
  } satisfies FormParts;
  assertError(await sendForm(service, url, elsewhere), 'invalid_address');
  assertError(await send([['file', file]], { key: null }), 'unauthorized');
  assert.deepEqual(await left(), before);
});

test('refuses a body that is neither form nor JSON, or is compressed', async () => {
  const before = await left();
  const post = (type: string | null, body: string, more = {}) =>
    service.call('POST', url, { body, headers: { ...(type !== null && { 'content-type': type }), ...more } });
  const form = 'multipart/form-data';
  assertError(await post(form, 'x'), 'invalid_request', /Boundary not found/);
  assertError(await post(`${form}; boundary=b`, 'no form at all'), 'invalid_request', /cannot be read/);
  assertError(
    await post(`${form}; boundary=b`, ''),
    'invalid_request',
    /file is required|vaultAddress is required/,
  );
  const begun =
    '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nbytes without an end';
  assertError(await post(`${form}; boundary=b`, begun), 'invalid_request', /cannot be read/);
  assertError(await post('text/plain', 'x'), 'unsupported_media_type', /multipart\/form-data/);
  assertError(
    await post(`${form}; boundary=b`, begun, { 'content-encoding': 'gzip' }),
    'unsupported_media_type',
    /compressed/,
  );
  assertError(await service.call('POST', url), 'invalid_request', /body is missing/);
  assert.deepEqual(await left(), before);
});

test('other routes accept no form', async () => {
  const answer = await sendForm(service, '/api-v1/platform/vaults', { parts: [['name', 'x']] });
  assertError(answer, 'unsupported_media_type', /application\/json\.$/);
});

test('accepts a file of exactly the limit; a larger one is 413, even without a declared length', async () => {
  assert.equal((await send([['file', fileOf(Buffer.alloc(maxFileBytes))]])).status, 202);
  const before = await left();
  const tooLarge = (bytes: number) => send([['file', fileOf(Buffer.alloc(bytes))]]);
  assertError(await tooLarge(maxFileBytes + 1), 'payload_too_large', /1048576 bytes/);
  assertError(await tooLarge(4 * maxFileBytes), 'payload_too_large', /1048576 bytes/);
  const upload = openUpload(service, url, { fields: { vaultAddress } });
  for (let sent = 0; sent <= maxFileBytes; sent += 64 * 1024) await upload.send(Buffer.alloc(64 * 1024));
  const { status } = await upload.finish();
  assert.equal(status, 413);
  assert.deepEqual(await left(), before);
});

test('fifty concurrent uploads of the same bytes store one blob for each vault', async () => {
  const [one, other] = [await newVault(), await newVault()];
  const bytes = randomBytes(100_000);
  const before = (await objects()).length;
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      sendForm(service, url, {
        parts: [
          ['file', fileOf(bytes)],
          ['vaultAddress', n % 25 === 0 ? other : one],
        ],
      }),
    ),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]));
  assert.equal(new Set(answers.map(({ json }) => json.id)).size, 50);
  assert.equal((await objects()).length - before, 2);
});

test('an upload that is cut off midway leaves nothing, and frees its key', async () => {
  const before = await left();
  const key = randomUUID();
  const upload = openUpload(service, url, { fields: { vaultAddress }, headers: { 'idempotency-key': key } });
  await upload.send(randomBytes(600_000));
  // It has begun to write.
  await waitUntil(async () => (await objects()).some((name) => name.endsWith('.part')));
  upload.cut();
  await waitUntil(async () => JSON.stringify(await left()) === JSON.stringify(before));
  const again = () => send([['file', fileOf('whole')]], { headers: { 'idempotency-key': key } });
  const { status } = await waitUntil(async () => {
    const answer = await again();
    return answer.status === 409 ? null : answer;
  });
  assert.equal(status, 202);
});

test('a repeat with a key gets the first answer and stores nothing; another payload is 422', async () => {
  const headers = { 'idempotency-key': randomUUID() };
  const bytes = randomBytes(50_000);
  const first = await send([['file', fileOf(bytes)]], { headers });
  assert.equal(first.status, 202);
  const before = await left();
  const repeat = await send([['file', fileOf(bytes)]], { headers });
  assert.deepEqual([repeat.status, repeat.text], [202, first.text]);
  assert.equal(repeat.headers.get('idempotency-replayed'), 'true');
  const others: FormParts['parts'][] = [
    [['file', fileOf(randomBytes(50_000))]],
    [['file', fileOf(bytes, 'another name.pdf')]],
    [
      ['name', 'x'],
      ['file', fileOf(bytes)],
    ],
  ];
  for (const parts of others) assertError(await send(parts, { headers }), 'idempotency_key_reused');
  assert.deepEqual(await left(), before);
});

test('refuses a second request with a key at once while the first is still sending', async () => {
  const headers = { 'idempotency-key': randomUUID() };
  const upload = openUpload(service, url, { fields: { vaultAddress }, headers });
  await upload.send(randomBytes(300_000));
  await waitUntil(async () => (await objects()).some((name) => name.endsWith('.part')));
  assertError(await send([['file', fileOf('x')]], { headers }), 'idempotency_in_progress');
  const { status } = await upload.finish();
  assert.equal(status, 202);
});

test('an upload may take longer than other requests', async () => {
  const server = service.app.server.http.server;
  const connected = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const upload = openUpload(service, url, { fields: { vaultAddress } });
  const socket = await connected;
  await upload.send(randomBytes(300_000));
  await waitUntil(async () => (await objects()).some((name) => name.endsWith('.part')));
  // What the server makes of a request that is late.
  server.emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
  assert.ok(!socket.destroyed);
  assert.equal((await upload.finish()).status, 202);
});
