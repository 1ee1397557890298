/** Commands that talk to a service over HTTP, as real processes: login, listen with a profile, trigger. */
// tier: process
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { eventCatalogue } from '../../src/events/catalogue.ts';
import { certificate, type Receiver, startReceiver } from '../support/clients/receiver.ts';
import { command } from '../support/service/commands.ts';
import {
  environment,
  type RunningProcess,
  type Settings,
  startHoldfast,
  waitUntil,
} from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const root = join(import.meta.dirname, '../..');
let service: Service;
let proxy: Proxy;
let receiver: Receiver;
let folder: string;
let settings: Settings;
let vault: string;
let listening: RunningProcess | null = null;

before(async () => {
  service = await startService();
  vault = (await service.call('POST', '/api-v1/platform/vaults', { key: service.key, body: { name: 'v' } }))
    .json.address;
});
after(() => service.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-remote-'));
  // No database: whatever needs one fails.
  settings = {
    XDG_CONFIG_HOME: folder,
    HOLDFAST_DATA_DIR: join(folder, 'none'),
    HOLDFAST_WEBHOOK_CA_FILE: certificate().caFile,
  };
  receiver = await startReceiver();
  proxy = await startProxy(service.url);
});
afterEach(async () => {
  listening?.child.kill('SIGKILL');
  await listening?.exited;
  listening = null;
  await proxy.close();
  await receiver.close();
  await rm(folder, { recursive: true });
});

interface Proxy {
  url: string;
  /** Ends all connections and refuses new ones. */
  cut(): Promise<void>;
  open(): Promise<void>;
  close(): Promise<void>;
}

async function startProxy(target: string): Promise<Proxy> {
  const { hostname, port: targetPort } = new URL(target);
  const sockets = new Set<Socket>();
  let server: Server | null = null;
  let port = 0;
  const open = () =>
    new Promise<void>((resolve) => {
      const opened = createServer((near) => {
        const far = connect(Number(targetPort), hostname);
        for (const [one, other] of [
          [near, far],
          [far, near],
        ] as const) {
          sockets.add(one);
          one
            .on('error', () => other.destroy())
            .on('close', () => {
              sockets.delete(one);
              other.destroy();
            });
          one.pipe(other);
        }
      });
      server = opened.listen(port, '127.0.0.1', () => {
        port = (opened.address() as { port: number }).port;
        resolve();
      });
    });
  const cut = () =>
    new Promise<void>((resolve) => {
      if (server === null) return resolve();
      server.close(() => resolve());
      server = null;
      for (const socket of sockets) socket.destroy();
    });
  await open();
  return { url: `http://127.0.0.1:${port}`, cut, open, close: cut };
}

async function makeEvent(move: 'deactivate' | 'reactivate') {
  const path = `/api-v1/platform/vaults/${vault}/${move}`;
  assert.equal((await service.call('PATCH', path, { key: service.key })).status, 200);
}

async function logIn(...args: string[]) {
  const result = await command(
    { ...settings, HOLDFAST_API_KEY: service.key },
    ...['login', '--url', proxy.url, ...args],
  );
  assert.equal(result.code, 0, result.stderr);
  return result;
}

async function listen(...args: string[]): Promise<RunningProcess> {
  listening = await startHoldfast(settings, /Press Ctrl-C to stop/, 'listen', ...args);
  return listening;
}

test('login tries a key, and saves it where only its owner can read it', async () => {
  const { stdout } = await logIn('--json');
  const file = join(folder, 'holdfast/profiles.json');
  assert.deepEqual(JSON.parse(stdout), { profile: 'default', url: proxy.url, default: true, file });
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal((await stat(join(folder, 'holdfast'))).mode & 0o777, 0o700);
  await chmod(file, 0o644);
  await logIn('--profile', 'second');
  assert.equal((await stat(file)).mode & 0o777, 0o600, 'also after somebody opened it up');

  const listed = await command(settings, 'profiles', '--output', 'json');
  assert.deepEqual(
    JSON.parse(listed.stdout).map(({ profile, default: usual }: Record<string, unknown>) => [profile, usual]),
    [
      ['default', true],
      ['second', false],
    ],
  );
  assert.ok(!listed.stdout.includes(service.key));
  assert.match(
    (await command(settings, 'profiles', '--output', 'table')).stdout,
    /^PROFILE +URL +KEY +DEFAULT\n/,
  );

  assert.equal((await command(settings, 'logout')).code, 0);
  assert.ok(!(await readFile(file, 'utf8')).includes('"default": {'));
  assert.match((await command(settings, 'logout')).stderr, /There is no profile default\./);
});

test('login takes the key from standard input', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const child = execFile(
    process.execPath,
    [join(root, 'src/main.ts'), 'login', '--url', proxy.url],
    { env: environment(settings) },
    (error, stdout, stderr) => resolve(error ? stderr : stdout),
  );
  child.stdin?.end(`${service.key}\n`);
  assert.match(await promise, /^Saved as profile default in /);
});

test('login saves nothing that does not work', async () => {
  for (const [args, key, message] of [
    [['--url', proxy.url], 'hf_live_no', /API key|unauthorized|not valid|invalid/i],
    [['--url', 'http://evidence.example.org'], service.key, /Give an https address/],
    [['--url', 'ftp://127.0.0.1'], service.key, /address of a service/],
    [['--url', receiver.url], service.key, /cannot be reached: .*(SELF_SIGNED|UNABLE)/],
    [['--url', 'http://127.0.0.1:2'], service.key, /cannot be reached: ECONNREFUSED/],
    [['--url', proxy.url, '--profile', '../x'], service.key, /letters, digits/],
  ] as [string[], string, RegExp][]) {
    const refused = await command({ ...settings, HOLDFAST_API_KEY: key }, 'login', ...args);
    assert.equal(refused.code, 1, args.join(' '));
    assert.match(refused.stderr, message);
    assert.ok(!refused.stderr.includes(service.key));
  }
  assert.equal((await command(settings, 'profiles', '--json')).stdout, '[]\n');
});

test('listen follows a service over HTTP, forwards, and misses nothing while it is away', async () => {
  await logIn();
  const running = await listen('--forward-to', receiver.url);
  await makeEvent('deactivate');
  await waitUntil(() => receiver.received.length === 1);
  await proxy.cut();
  await waitUntil(() => running.stdout().includes('The service cannot be reached'));
  await makeEvent('reactivate');
  await proxy.open();
  await waitUntil(() => receiver.received.length === 2);
  await makeEvent('deactivate');
  await waitUntil(() => receiver.received.length === 3);
  assert.match(running.stdout(), /The service is available again\./);

  const secret = /signed with (whsec_\S+)/.exec(running.stdout())?.[1] ?? '';
  const types = receiver.received.map(({ headers, body }) => {
    assert.doesNotThrow(() => new Webhook(secret).verify(body, headers as Record<string, string>));
    return JSON.parse(body).type;
  });
  assert.deepEqual(types, ['vault.deactivated', 'vault.reactivated', 'vault.deactivated']);
  await makeEvent('reactivate');
  running.child.kill('SIGTERM');
  assert.equal(await running.exited, 0);
  assert.equal(running.stderr(), '');
});

test('listen from the beginning prints the envelopes of the feed, and ends with Ctrl-C', async () => {
  settings = { ...settings, HOLDFAST_URL: service.url, HOLDFAST_API_KEY: service.key };
  await makeEvent('deactivate');
  await makeEvent('reactivate');
  const { stdout } = await logIn('--json');
  assert.ok(stdout);
  listening = await startHoldfast(settings, /vault\.reactivated/, 'listen', '--json', '--since-beginning');
  const running = listening;
  const { json } = await service.call('GET', '/api-v1/platform/events?limit=100', { key: service.key });
  const printed = await waitUntil(() => {
    const lines = running.stdout().trim().split('\n');
    return lines.length >= json.length ? lines : null;
  });
  assert.deepEqual(
    printed.map((line) => JSON.parse(line)),
    json,
  );
  running.child.kill('SIGINT');
  assert.equal(await running.exited, 0);
});

test('listen ends with the reason when its key is revoked, and when it may not listen', async () => {
  const made = await service.call('POST', '/api-v1/platform/api-keys', {
    key: service.key,
    body: { name: 'k', scopes: ['events:read'] },
  });
  const { id, key } = made.json;
  settings = { ...settings, HOLDFAST_URL: proxy.url, HOLDFAST_API_KEY: key };
  const running = await listen();
  await service.call('DELETE', `/api-v1/platform/api-keys/${id}`, { key: service.key });
  assert.equal(await running.exited, 1);
  assert.match(running.stderr(), /key/i);
  assert.ok(!running.stderr().includes(key));

  const refused = await command({ ...settings, HOLDFAST_API_KEY: '' }, 'listen', '--url', proxy.url);
  assert.match(refused.stderr, /HOLDFAST_API_KEY/);
  const unknown = await command(settings, 'listen', '--profile', 'none');
  assert.match(unknown.stderr, /There is no profile none\./);
  const both = await command(settings, 'listen', '--profile', 'none', '--workspace', 'default');
  assert.match(both.stderr, /--workspace is for the database/);
});

test('trigger sends a signed sample event of a type, without a service', async () => {
  const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
  const args = ['trigger', 'record.anchor.confirmed', '--forward-to', receiver.url, '--secret', secret];
  const sent = await command(settings, ...args, '--json');
  assert.equal(sent.code, 0, sent.stderr);
  const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
  const event = new Webhook(secret).verify(body, headers as Record<string, string>) as Record<string, object>;
  assert.deepEqual(
    Object.keys(event.data ?? {}),
    Object.keys(eventCatalogue['record.anchor.confirmed'].data),
  );
  const { delivered, statusCode, event: told } = JSON.parse(sent.stdout);
  assert.deepEqual([delivered, statusCode, told], [true, 204, event]);

  receiver.answer = (response) => response.writeHead(500).end();
  const failed = await command(settings, ...args);
  assert.equal(failed.code, 1);
  assert.match(failed.stdout, /failed after \d+ ms: The receiver answered 500\./);
  assert.match(
    (await command(settings, 'trigger', 'no.such', ...args.slice(2))).stderr,
    /Allowed choices are/,
  );
});

test('completion in bash knows commands, options and their values', async () => {
  const { stdout: script } = await command(settings, 'completion', 'bash');
  const complete = (...words: string[]) =>
    new Promise<string[]>((resolve, reject) => {
      const code = `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _holdfast; echo "\${COMPREPLY[*]}"`;
      execFile('bash', ['-c', code, 'bash', 'holdfast', ...words], (error, stdout) =>
        error ? reject(error) : resolve(stdout.trim().split(' ')),
      );
    });
  assert.deepEqual(await complete('lis'), ['listen']);
  assert.deepEqual(await complete('keys', ''), ['create', 'list', 'revoke']);
  assert.deepEqual(await complete('keys', 'create', '--n'), ['--name']);
  assert.deepEqual(await complete('trigger', 'vault.'), ['vault.deactivated', 'vault.reactivated']);
  assert.deepEqual(await complete('keys', 'list', '--output', ''), ['table', 'json']);
  assert.deepEqual(await complete('keys', 'create', '--name', ''), [''], 'anything');
});
