/** Starting, stopping, being killed, and commands beside it: the service as an operator meets it, embedded database included. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  holdfast,
  npmStart,
  processesMentioning,
  type RunningService,
  type Settings,
  serve,
  waitUntil,
} from './process.ts';

let dataDir: string;
let settings: Settings;
let key: string;
let service: RunningService;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'holdfast-lifecycle-'));
  settings = { HOLDFAST_DATA_DIR: dataDir };
  service = await serve(settings);
  key = /hf_live_\w+/.exec(service.stdout())?.[0] ?? '';
});
after(async () => {
  // Killed it would leave its database and its chain behind.
  service.child.kill('SIGTERM');
  await service.exited;
  await rm(dataDir, { recursive: true, force: true });
});

function call(
  method: string,
  path: string,
  { body, key: callKey = key }: { body?: unknown; key?: string } = {},
): Promise<Response> {
  return fetch(service.url + path, {
    method,
    headers: { 'x-api-key': callKey, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function vaultNames(): Promise<string[]> {
  const answer = await call('GET', '/api-v1/platform/vaults?limit=1000');
  return ((await answer.json()) as { name: string }[]).map(({ name }) => name);
}

test('the first start prints a key that works, and the second start prints none', async () => {
  assert.match(key, /^hf_live_[0-9A-Za-z]{36}$/);
  assert.equal((await call('POST', '/api-v1/platform/vaults', { body: { name: 'first' } })).status, 201);
  service.child.kill('SIGTERM');
  assert.equal(await service.exited, 0);
  assert.deepEqual(processesMentioning(dataDir), [], 'SIGTERM leaves nothing running');
  service = await serve(settings);
  assert.doesNotMatch(service.stdout(), /hf_live_/);
  assert.deepEqual(await vaultNames(), ['first']);
});

test('after kill -9 the next start works at once, with PostgreSQL left behind or killed too', async () => {
  service.child.kill('SIGKILL');
  await service.exited;
  assert.notDeepEqual(processesMentioning(dataDir), [], 'the orphaned PostgreSQL is still there');
  let startedAt = performance.now();
  service = await serve(settings);
  assert.ok(performance.now() - startedAt < 15_000);
  assert.deepEqual(await vaultNames(), ['first']);

  const postmaster = Number(
    (await readFile(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8')).split('\n')[0],
  );
  service.child.kill('SIGKILL');
  await service.exited;
  process.kill(postmaster, 'SIGKILL');
  startedAt = performance.now();
  service = await serve(settings);
  assert.ok(performance.now() - startedAt < 15_000);
  assert.deepEqual(await vaultNames(), ['first']);
});

test('when PostgreSQL is killed under it, requests get 503 with Retry-After and it heals by itself', async () => {
  const postmaster = Number(
    (await readFile(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8')).split('\n')[0],
  );
  process.kill(postmaster, 'SIGKILL');
  const statuses = new Set<number>();
  await waitUntil(async () => {
    const answer = await call('POST', '/api-v1/platform/vaults', { body: { name: 'healed' } });
    statuses.add(answer.status);
    if (answer.status === 503) assert.ok(Number(answer.headers.get('retry-after')) > 0);
    return answer.status === 201;
  });
  assert.deepEqual(
    [...statuses].filter((status) => status !== 503 && status !== 201),
    [],
  );
  await waitUntil(async () => (await fetch(`${service.url}/readyz`)).status === 200);
});

test('a second service on the same data directory refuses with a clear sentence', async () => {
  await assert.rejects(serve(settings), (error: Error) => {
    assert.match(error.message, /ended with 1/);
    assert.match(error.message, new RegExp(dataDir));
    assert.match(error.message, /already/);
    assert.doesNotMatch(error.message, /\n\s+at /, 'no stack');
    return true;
  });
  assert.equal((await call('GET', '/api-v1/platform/vaults')).status, 200, 'the first goes on');
});

test('commands work beside the running service: keys, workspaces, revocation with the next request', async () => {
  const made = JSON.parse(
    (await holdfast(settings, 'keys', 'create', '--name', 'ci', '--scopes', 'vaults:read', '--json')).stdout,
  );
  assert.deepEqual(Object.keys(made), ['id', 'key']);
  assert.equal((await call('GET', '/api-v1/platform/vaults', { key: made.key })).status, 200);
  assert.equal(
    (await call('POST', '/api-v1/platform/vaults', { key: made.key, body: { name: 'x' } })).status,
    403,
  );
  assert.equal((await holdfast(settings, 'keys', 'revoke', made.id)).code, 0);
  assert.equal((await call('GET', '/api-v1/platform/vaults', { key: made.key })).status, 401);

  const workspace = JSON.parse(
    (await holdfast(settings, 'workspaces', 'create', '--name', 'Other', '--json')).stdout,
  );
  const other = JSON.parse(
    (await holdfast(settings, 'keys', 'create', '--name', 'o', '--workspace', workspace.id, '--json')).stdout,
  );
  assert.deepEqual(await (await call('GET', '/api-v1/platform/vaults', { key: other.key })).json(), []);

  const unknown = await holdfast(settings, 'keys', 'revoke', 'key_none');
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /There is no API key key_none/);
  assert.doesNotMatch(unknown.stderr, /\n\s+at /);
});

test('the master key is rotated while requests go on, and none of them fails', async () => {
  let stop = false;
  const statuses = new Set<number>();
  const load = (async () => {
    while (!stop)
      statuses.add(
        (await call('POST', '/api-v1/platform/vaults', { body: { name: 'during rotation' } })).status,
      );
  })();
  const rotated = await holdfast(settings, 'rotate-master-key', '--json');
  stop = true;
  await load;
  assert.equal(rotated.code, 0, rotated.stderr);
  assert.equal(JSON.parse(rotated.stdout).version, 2);
  assert.ok(JSON.parse(rotated.stdout).rewrapped > 0);
  assert.deepEqual([...statuses], [201]);
});

test('SIGTERM answers the requests that are under way, then stops everything', async () => {
  // So that all of them are under way at once, and none is still connecting.
  const connections = Array.from({ length: 50 }, () => call('GET', '/healthz'));
  for (const answer of await Promise.all(connections)) await answer.text();
  const requests = Array.from({ length: 50 }, () =>
    call('POST', '/api-v1/platform/vaults', { body: { name: 'in flight' } }),
  );
  await Promise.race(requests);
  service.child.kill('SIGTERM');
  const outcomes = await Promise.allSettled(requests);
  assert.equal(await service.exited, 0);
  assert.deepEqual(processesMentioning(dataDir), []);
  const acknowledged = outcomes.filter(
    (outcome) => outcome.status === 'fulfilled' && outcome.value.status === 201,
  ).length;
  service = await serve(settings);
  const stored = (await vaultNames()).filter((name) => name === 'in flight').length;
  assert.equal(stored, acknowledged);
  assert.equal(acknowledged, 50);
});

test('SIGTERM to npm alone stops the service too', async () => {
  const dir = join(dataDir, 'npm');
  const started = await npmStart({ HOLDFAST_DATA_DIR: dir });
  started.child.kill('SIGTERM');
  await started.exited;
  await waitUntil(() => processesMentioning(dir).length === 0);
  await assert.rejects(fetch(`${started.url}/healthz`));
});

test('a database that cannot be used, a certificate that is none and an unknown command are told in a sentence', async () => {
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
  await assert.rejects(serve(tls), /not a PEM certificate[\s\S]*DATABASE_URL is not of the form/);
  const unknown = await holdfast(settings, 'bogus');
  assert.equal(unknown.code, 1);
  assert.equal(unknown.stderr.trim(), 'There is no command bogus. See "holdfast --help".');
});

test('commands work without a service and leave no server behind', async () => {
  service.child.kill('SIGINT');
  assert.equal(await service.exited, 0);
  const list = await holdfast(settings, 'workspaces', 'list');
  assert.equal(list.code, 0, list.stderr);
  assert.match(list.stdout, /^ID +SLUG +NAME\nws_\w+ +default +Default/);
  assert.deepEqual(processesMentioning(dataDir), []);
});

test('a wrong master key or a bad setting refuses to start in words, and leaves nothing running', async () => {
  const keyFile = join(dataDir, 'master.key');
  const right = await readFile(keyFile, 'utf8');
  await writeFile(keyFile, `2:${randomBytes(32).toString('base64')}`);
  await assert.rejects(serve(settings), /ended with 1:[\s\S]*\nThe master key in .* is not the one/);
  assert.deepEqual(processesMentioning(dataDir), []);
  await writeFile(keyFile, right);
  await assert.rejects(serve({ ...settings, PORT: 'x', HOLDFAST_ROLES: 'y' }), /PORT[\s\S]*HOLDFAST_ROLES/);
  service = await serve(settings);
  const port = new URL(service.url).port;
  await assert.rejects(serve({ HOLDFAST_DATA_DIR: join(dataDir, 'second'), PORT: port }), /already in use/);
  assert.deepEqual(processesMentioning(join(dataDir, 'second')), []);
});
