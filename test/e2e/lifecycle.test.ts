/** Starting, stopping, being killed, and commands beside it: the service as an operator meets it, embedded database included. */
// tier: process
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseMasterKeys } from '../../src/keys/master-keys.ts';
import { command } from '../support/service/commands.ts';
import {
  holdfast,
  npmStart,
  processesMentioning,
  type RunningService,
  type Settings,
  serve,
  waitUntil,
} from '../support/service/process.ts';

const vaults = '/api-v1/platform/vaults';

let dataDir: string;
let settings: Settings;
let key: string;
/** The first start, as a newcomer makes it; over when the tests begin. */
let first: RunningService;
/** Whether it still answered when npm was gone and nothing of it ran any more. */
let answersYet: boolean;
/** The second start, and those after it; null while nothing runs. */
let service: RunningService | null = null;
let second: RunningService;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'holdfast-lifecycle-'));
  settings = { HOLDFAST_DATA_DIR: dataDir };
  first = await npmStart(settings);
  const keyFile = join(dataDir, 'first-key.txt');
  key = (await readFile(keyFile, 'utf8')).trim();
  assert.equal((await stat(keyFile)).mode & 0o777, 0o600);
  assert.ok(first.stdout().includes(keyFile));
  const made = await call('POST', vaults, { body: { name: 'first' }, at: first.url });
  assert.equal(made.status, 201, 'the key that was printed works');
  first.child.kill('SIGTERM');
  await first.exited;
  await waitUntil(() => processesMentioning(dataDir).length === 0);
  // With its key: somebody else may have its port by now.
  answersYet = await fetch(first.url + vaults, { headers: { 'x-api-key': key } }).then(
    ({ ok }) => ok,
    () => false,
  );
  second = await running();
});
after(async () => {
  // Killed they would leave their database and their chain behind.
  for (const one of [first, service]) one?.child.kill('SIGTERM');
  await Promise.all([first?.exited, service?.exited]);
  await rm(dataDir, { recursive: true, force: true });
});

/** The service, started unless it runs. */
async function running(): Promise<RunningService> {
  service ??= await serve(settings);
  return service;
}

/** Ends the service, and resolves with how it ended. */
async function end(signal: NodeJS.Signals): Promise<number | string> {
  const { child, exited } = await running();
  child.kill(signal);
  service = null;
  return exited;
}

async function call(
  method: string,
  path: string,
  { body, key: callKey = key, at }: { body?: unknown; key?: string; at?: string } = {},
): Promise<Response> {
  return fetch((at ?? (await running()).url) + path, {
    method,
    headers: { 'x-api-key': callKey, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function vaultNames(): Promise<string[]> {
  const answer = await call('GET', `${vaults}?limit=1000`);
  return ((await answer.json()) as { name: string }[]).map(({ name }) => name);
}

async function postmaster(): Promise<number> {
  const text = await readFile(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

test('the first start creates a working key, and the second start creates none', async () => {
  assert.match(key, /^hf_live_[0-9A-Za-z]{36}$/);
  // Neither is printed where it would end in a log, and the link for the owner is another one at each start.
  assert.doesNotMatch(first.stdout() + second.stdout(), /hf_live_|\/join#/);
  assert.doesNotMatch(second.stdout(), /first-key/);
  assert.match(await readFile(join(dataDir, 'owner-link.txt'), 'utf8'), /^http:.*\/join#\S+\n$/);
  assert.ok((await vaultNames()).includes('first'));
});

test('SIGTERM to npm alone also stops the service', () => {
  assert.equal(answersYet, false);
});

test('refuses a second service on the same data directory with a clear sentence', async () => {
  await running();
  await assert.rejects(serve(settings), (error: Error) => {
    assert.match(error.message, /ended with 1/);
    assert.match(error.message, new RegExp(dataDir));
    assert.match(error.message, /already/);
    assert.doesNotMatch(error.message, /\n\s+at /, 'no stack');
    return true;
  });
  assert.equal((await call('GET', vaults)).status, 200, 'the first goes on');
});

test('commands work beside a running service: keys, workspaces, and immediate revocation', async () => {
  await running();
  const made = JSON.parse(
    (await holdfast(settings, 'keys', 'create', '--name', 'ci', '--scopes', 'vaults:read', '--json')).stdout,
  );
  assert.deepEqual(Object.keys(made), ['id', 'key']);
  assert.equal((await call('GET', vaults, { key: made.key })).status, 200);
  assert.equal((await call('POST', vaults, { key: made.key, body: { name: 'x' } })).status, 403);
  assert.equal((await command(settings, 'keys', 'revoke', made.id)).code, 0);
  assert.equal((await call('GET', vaults, { key: made.key })).status, 401);

  const workspace = JSON.parse(
    (await command(settings, 'workspaces', 'create', '--name', 'Other', '--json')).stdout,
  );
  const other = JSON.parse(
    (await command(settings, 'keys', 'create', '--name', 'o', '--workspace', workspace.id, '--json')).stdout,
  );
  assert.deepEqual(await (await call('GET', vaults, { key: other.key })).json(), []);

  const unknown = await command(settings, 'keys', 'revoke', 'key_none');
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /There is no API key key_none/);
  assert.doesNotMatch(unknown.stderr, /\n\s+at /);
});

test('rotates the master key during requests, and none of them fails', async () => {
  await running();
  let stop = false;
  const statuses = new Set<number>();
  const load = (async () => {
    while (!stop) statuses.add((await call('POST', vaults, { body: { name: 'during rotation' } })).status);
  })();
  const rotated = await command(settings, 'rotate-master-key', '--json');
  stop = true;
  await load;
  assert.equal(rotated.code, 0, rotated.stderr);
  assert.equal(JSON.parse(rotated.stdout).version, 2);
  assert.ok(JSON.parse(rotated.stdout).rewrapped > 0);
  assert.deepEqual([...statuses], [201]);
});

test('requests get 503 with Retry-After while PostgreSQL is dead, and the service recovers by itself', async () => {
  const { url } = await running();
  const killed = await postmaster();
  process.kill(killed, 'SIGKILL');
  const statuses = new Set<number>();
  await waitUntil(async () => {
    const answer = await call('POST', vaults, { body: { name: 'healed' } });
    statuses.add(answer.status);
    if (answer.status === 503) assert.ok(Number(answer.headers.get('retry-after')) > 0);
    // What the killed server had begun may still succeed: healed it is with the next one.
    return answer.status === 201 && (await postmaster()) !== killed;
  });
  // The first of them at the latest finds it dead; what its processes had in hand may have ended well before.
  assert.ok(statuses.has(503), 'no request came while it was dead');
  assert.deepEqual(
    [...statuses].filter((status) => status !== 503 && status !== 201),
    [],
  );
  await waitUntil(async () => (await fetch(`${url}/readyz`)).status === 200);
});

test('SIGTERM completes the requests in progress, then stops everything', async () => {
  const stopping = await running();
  const body = JSON.stringify({ name: 'in flight' });
  const requests = await Promise.all(Array.from({ length: 50 }, () => begin(stopping.url + vaults, body)));
  stopping.child.kill('SIGTERM');
  service = null;
  await waitUntil(() => /"stopping"/.test(stopping.stdout() + stopping.stderr()));
  const statuses = await Promise.all(requests.map(({ finish }) => finish()));
  assert.deepEqual(new Set(statuses), new Set([201]));
  assert.equal(await stopping.exited, 0);
  assert.deepEqual(processesMentioning(dataDir), []);
  assert.equal((await vaultNames()).filter((name) => name === 'in flight').length, requests.length);
});

/** A request that the service has begun with, as its word to go on shows, and that waits for the rest of its body. */
function begin(url: string, body: string): Promise<{ finish(): Promise<number> }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      agent: false,
      headers: {
        'x-api-key': key,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        expect: '100-continue',
      },
    });
    const answered = new Promise<number>((resolve, reject) => {
      sent.on('response', (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      sent.on('error', reject);
    });
    answered.catch(reject);
    sent.on('continue', () =>
      resolve({
        finish() {
          sent.end(body);
          return answered;
        },
      }),
    );
    sent.flushHeaders();
  });
}

test('starts at once after kill -9, with PostgreSQL left behind or killed too', async () => {
  const names = await vaultNames();
  const orphan = await postmaster();
  await end('SIGKILL');
  // By its number: where the data is closed to its account, it sees the data at another place, and names that.
  assert.doesNotThrow(() => process.kill(orphan, 0), 'the orphaned PostgreSQL is still there');
  await running();
  assert.equal(await postmaster(), orphan, 'it is taken as it is, and not waited for');
  assert.deepEqual(await vaultNames(), names);

  await end('SIGKILL');
  process.kill(orphan, 'SIGKILL');
  await running();
  assert.notEqual(await postmaster(), orphan);
  assert.deepEqual(await vaultNames(), names);
});

test('explains an unusable database or certificate and an unknown command in a sentence', async () => {
  const unusable = { ...settings, DATABASE_URL: 'postgres://app:secret@127.0.0.1:1/none' };
  await assert.rejects(serve(unusable), (error: Error) => {
    assert.match(error.message, /The database cannot be used: .*ECONNREFUSED/);
    assert.doesNotMatch(error.message, /secret|\n\s+at /);
    return true;
  });
  const junk = join(dataDir, 'junk.pem');
  await writeFile(junk, 'junk');
  const tls = {
    ...settings,
    HOLDFAST_TLS_CERT_FILE: junk,
    HOLDFAST_TLS_KEY_FILE: junk,
    DATABASE_URL: 'postgres://a:b@1:bad/x',
  };
  const refused = await command(tls, 'serve');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /not a PEM certificate[\s\S]*DATABASE_URL is not of the form/);
  const unknown = await command(settings, 'bogus');
  assert.equal(unknown.code, 1);
  assert.equal(unknown.stderr.trim(), 'There is no command bogus. See "holdfast --help".');
  const mistyped = await command(settings, 'bakcup', 'archive.tar', '--no-key');
  assert.equal(
    mistyped.stderr.trim(),
    'There is no command bakcup. Did you mean backup? See "holdfast --help".',
  );
  const option = await command(settings, 'serve', '--prot=1');
  assert.equal(option.stderr.trim(), 'There is no option --prot=1. See "holdfast --help".');
});

test('commands work without a service and leave no server behind', async () => {
  assert.equal(await end('SIGINT'), 0);
  const list = await holdfast(settings, 'workspaces', 'list');
  assert.equal(list.code, 0, list.stderr);
  assert.match(list.stdout, /^ID +SLUG +NAME\nws_\w+ +default +Default/);
  assert.deepEqual(processesMentioning(dataDir), []);
});

test('refuses to start with a wrong master key or a bad setting, and leaves nothing running', async () => {
  if (service) await end('SIGTERM');
  const keyFile = join(dataDir, 'master.key');
  const right = await readFile(keyFile, 'utf8');
  const { current } = parseMasterKeys(right, keyFile);
  await writeFile(keyFile, `${current}:${randomBytes(32).toString('base64')}`);
  await assert.rejects(serve(settings), /ended with 1:[\s\S]*\nThe master key in .* is not the one/);
  assert.deepEqual(processesMentioning(dataDir), []);
  await writeFile(keyFile, right);

  const bad = await command({ ...settings, PORT: 'x', HOLDFAST_ROLES: 'y' }, 'serve');
  assert.equal(bad.code, 1);
  assert.match(bad.stderr, /PORT[\s\S]*HOLDFAST_ROLES/);

  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const PORT = String((other.address() as AddressInfo).port);
  await assert.rejects(serve({ ...settings, PORT }), /already in use/);
  assert.deepEqual(processesMentioning(dataDir), []);
  other.close();
});
