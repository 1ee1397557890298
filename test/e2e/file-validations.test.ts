/** Validations of files over HTTP: what is taken and what refused, before any chain is asked. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { QueryResult } from 'pg';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { withClient } from '../support/service/database.ts';
import { type CallOptions, type Service, startService } from '../support/service/service.ts';

const platform = '/api-v1/platform';
const bytes = Buffer.from('signed by both');
const contentHash = `0x${createHash('sha256').update(bytes).digest('hex')}`;

let service: Service;
let vaultAddress: string;
let vaultId: string;
let fileId: string;
/** Of another workspace, with a vault of its own. */
let stranger: string;

before(async () => {
  service = await startService({ runLoops: false });
  ({ vaultAddress, vaultId } = await newVault());
  fileId = await newFile();
  stranger = await service.makeKey({ newWorkspace: true });
});
after(() => service?.close());

async function newVault(options: CallOptions = {}): Promise<{ vaultAddress: string; vaultId: string }> {
  const { json } = await service.call('POST', `${platform}/vaults`, { body: { name: 'Deeds' }, ...options });
  return { vaultAddress: json.address, vaultId: json.id };
}

async function newFile(): Promise<string> {
  const body = { vaultAddress, name: 'deed.txt', contentHash };
  const answer = await service.call('POST', `${platform}/files`, { body });
  assert.equal(answer.status, 202, answer.text);
  return answer.json.id;
}

const path = (of = fileId) => `${platform}/files/${of}`;

function validate(body: object, options: CallOptions & { of?: string } = {}) {
  return service.call('POST', `${path(options.of)}/validate`, { body, ...options });
}

function form(fields: Record<string, string>, content: Buffer | null = bytes): CallOptions {
  const boundary = 'a-line-between';
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\n`;
  const body = Buffer.concat([
    Buffer.from(parts.join('')),
    ...(content ? [Buffer.from(file), content, Buffer.from('\r\n')] : []),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
  return { body, headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } };
}

function sql(text: string, values: unknown[] = []): Promise<QueryResult> {
  return withClient({ connectionString: service.databaseUrl }, (client) => client.query(text, values));
}

/** Rows of everything that a validation could leave behind. */
async function stored(): Promise<number[]> {
  const { rows } = await sql(`
    select (select count(*) from file_validations)::int as validations, (select count(*) from blobs)::int as blobs,
      (select count(*) from audit_entries where action like 'file.%')::int as entries,
      (select count(*) from idempotent_answers)::int as answers`);
  return Object.values(rows[0]);
}

test('accepts a validation as pending, and finds it again', async () => {
  const answer = await validate({ contentHash });
  assert.equal(answer.status, 202, answer.text);
  const { id } = answer.json;
  assert.match(id, /^val_/);
  assert.deepEqual(answer.json, {
    id,
    fileId,
    version: 1,
    status: 'pending',
    result: null,
    integrity: null,
    authenticity: null,
    ownership: null,
    validatedAt: null,
  });
  assert.deepEqual((await service.call('GET', `${path()}/validations`)).json[0], answer.json);
  assert.deepEqual((await service.call('GET', `${path()}/validations/${id}/`)).json, answer.json);
  assertError(await service.call('GET', `${path()}/validations/${id}/proof`), 'conflict', /no result yet/);
  const { json: log } = await service.call('GET', `${platform}/audit-log?targetId=${fileId}`);
  assert.partialDeepStrictEqual(log[0], {
    action: 'file.validate',
    details: { validationId: id, version: 1, vaultId: null, by: 'hash' },
  });
});

test('hashes bytes as they arrive, and does not store them', async () => {
  const answer = await service.call('POST', `${path()}/validate`, form({ version: '1', vaultAddress }));
  assert.equal(answer.status, 202, answer.text);
  const { rows } = await sql(
    'select presented_hash, file_version, vault_id from file_validations where id = $1',
    [answer.json.id],
  );
  assert.deepEqual(rows, [
    { presented_hash: Buffer.from(contentHash.slice(2), 'hex'), file_version: 1, vault_id: vaultId },
  ]);
  assert.equal((await stored())[1], 0);
});

test('a repeat with the same Idempotency-Key gets the same validation, even with bytes', async () => {
  for (const options of [{ body: { contentHash } }, form({})] as CallOptions[]) {
    const headers = { ...options.headers, 'idempotency-key': `key-${options.headers ? 'form' : 'json'}` };
    const send = (body = options.body) =>
      service.call('POST', `${path()}/validate`, { ...options, body, headers });
    const first = await send();
    assert.equal(first.status, 202, first.text);
    const before = await stored();
    const again = await send();
    assert.equal(again.text, first.text);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    const other = options.headers ? form({}, Buffer.from('other')).body : { contentHash, version: 1 };
    assertError(await send(other as never), 'idempotency_key_reused');
    assert.deepEqual(await stored(), before);
  }
});

test('refuses what cannot be validated, and stores nothing', async () => {
  const before = await stored();
  assertError(await validate({}), 'invalid_request', /contentHash is required/);
  assertError(await validate({ contentHash: contentHash.slice(2) }), 'invalid_request', /0x followed by 64/);
  assertError(await validate({ contentHash: 7 }), 'invalid_request', /contentHash must be a string/);
  assertError(await validate({ contentHash, version: 0 }), 'invalid_request', /version/);
  assertError(await validate({ contentHash, version: '1' }), 'invalid_request', /version/);
  assertError(await validate({ contentHash, hash: contentHash }), 'invalid_request', /"hash"/);
  assertError(await validate({ contentHash, vaultAddress: '0x12' }), 'invalid_address');
  assertError(await validate({ contentHash, version: 2 }), 'resource_not_found', /no version 2/);
  assertError(await validate({ contentHash }, { of: 'fil_none' }), 'resource_not_found', /no file fil_none/);
  const { vaultAddress: foreign } = await newVault({ key: stranger });
  assertError(await validate({ contentHash, vaultAddress: foreign }), 'resource_not_found', /vault/i);
  const send = (options: CallOptions) => service.call('POST', `${path()}/validate`, options);
  assertError(await send(form({}, null)), 'invalid_request', /file is required/);
  assertError(await send(form({ version: 'one' })), 'invalid_request', /version/);
  assertError(await send(form({ contentHash })), 'invalid_request', /"contentHash"/);
  assertError(await send({ body: 'x', headers: { 'content-type': 'text/plain' } }), 'unsupported_media_type');
  assert.deepEqual(await stored(), before);
});

test('a file of another workspace is not found, and a key needs the scope', async () => {
  const { id } = (await validate({ contentHash })).json;
  assertError(await validate({ contentHash }, { key: stranger }), 'resource_not_found');
  for (const route of ['validations', `validations/${id}`, `validations/${id}/proof`, 'content']) {
    assertError(await service.call('GET', `${path()}/${route}`, { key: stranger }), 'resource_not_found');
  }
  const other = await newFile();
  assertError(await service.call('GET', `${path(other)}/validations/${id}`), 'resource_not_found', /val_/);
  const reader = await service.makeKey({ scopes: ['files:read'] });
  assertError(await validate({ contentHash }, { key: reader }), 'forbidden', /files:write/);
  assert.equal((await service.call('GET', `${path()}/validations`, { key: reader })).status, 200);
});

test('validates an HMAC by the HMAC, and refuses bytes with advice', async () => {
  const of = await newFile();
  await sql("update file_versions set canonicalization = 'hmac-sha256' where file_id = $1", [of]);
  const answer = await service.call('POST', `${path(of)}/validate`, form({}));
  assertError(answer, 'conflict', /Send the HMAC as contentHash/);
  assert.equal((await validate({ contentHash }, { of })).status, 202);
});

test('lists validations newest first, page by page', async () => {
  const of = await newFile();
  assert.deepEqual((await service.call('GET', `${path(of)}/validations`)).json, []);
  const ids: string[] = [];
  for (let made = 0; made < 5; made += 1) ids.unshift((await validate({ contentHash }, { of })).json.id);
  const seen: string[] = [];
  for (let cursor = ''; ; ) {
    const query = cursor === '' ? '' : `&cursor=${cursor}`;
    const { json, headers } = await service.call('GET', `${path(of)}/validations?limit=2${query}`);
    seen.push(...json.map(({ id }: { id: string }) => id));
    cursor = headers.get('x-next-cursor') ?? '';
    if (cursor === '') break;
    assertError(
      await service.call('GET', `${path()}/validations?limit=2&cursor=${cursor}`),
      'invalid_cursor',
    );
  }
  assert.deepEqual(seen, ids);
});

test('validates a file of a deactivated vault too', async () => {
  await service.call('PATCH', `${platform}/vaults/${vaultAddress}/deactivate`);
  assert.equal((await validate({ contentHash })).status, 202);
  await service.call('PATCH', `${platform}/vaults/${vaultAddress}/reactivate`);
});
