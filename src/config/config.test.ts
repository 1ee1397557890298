/** The configuration: defaults, valid and invalid settings, and the list of all settings. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { usualLimits } from '../runtime/budgets.ts';
import { OperatorError } from '../runtime/errors.ts';
import { isLoopback } from '../runtime/host-address.ts';
import { readConfig } from './config.ts';
import { settingNames } from './settings.ts';
import { parseRetrySteps } from './webhook-settings.ts';

test('an empty environment gives the documented defaults', () => {
  const config = readConfig({});
  assert.equal(config.host, '127.0.0.1');
  assert.equal(config.port, 3000);
  assert.equal(config.databaseUrl, null);
  assert.deepEqual(config.rateLimit, { requests: 6000, windowSeconds: 60 });
  assert.deepEqual(config.roles, { api: true, loops: true });
  assert.ok(config.dataDir.endsWith('/data'));
  assert.ok('file' in config.masterKey && config.masterKey.generated);
  assert.deepEqual(config.chain, {
    rpcUrls: [],
    confirmations: null,
    registryAddress: null,
    anchorIntervalMs: 1000,
    feeCapGwei: 500,
  });
  assert.deepEqual(config.clocks, {
    authorities: [],
    rootsFile: null,
    maxPerHour: 60,
    calendars: [],
    bitcoinUrl: null,
  });
});

test('timestamp authorities are called over https, or over http on this machine', () => {
  const { clocks } = readConfig({
    HOLDFAST_TSA_URLS:
      'https://tsa.example.org, http://127.0.0.1:318/tsa,http://[::1]:9/,https://tsa.example.org/',
    HOLDFAST_OTS_CALENDARS: 'http://localhost:14788,https://calendar.example.org/pool',
    HOLDFAST_BITCOIN_URL: 'https://bitcoin.example.org/api/',
  });
  assert.deepEqual(clocks.authorities, [
    'https://tsa.example.org/',
    'http://127.0.0.1:318/tsa',
    'http://[::1]:9/',
  ]);
  assert.deepEqual(clocks.calendars, ['http://localhost:14788/', 'https://calendar.example.org/pool']);
  assert.equal(clocks.bitcoinUrl, 'https://bitcoin.example.org/api');
  for (const refused of [
    'http://tsa.example.org',
    'http://10.0.0.1/',
    'ftp://127.0.0.1/',
    'tsa.example.org',
    'https://tsa.example.org/#x',
    Array.from({ length: 5 }, (_, place) => `https://tsa${place}.example.org`).join(),
  ])
    assert.throws(() => readConfig({ HOLDFAST_TSA_URLS: refused }), /HOLDFAST_TSA_URLS is not/, refused);
});

test('budgets are numbers or off, and no rate limit for keys means none for workspaces', () => {
  const { budgets } = readConfig({
    HOLDFAST_BUDGET_STORED_BYTES: '0',
    HOLDFAST_BUDGET_ANCHORS_PER_DAY: 'off',
  });
  assert.deepEqual(budgets, { ...usualLimits, stored_bytes: 0, anchors_per_day: null });
  const off = readConfig({ HOLDFAST_RATE_LIMIT: 'off' });
  assert.equal(off.budgets.requests_per_minute, null);
  const number = readConfig({ HOLDFAST_RATE_LIMIT: 'off', HOLDFAST_BUDGET_REQUESTS_PER_MINUTE: '9' });
  assert.equal(number.budgets.requests_per_minute, 9);
});

test('reports all invalid settings together by name, without repeating passwords', () => {
  const wrong = {
    PORT: '70000',
    HOLDFAST_PUBLIC_URL: 'ftp://x',
    HOLDFAST_TLS_CERT_FILE: '/nowhere/cert.pem',
    HOLDFAST_TRUST_PROXY: '10.0.0.0/99',
    DATABASE_URL: 'mysql://me:hunter2@host/db',
    HOLDFAST_MASTER_KEY: 'x',
    HOLDFAST_MASTER_KEY_FILE: '/nowhere/key',
    HOLDFAST_RATE_LIMIT: 'lots',
    HOLDFAST_WORKSPACE_CREATION: 'nobody',
    HOLDFAST_BUDGET_STORED_BYTES: '10GB',
    HOLDFAST_BUDGET_EXPORTS: '-1',
    HOLDFAST_ROLES: 'api,ceiling',
    HOLDFAST_BLOB_URL: 's3://key:hunter2@bucket',
    HOLDFAST_LOG_LEVEL: 'loud',
    HOLDFAST_SERVICE_NAME: 'two words',
    HOLDFAST_WEBHOOK_RETRY_SCHEDULE: '25h',
    HOLDFAST_WEBHOOK_TIMEOUT_MS: '0',
    HOLDFAST_WEBHOOK_ALLOW: 'http://x',
    HOLDFAST_WEBHOOK_CA_FILE: '/nowhere/ca.pem',
    HOLDFAST_WEBHOOK_RETENTION_DAYS: 'x',
    HOLDFAST_CHAIN_RPC_URLS: 'https://rpc.example.org/v3/hunter2,wss://node/hunter2',
    HOLDFAST_CHAIN_CONFIRMATIONS: '0',
    HOLDFAST_REGISTRY_ADDRESS: '0x4E59b44847b379578588920cA78FbF26c0B4956C',
    HOLDFAST_ANCHOR_INTERVAL_MS: '1s',
    HOLDFAST_FEE_CAP_GWEI: '0',
    HOLDFAST_TSA_URLS: 'https://me:hunter2@tsa.example.org',
    HOLDFAST_TSA_ROOTS: '/nowhere/roots.pem',
    HOLDFAST_TSA_MAX_PER_HOUR: '0',
    HOLDFAST_OTS_CALENDARS: 'https://calendar.example.org/?key=hunter2',
    HOLDFAST_BITCOIN_URL: 'http://bitcoin.example.org/hunter2',
  };
  assert.throws(
    () => readConfig(wrong),
    (error: Error) => {
      assert.ok(error instanceof OperatorError);
      for (const name of Object.keys(wrong)) assert.match(error.message, new RegExp(name), name);
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    },
  );
});

test('requires TLS or a trusted proxy when it does not listen on loopback', () => {
  assert.throws(() => readConfig({ HOST: '0.0.0.0' }), /HOLDFAST_TLS_CERT_FILE/);
  // Otherwise any direct client would be trusted as a proxy.
  for (const count of ['true', '2'])
    assert.throws(
      () => readConfig({ HOST: '0.0.0.0', HOLDFAST_TRUST_PROXY: count }),
      /addresses or CIDR ranges/,
    );
  assert.equal(readConfig({ HOLDFAST_TRUST_PROXY: 'true' }).trustProxy, 1);
  assert.deepEqual(readConfig({ HOST: '::', HOLDFAST_TRUST_PROXY: '10.0.0.0/8, ::1' }).trustProxy, [
    '10.0.0.0/8',
    '::1',
  ]);
  for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '::1'])
    assert.equal(isLoopback(host), true, host);
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'example.org'])
    assert.equal(isLoopback(host), false, host);
});

test('keeps blobs in the data directory, another directory, or a bucket', () => {
  assert.deepEqual(readConfig({ HOLDFAST_DATA_DIR: '/srv/data' }).blobs, {
    kind: 'disk',
    dir: '/srv/data/blobs',
  });
  const blobsAt = (url: string) => readConfig({ HOLDFAST_BLOB_URL: url }).blobs;
  assert.deepEqual(blobsAt('file:///mnt/shared%20blobs'), { kind: 'disk', dir: '/mnt/shared blobs' });
  assert.deepEqual(blobsAt('s3://evidence'), {
    kind: 's3',
    bucket: 'evidence',
    prefix: '',
    endpoint: null,
    region: 'us-east-1',
  });
  assert.deepEqual(blobsAt('s3://evidence/a/b/?endpoint=http://127.0.0.1:9000&region=eu-west-3'), {
    kind: 's3',
    bucket: 'evidence',
    prefix: 'a/b',
    endpoint: 'http://127.0.0.1:9000',
    region: 'eu-west-3',
  });
  for (const wrong of [
    'evidence',
    'https://evidence',
    's3://',
    's3://A_b',
    's3://key:secret@evidence',
    's3://evidence/?endpoint=minio',
    's3://evidence/?endpont=https://minio',
    's3://evidence/%20',
    'file:///',
    'file://host/dir',
    's3://evidence/%E0%A4%A',
  ]) {
    assert.throws(() => blobsAt(wrong), /HOLDFAST_BLOB_URL/, wrong);
  }
});

test('a retry schedule has at most five steps and spans at most 24 hours', () => {
  assert.deepEqual(parseRetrySteps('100ms, 1s'), [100, 1000]);
  for (const wrong of ['', 'x', '1', '1s,,1s', '1s,1s,1s,1s,1s,1s', '25h', '12h,12h,1s', '-1s']) {
    assert.equal(parseRetrySteps(wrong), null, wrong);
  }
});

test('the list of allowed webhook targets takes hosts, addresses and ranges only', () => {
  const { allow } = readConfig({ HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8, hooks.internal,::1' }).webhooks;
  assert.deepEqual(allow, ['127.0.0.0/8', 'hooks.internal', '::1']);
  for (const wrong of [
    '10.0.0.0/33',
    '::1/129',
    'http://x',
    'a b',
    '10.0.0.0/',
    '*.example.org',
    '10.0.0.0/8/8x',
  ]) {
    assert.throws(() => readConfig({ HOLDFAST_WEBHOOK_ALLOW: wrong }), /HOLDFAST_WEBHOOK_ALLOW/, wrong);
  }
});

test('takes RPC addresses in order, and another registry address only together with them', () => {
  const registry = '0x4e59b44847b379578588920ca78fbf26c0b4956c';
  const urls = ' https://a.example/v3/key, http://127.0.0.1:8545 ,';
  const { chain } = readConfig({
    HOLDFAST_CHAIN_RPC_URLS: urls,
    HOLDFAST_CHAIN_CONFIRMATIONS: '3',
    HOLDFAST_REGISTRY_ADDRESS: registry,
  });
  assert.deepEqual(chain, {
    rpcUrls: ['https://a.example/v3/key', 'http://127.0.0.1:8545'],
    confirmations: 3,
    registryAddress: '0x4e59b44847b379578588920cA78FbF26c0B4956C',
    anchorIntervalMs: 300_000,
    feeCapGwei: 500,
  });
  assert.equal(readConfig({}).chain.anchorIntervalMs, 1000);
  assert.throws(() => readConfig({ HOLDFAST_REGISTRY_ADDRESS: registry }), /HOLDFAST_CHAIN_RPC_URLS/);
});

test('reads exactly the settings in the table', () => {
  const read = new Set<string>();
  readConfig(
    new Proxy<Record<string, string | undefined>>(
      {},
      {
        get(_, name) {
          read.add(String(name));
          return undefined;
        },
      },
    ),
  );
  assert.deepEqual([...read].sort(), settingNames.toSorted());
});

test('.env.example lists every setting and nothing else', () => {
  const listed = [
    ...readFileSync(new URL('../../.env.example', import.meta.url), 'utf8').matchAll(/^#? ?([A-Z_]+)=/gm),
  ].map(([, name]) => name);
  assert.deepEqual(listed.sort(), settingNames.toSorted());
});
