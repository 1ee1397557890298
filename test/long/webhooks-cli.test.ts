/** `holdfast webhooks` and `holdfast listen` as real processes beside a running service. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { certificate, type Receiver, startReceiver } from '../support/clients/receiver.ts';
import { command } from '../support/service/commands.ts';
import { createTestDatabase, withClient } from '../support/service/database.ts';
import {
  holdfast,
  type RunningProcess,
  type Settings,
  startHoldfast,
  waitUntil,
} from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let settings: Settings;
let receiver: Receiver;
let vault: string;
let listening: RunningProcess | null = null;

before(async () => {
  const env = {
    HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8',
    HOLDFAST_WEBHOOK_CA_FILE: certificate().caFile,
    HOLDFAST_SERVICE_NAME: 'Acme',
  };
  service = await startService({ env });
  settings = { ...env, DATABASE_URL: service.databaseUrl, HOLDFAST_DATA_DIR: service.config.dataDir };
  vault = await makeVault(service.key);
});
after(() => service.close());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  listening?.child.kill('SIGKILL');
  await listening?.exited;
  listening = null;
  await receiver.close();
});

async function makeVault(key: string): Promise<string> {
  return (await service.call('POST', '/api-v1/platform/vaults', { key, body: { name: 'v' } })).json.address;
}

/** One event, and the next one of the other kind. */
async function makeEvent(move: 'deactivate' | 'reactivate', key = service.key, address = vault) {
  const { status } = await service.call('PATCH', `/api-v1/platform/vaults/${address}/${move}`, { key });
  assert.equal(status, 200);
}

async function listen(...args: string[]): Promise<RunningProcess> {
  listening = await startHoldfast(settings, /Press Ctrl-C to stop/, 'listen', ...args);
  return listening;
}

function query(text: string, values: unknown[] = []) {
  return withClient({ connectionString: service.databaseUrl }, async (client) => {
    return (await client.query(text, values)).rows;
  });
}

function withoutStack(text: string): void {
  assert.doesNotMatch(text, /\n\s+at /);
}

const countEndpoints = async () => (await query('select count(*)::int as n from webhook_endpoints'))[0].n;

test('an endpoint created on the command line is tested, and the running service delivers to it', async () => {
  const made = await holdfast(
    settings,
    'webhooks',
    'create',
    ...['--url', receiver.url, '--events', 'vault.deactivated, vault.reactivated,vault.deactivated'],
    ...['--description', 'Grüße', '--rate-limit', '50', '--json'],
  );
  assert.equal(made.code, 0, made.stderr);
  const { id, secret, test: outcome, ...rest } = JSON.parse(made.stdout);
  assert.deepEqual(rest, {});
  assert.equal(outcome.delivered, true);
  assert.equal(outcome.statusCode, 204);
  const probe = receiver.received[0];
  assert.equal(JSON.parse(probe?.body ?? '').type, 'webhook.test');
  assert.ok(probe?.headers['x-acme-signature']);

  const shown = (await service.call('GET', `/api-v1/platform/webhooks/endpoints/${id}`)).json;
  assert.deepEqual(shown.eventTypes, ['vault.deactivated', 'vault.reactivated']);
  assert.equal(shown.description, 'Grüße');
  assert.equal(shown.rateLimit, 50);
  await makeEvent('deactivate');
  const { headers, body } = await waitUntil(() => receiver.received[1] ?? null);
  assert.doesNotThrow(() => new Webhook(secret).verify(body, headers as Record<string, string>));
  await makeEvent('reactivate');

  const [audit] = await query(
    "select actor_kind from audit_entries where action = 'webhook_endpoint.create'",
  );
  assert.equal(audit?.actor_kind, 'command');
  const listed = await command(settings, 'webhooks', 'list', '--json');
  assert.deepEqual(JSON.parse(listed.stdout), [shown], 'the list shows what the API shows');
  await service.call('DELETE', `/api-v1/platform/webhooks/endpoints/${id}`);
});

test('saves an endpoint whose test fails, and reports both', async () => {
  receiver.answer = (response) => response.writeHead(500).end();
  const subscription = ['--url', receiver.url, '--events', 'vault.deactivated'];
  const made = await command(settings, 'webhooks', 'create', ...subscription);
  assert.equal(made.code, 0, made.stderr);
  const [id, secret] = made.stdout.split('\n');
  assert.match(id ?? '', /^whe_/);
  assert.match(secret ?? '', /^whsec_/);
  assert.match(
    made.stdout,
    /The test event failed: The receiver answered 500\.\nThe endpoint was saved anyway/,
  );
  const table = await command(settings, 'webhooks', 'list');
  assert.match(table.stdout, new RegExp(`^ID .*\\n${id} +active +vault\\.deactivated +${receiver.url}`));
  const shown = await service.call('GET', `/api-v1/platform/webhooks/endpoints/${id}/secret`);
  assert.equal(shown.json.secret, secret);
  await service.call('DELETE', `/api-v1/platform/webhooks/endpoints/${id}`);
});

test('refuses what the API refuses, with exit code 1, and stores nothing', async () => {
  const stored = await countEndpoints();
  for (const [args, message] of [
    [['--url', 'https://10.0.0.1/', '--events', 'vault.deactivated'], /url: The address is not public/],
    [['--url', 'nonsense', '--events', 'vault.deactivated'], /url: This is not a URL/],
    [['--url', receiver.url, '--events', 'vault.deactivated,vault.gone'], /Unknown: vault\.gone/],
    [['--url', receiver.url, '--events', 'webhook.test'], /Unknown: webhook\.test/],
    [['--url', receiver.url, '--events', ''], /Unknown/],
    [['--url', receiver.url], /--events/],
    [['--url', receiver.url, '--events', 'vault.deactivated', '--rate-limit', '0'], /from 1 to 10000/],
    [
      ['--url', receiver.url, '--events', 'vault.deactivated', '--workspace', 'none'],
      /There is no workspace/,
    ],
  ] as [string[], RegExp][]) {
    const refused = await command(settings, 'webhooks', 'create', ...args);
    assert.equal(refused.code, 1, args.join(' '));
    assert.match(refused.stderr, message);
    assert.equal(refused.stdout, '');
    withoutStack(refused.stderr);
  }
  assert.equal(await countEndpoints(), stored);
  assert.equal(receiver.received.length, 0);
});

test('listen forwards each new event of its workspace with both signatures, and ends cleanly', async () => {
  await makeEvent('deactivate');
  const stranger = await service.makeKey({ newWorkspace: true });
  const strange = await makeVault(stranger);
  // Placed in the feed before listen looks where its tail is.
  await waitUntil(
    async () => (await query('select 1 from placed_events where position is null')).length === 0,
  );

  const running = await listen('--forward-to', receiver.url);
  await makeEvent('deactivate', stranger, strange);
  await makeEvent('reactivate');
  const { headers, body } = await waitUntil(() => receiver.received[0] ?? null);
  const event = JSON.parse(body);
  assert.equal(event.type, 'vault.reactivated', 'neither what was before nor what another workspace does');
  const secret = /signed with (whsec_\S+)/.exec(running.stdout())?.[1] ?? '';
  assert.equal(
    headers['x-acme-signature'],
    `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  );
  assert.doesNotThrow(() => new Webhook(secret).verify(body, headers as Record<string, string>));
  const line = new RegExp(`${event.timestamp}  vault\\.reactivated  ${event.id}\n  204 in \\d+ ms\n`);
  await waitUntil(() => line.test(running.stdout()));

  running.child.kill('SIGINT');
  assert.equal(await running.exited, 0);
  assert.equal(running.stderr(), '');
  assert.equal(receiver.received.length, 1);
});

test('listen continues after a failed forward, and stops at once during one', async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const running = await listen('--forward-to', receiver.url, '--secret', secret);
  receiver.answer = (response) => response.writeHead(500).end();
  await makeEvent('deactivate');
  await waitUntil(() => /failed after \d+ ms: The receiver answered 500\./.test(running.stdout()));

  receiver.answer = () => {};
  await makeEvent('reactivate');
  const { headers, body } = await waitUntil(() => receiver.received[1] ?? null);
  assert.doesNotThrow(() => new Webhook(secret).verify(body, headers as Record<string, string>));
  running.child.kill('SIGTERM');
  assert.equal(await running.exited, 0);
  // The answer never comes, and what waits for it says after its time that there was none.
  assert.doesNotMatch(running.stdout(), /No complete response/, 'it did not wait for the answer');
});

test('with --json standard output has exactly the envelopes of the requested types', async () => {
  const running = await listen('--json', '--since-beginning', '--events', 'vault.reactivated');
  await makeEvent('deactivate');
  await makeEvent('reactivate');
  const { workspace_id: workspaceId } = (await service.call('GET', '/api-v1/platform/events')).json[0];
  const envelopes = await waitUntil(async () => {
    const rows = await query(
      'select envelope from placed_events where workspace_id = $1 and type = $2 and position > 0 order by position',
      [workspaceId, 'vault.reactivated'],
    );
    return running.stdout().split('\n').length > rows.length ? rows.map(({ envelope }) => envelope) : null;
  });
  assert.equal(running.stdout(), `${envelopes.join('\n')}\n`);
  assert.ok(envelopes.length > 1, 'from the beginning');
  running.child.stdout?.destroy();
  await makeEvent('deactivate');
  await makeEvent('reactivate');
  assert.equal(await running.exited, 0, 'nobody reads any more');
});

test('listen reports that the database is unreachable, and continues when it is back', async () => {
  const running = await listen();
  const name = new URL(service.databaseUrl).pathname.slice(1);
  const server = new URL(service.databaseUrl);
  server.pathname = '/postgres';
  const administer = (text: string) =>
    withClient({ connectionString: server.href }, (client) => client.query(text));
  await administer(`alter database ${name} allow_connections false`);
  try {
    await administer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
    await waitUntil(() => /The database is not available \(.+\)\. Trying again\./.test(running.stdout()));
  } finally {
    await administer(`alter database ${name} allow_connections true`);
  }
  await waitUntil(() => running.stdout().includes('The database is available again.'));
  await makeEvent('deactivate');
  await waitUntil(() => /vault\.deactivated {2}evt_/.test(running.stdout()));
  await makeEvent('reactivate');
  running.child.kill('SIGTERM');
  assert.equal(await running.exited, 0);
  withoutStack(running.stderr());
});

test('listen reports that no service runs, and refuses what it cannot use', async () => {
  const quiet = await createTestDatabase();
  try {
    listening = await startHoldfast(
      { ...settings, DATABASE_URL: quiet.url },
      /No service is running/,
      'listen',
    );
    listening.child.kill('SIGTERM');
    assert.equal(await listening.exited, 0);
  } finally {
    await quiet.drop();
  }
  for (const [args, message] of [
    [['--forward-to', 'ftp://127.0.0.1/'], /http or https address/],
    [['--secret', 'whsec_x'], /whsec_ followed by base64/],
    [['--events', 'vault.gone'], /Unknown: vault\.gone/],
    [['--workspace', 'none'], /There is no workspace none/],
  ] as [string[], RegExp][]) {
    const refused = await command(settings, 'listen', ...args);
    assert.equal(refused.code, 1, args.join(' '));
    assert.match(refused.stderr, message);
    withoutStack(refused.stderr);
  }
});
