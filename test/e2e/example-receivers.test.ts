/** The receivers with Express and FastAPI: events handled once by their inboxes, and behind a real service by the whole. */
// tier: process
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { createSigner, newWebhookSecret } from '../../src/webhooks/exchange/signature.ts';
import { pythonClients } from '../support/clients/client-links.ts';
import { copyExample, startExample } from '../support/clients/example-copy.ts';
import { needs, pathOf } from '../support/programs/needs.ts';
import { longOnly } from '../support/service/long.ts';
import { waitUntil } from '../support/service/process.ts';
import { startService } from '../support/service/service.ts';

const root = join(import.meta.dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'holdfast-receivers-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

const endpoints = '/api-v1/platform/webhooks/endpoints';

interface Inbox {
  store(event: object): boolean;
  workOn(): Promise<void>;
}

async function openInbox(file: string, work: (event: { id: string }) => Promise<void>): Promise<Inbox> {
  const { openInbox } = await import(join(root, 'examples/express-receiver/inbox.js'));
  return openInbox(file, work);
}

const newEvent = () => ({ id: `evt_${randomUUID()}`, type: 'vault.deactivated', data: {} });

test('the inbox of the Express receiver hands on each event once, also after a crash', async () => {
  const file = join(scratch, 'express.sqlite');
  const [first, second] = [newEvent(), newEvent()];
  const begun: string[] = [];
  const crashing = await openInbox(file, async ({ id }) => {
    begun.push(id);
    await new Promise(() => {});
  });
  assert.equal(crashing.store(first), true);
  assert.equal(crashing.store(first), false);
  assert.equal(crashing.store(second), true);
  await waitUntil(() => begun.length === 1);

  // Another process, as it were: the job that was not finished, and the one that was not begun.
  const done: string[] = [];
  const restarted = await openInbox(file, async ({ id }) => void done.push(id));
  await restarted.workOn();
  assert.deepEqual(done, [first.id, second.id]);
  assert.equal(restarted.store(second), false);
  await restarted.workOn();
  assert.equal(done.length, 2);
});

needs('python3').test(
  'the inbox of the FastAPI receiver accepts what is signed, and hands it on once',
  () => {
    const secret = newWebhookSecret();
    const sign = createSigner({ serviceName: 'Service', secret, previousSecrets: [] });
    const timestamp = Math.floor(Date.now() / 1000);
    const [one, other] = [newEvent(), newEvent()];
    const body = JSON.stringify(one);
    const headers = sign({ eventId: one.id, body, timestamp });
    const otherBody = JSON.stringify(other);
    const requests = [
      [headers, body],
      [headers, body],
      [headers, `${body} `],
      [{}, body],
      [sign({ eventId: other.id, body: otherBody, timestamp }), otherBody],
      [sign({ eventId: 'x', body: '[]', timestamp }), '[]'],
    ];
    const program = `
import json, sys, threading
from inbox import Inbox, answer
inbox = Inbox(sys.argv[1], lambda event: print("handled", event["id"]))
secret, requests = json.load(sys.stdin)
print([answer(inbox, secret, headers, body.encode()) for headers, body in requests])
inbox.work_on()
Inbox(sys.argv[1], lambda event: print("again", event["id"])).work_on()
new = []
def store():
    new.append(inbox.store({"id": "evt_same", "type": "x"}))
threads = [threading.Thread(target=store) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(new))
`;
    const folder = join(root, 'examples/fastapi-receiver');
    const { stdout, stderr, status } = spawnSync(
      pathOf('python3'),
      ['-B', '-c', program, join(scratch, 'fastapi.sqlite')],
      {
        cwd: folder,
        env: { PATH: process.env.PATH, PYTHONPATH: pythonClients },
        input: JSON.stringify([secret, requests]),
        encoding: 'utf8',
      },
    );
    assert.equal(status, 0, stderr);
    assert.deepEqual(stdout.trim().split('\n'), [
      '[204, 204, 401, 401, 204, 400]',
      `handled ${one.id}`,
      `handled ${other.id}`,
      '[False, False, False, False, False, False, False, True]',
    ]);
  },
);

const started = 'starts with one command, and handles once what the service sends twice';

test(`express-receiver ${started}`, { skip: longOnly }, (t) =>
  handlesOnce(t, 'express-receiver', 'npm start'),
);

needs('python3-fastapi').test(`fastapi-receiver ${started}`, (t) =>
  handlesOnce(t, 'fastapi-receiver', './run.sh'),
);

/** `command`: the one of its README. */
async function handlesOnce(t: TestContext, name: string, command: string): Promise<void> {
  const folder = copyExample(name, scratch);
  const service = await startService({ env: { HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8' } });
  t.after(() => service.close());
  const nowhere = { url: 'http://127.0.0.1:9/', eventTypes: ['vault.*'], enabled: false };
  const { json: endpoint } = await service.call('POST', endpoints, { body: nowhere });

  const { running, match } = await startExample(folder, command, {
    ready: /listening on (http:\S+)/,
    settings: { WEBHOOK_SECRET: endpoint.secret, PORT: '0', DATABASE: join(folder, 'inbox.sqlite') },
  });
  t.after(async () => {
    running.child.kill('SIGTERM');
    await running.exited;
  });
  const url = match[1] ?? '';
  const { json: saved } = await service.call('PATCH', `${endpoints}/${endpoint.id}`, {
    body: { url, enabled: true },
  });
  assert.deepEqual([saved.test.delivered, saved.test.statusCode], [true, 204], JSON.stringify(saved.test));

  const { json: vault } = await service.call('POST', '/api-v1/platform/vaults', { body: { name: 'v' } });
  for (const action of ['deactivate', 'reactivate'])
    await service.call('PATCH', `/api-v1/platform/vaults/${vault.address}/${action}`);
  const lines = (word: string) =>
    running
      .stdout()
      .split('\n')
      .filter((line) => line.startsWith(`handled ${word}`));
  await waitUntil(() => lines('vault.').length === 2);
  const { json: replay } = await service.call('POST', `${endpoints}/${endpoint.id}/replay`, {
    body: { from: '2020-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z' },
  });
  await waitUntil(async () => {
    const { json } = await service.call('GET', `/api-v1/platform/webhooks/replays/${replay.id}`);
    return json.status === 'completed' && json.succeeded === 2;
  });
  await service.call('POST', `${endpoints}/${endpoint.id}/test`);
  await waitUntil(() => lines('webhook.test').length === 2);
  assert.equal(lines('vault.').length, 2);
  for (const [headers, body, status] of [
    [{}, '{}', 401],
    [{ 'content-type': 'application/json' }, '{"id":', 401],
    [{}, 'x'.repeat(1024 * 1024 + 1), 413],
  ] as [Record<string, string>, string, number][]) {
    const answer = await fetch(url, { method: 'POST', headers, body });
    assert.equal(answer.status, status);
  }
}
