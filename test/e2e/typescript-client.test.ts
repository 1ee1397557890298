/** The TypeScript client against a whole service: every operation of the document, and what it adds to them. */
// tier: process
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { List } from '../../clients/typescript/src/list.ts';
import {
  type Client,
  type ClientOptions,
  ConflictError,
  ConnectionError,
  createClient,
  ForbiddenError,
  HoldfastError,
  InvalidCursorError,
  operationTable,
  type ReceivedEvent,
  ResourceNotFoundError,
  UnauthorizedError,
  type UploadProgress,
  VaultDeactivatedError,
} from '../../clients/typescript/src/main.ts';
import {
  asPerson,
  isSuccess,
  type Operation,
  readOperations,
  webhookSettings,
} from '../support/openapi/openapi-operations.ts';
import { makeThings, thingsFor } from '../support/openapi/openapi-things.ts';
import { smallestArguments } from '../support/openapi/operation-arguments.ts';
import { type Service, startService } from '../support/service/service.ts';

type AnyMethod = (args: object, options?: object) => Promise<unknown> | List<unknown>;

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8'));
/** By method and path. */
const ids = new Map<string, string>(
  Object.entries<Record<string, { operationId: string }>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]): [string, string] => [
      `${method.toUpperCase()} ${path}`,
      operationId,
    ]),
  ),
);

let service: Service;
before(async () => {
  service = await startService({ env: webhookSettings });
});
after(() => service?.close());

function clientOf(options: Partial<ClientOptions> = {}): Client {
  return createClient({ baseUrl: service.url, apiKey: service.key, ...options });
}

test('has a method for every operation of the document, and no other', () => {
  assert.deepEqual(Object.keys(operationTable).sort(), [...ids.values()].sort());
  const client = clientOf();
  for (const id of ids.values()) assert.equal(typeof client[id as keyof Client], 'function', id);
});

test('every operation of the document can be called', async () => {
  const things = await makeThings(service);
  const called: string[] = [];
  for (const operation of await readOperations(service)) {
    const id = ids.get(operation.name) ?? assert.fail(operation.name);
    const mine = await thingsFor(service, operation, things);
    const client = await clientFor(operation, mine.cookie ?? '');
    const { status, message } = await outcomeOf(client, { id, args: smallestArguments(operation, mine) });
    assert.ok(isSuccess(operation, status, message), `${id}: ${status} ${message}`);
    called.push(id);
  }
  assert.deepEqual(called.sort(), [...ids.values()].sort());
});

/** With a session where the operation accepts no key. */
async function clientFor({ scope, path, name }: Operation, cookie: string): Promise<Client> {
  // The service holds the key of this worker.
  if (/^POST .*\/signoffs\/$/.test(name)) return clientOf({ apiKey: await service.onBehalfKey() });
  if (scope !== null || !path.startsWith('/api-v1/')) return clientOf();
  return createClient({ baseUrl: service.url, headers: asPerson(cookie).headers });
}

async function outcomeOf(
  client: Client,
  { id, args }: { id: string; args: object },
): Promise<{ status: number; message: string }> {
  let status = 0;
  const ending = new AbortController();
  const options = {
    retries: 0,
    signal: ending.signal,
    onResponse: (answer: Response) => (status = answer.status),
  };
  const call = client[id as keyof Client] as AnyMethod;
  try {
    const returned = call(args, options);
    if (id === 'streamEvents') {
      const first = (returned as unknown as AsyncGenerator<ReceivedEvent>).next();
      await client.deactivateVault({ vaultAddress: (await someVault(client)).address });
      await first;
      ending.abort();
    } else if ('page' in returned) await returned.page();
    else {
      const data = await returned;
      if (data instanceof Response) await data.bytes();
    }
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  return { status, message: '' };
}

let vaults = 0;

async function someVault(client = clientOf()): Promise<{ id: string; address: string }> {
  vaults += 1;
  return client.createVault({ name: `Vault ${vaults}` });
}

test('lists are iterated across pages, with their filters', async () => {
  const client = clientOf();
  const vault = await someVault();
  const records = Array.from({ length: 5 }, (_, number) => ({ data: { number }, externalId: `r${number}` }));
  const made = await client.createRecords({ vaultAddress: vault.address, records });
  await client.createRecord({ vaultAddress: (await someVault()).address, data: {} });
  const list = client.listRecords({ vaultAddress: vault.address, limit: 2 });
  const found: string[] = [];
  for await (const { id } of list) found.push(id);
  assert.deepEqual(found, made.map(({ id }) => id).reverse());
  const sizes: number[] = [];
  for await (const { data } of list.pages()) sizes.push(data.length);
  assert.deepEqual(sizes, [2, 2, 1]);
  const first = await list.page();
  const cursor = first.nextCursor ?? '';
  const rest = client.listRecords({ vaultAddress: vault.address, limit: 3, cursor });
  assert.deepEqual(
    (await rest.page()).data.map(({ id }) => id),
    found.slice(2),
  );
});

test('errors have a class for their code', async () => {
  const client = clientOf();
  const { address } = await someVault();
  await client.deactivateVault({ vaultAddress: address });
  const refused = await client.createRecord({ vaultAddress: address, data: {} }).catch((error) => error);
  assert.ok(refused instanceof VaultDeactivatedError && refused instanceof HoldfastError);
  const { name, status, errorCode, docUrl, requestId, idempotencyKey } = refused;
  assert.deepEqual(
    { name, status, errorCode },
    { name: 'VaultDeactivatedError', status: 409, errorCode: 'vault_deactivated' },
  );
  assert.match(docUrl, /^http:.+#vault_deactivated$/);
  assert.match(requestId ?? '', /^[0-9a-f-]{36}$/);
  assert.match(idempotencyKey ?? '', /^[0-9a-f]{32}$/);
  await assert.rejects(client.getRecord({ recordId: 'rec_none' }), ResourceNotFoundError);
  await assert.rejects(clientOf({ apiKey: 'hf_live_x' }).getStats(), UnauthorizedError);
  const reader = clientOf({ apiKey: await service.makeKey({ scopes: ['vaults:read'] }) });
  await assert.rejects(reader.createVault({ name: 'No' }), ForbiddenError);
  await assert.rejects(client.listVaults({ cursor: 'x' }).page(), InvalidCursorError);
  await assert.rejects(client.getVault({ vaultAddress: '..' }), TypeError);
  await assert.rejects(client.getVault({ vaultAddress: address, name: 'x' } as never), TypeError);
});

test('a request whose answer was lost is repeated with its key, and done once', async () => {
  const keys: string[] = [];
  let lost = 0;
  const losing = async (input: string | URL | Request, init?: RequestInit) => {
    const response = await fetch(input, init);
    keys.push(new Headers(init?.headers).get('idempotency-key') ?? '');
    if (lost === 2) return response;
    lost += 1;
    await response.text();
    throw new TypeError('fetch failed');
  };
  const client = clientOf({ fetch: losing as typeof fetch });
  const vault = await client.createVault({ name: 'Once' });
  assert.deepEqual(new Set(keys), new Set([keys[0]]));
  assert.equal(keys.length, 3);
  const all: string[] = [];
  for await (const { name, id } of clientOf().listVaults()) if (name === 'Once') all.push(id);
  assert.deepEqual(all, [vault.id]);
  lost = 0;
  const failed = await client.createVault({ name: 'Again' }, { retries: 0 }).catch((error) => error);
  assert.ok(failed instanceof ConnectionError);
  lost = 2;
  const { idempotencyKey } = failed;
  const again = await client.createVault({ name: 'Again' }, { idempotencyKey: idempotencyKey ?? '' });
  assert.equal(again.name, 'Again');
  // What creates nothing with a key must not be sent twice.
  lost = 0;
  await assert.rejects(client.inviteWorker({ address: vault.address }), ConnectionError);
});

const size = 3_000_000;

test('files are sent from memory, from a stream and from a function, with progress', async () => {
  const client = clientOf();
  const { address: vaultAddress } = await someVault();
  const bytes = Uint8Array.from(randomBytes(size));
  const contentHash = `0x${createHash('sha256').update(bytes).digest('hex')}`;
  const blob = new File([bytes], 'from memory.bin', { type: 'application/x-thing' });
  const fromBlob = await client.createFile({ vaultAddress, file: blob });
  assert.deepEqual(
    [fromBlob.contentHash, fromBlob.name, fromBlob.mediaType, fromBlob.size],
    [contentHash, 'from memory.bin', 'application/x-thing', size],
  );
  const progress: UploadProgress[] = [];
  const pieces = Array.from({ length: 30 }, (_, place) =>
    bytes.slice(place * 100_000, (place + 1) * 100_000),
  );
  const file = { content: ReadableStream.from(pieces), name: 'stream.bin', size };
  const options = { onProgress: (one: UploadProgress) => progress.push(one) };
  const fromStream = await client.createFile({ vaultAddress, file, name: 'Überblick.bin' }, options);
  assert.deepEqual([fromStream.contentHash, fromStream.name], [contentHash, 'Überblick.bin']);
  assert.equal(progress.length, pieces.length);
  assert.deepEqual(progress.at(-1), { sentBytes: size, totalBytes: size });
  const fromHash = await client.createFile({ vaultAddress, name: 'hash', contentHash });
  assert.equal(fromHash.size, null);
  const download = await client.downloadFileContent({ fileId: fromStream.id });
  assert.equal(
    createHash('sha256')
      .update(await download.bytes())
      .digest('hex'),
    contentHash.slice(2),
  );
  const version = await client.createFileVersion({ fileId: fromBlob.id, file: bytes });
  assert.deepEqual([version.version, version.contentHash], [2, contentHash]);
});

test('an upload that broke is sent again if the content can be opened again', async () => {
  const { address: vaultAddress } = await someVault();
  let calls = 0;
  const breaking = async (input: string | URL | Request, init?: RequestInit) => {
    calls += 1;
    if (calls % 2 === 0) return fetch(input, init);
    const cut = (init as { body: ReadableStream }).body.pipeThrough(
      new TransformStream({ transform: (_, stream) => stream.error(new Error('cut')) }),
    );
    return fetch(input, { ...init, body: cut });
  };
  const client = clientOf({ fetch: breaking as typeof fetch });
  let opened = 0;
  async function* content() {
    opened += 1;
    yield new TextEncoder().encode('all of it');
  }
  const file = await client.createFile({ vaultAddress, file: content, name: 'again' });
  assert.deepEqual([opened, file.size], [2, 9]);
  const once = client.createFile({ vaultAddress, file: content(), name: 'once' });
  await assert.rejects(once, ConnectionError);
});

test('the stream of events resumes after each break, and neither misses nor repeats any', async () => {
  const key = await service.makeKey({ newWorkspace: true });
  let streams = 0;
  const breaking = async (input: string | URL | Request, init?: RequestInit) => {
    const response = await fetch(input, init);
    if (!String(input).includes('/events/stream')) return response;
    streams += 1;
    let events = 0;
    const cutting = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, stream) {
        stream.enqueue(chunk);
        events += new TextDecoder().decode(chunk).split('data:').length - 1;
        if (events >= 2) stream.error(new TypeError('terminated'));
      },
    });
    return new Response(response.body?.pipeThrough(cutting), response);
  };
  const client = clientOf({ apiKey: key, fetch: breaking as typeof fetch });
  const ending = new AbortController();
  const stream = client.streamEvents({}, { signal: ending.signal });
  const first = stream.next();
  const { address: vaultAddress } = await someVault(client);
  // Only events after the stream is open are in it.
  while (streams === 0) await new Promise((resolve) => setImmediate(resolve));
  for (let number = 0; number < 3; number += 1) {
    await client.deactivateVault({ vaultAddress });
    await client.reactivateVault({ vaultAddress });
  }
  const received = [(await first).value as ReceivedEvent];
  for await (const one of stream) if (received.push(one) === 6) break;
  assert.ok(streams > 1);
  const stored = (await client.listEvents().page()).data;
  assert.deepEqual(
    received.map(({ event }) => event.id),
    stored.map(({ id }) => id),
  );
  const [, second] = received;
  const followed: string[] = [];
  for await (const { event } of client.followEvents({ cursor: second?.cursor ?? '' })) {
    if (followed.push(event.id) === 4) break;
  }
  assert.deepEqual(
    followed,
    stored.slice(2).map(({ id }) => id),
  );
  const last = received.at(-1)?.cursor ?? '';
  const waiting = client.followEvents({ cursor: last, pollMs: 10 }, { signal: ending.signal });
  const next = waiting.next();
  await client.deactivateVault({ vaultAddress });
  const { event } = (await next).value as ReceivedEvent;
  assert.ok(event.type === 'vault.deactivated' && event.data.address === vaultAddress);
  const aborted = waiting.next();
  ending.abort();
  await assert.rejects(aborted, { name: 'AbortError' });
  const listed: string[] = [];
  for await (const { id } of client.listEvents({ limit: 3 })) listed.push(id);
  assert.equal(listed.length, 7);
});

test('a revoked key ends the stream with its error', async () => {
  const key = await service.makeKey({ newWorkspace: true });
  const client = clientOf({ apiKey: key });
  const other = await client.createApiKey({ name: 'stream' });
  assert.ok('key' in other);
  const next = clientOf({ apiKey: other.key }).streamEvents().next();
  await client.revokeApiKey({ keyId: other.id });
  await assert.rejects(next, UnauthorizedError);
});

test('a proof that is asked for too early is a conflict', async () => {
  const client = clientOf();
  const { address } = await someVault();
  const record = await client.createRecord({ vaultAddress: address, data: {} });
  await assert.rejects(client.getRecordProof({ recordId: record.id }), ConflictError);
  await assert.rejects(client.waitUntilConfirmed(record, { timeoutMs: 50 }), {
    name: 'ConfirmationTimeoutError',
    status: 'pending',
  });
});
