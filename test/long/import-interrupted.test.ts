/** An import of 20,000 lines that is interrupted in every way: killed, cut off, throttled, and with the service replaced. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { environment } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const main = join(import.meta.dirname, '../../src/main.ts');
const route = '/api-v1/platform/records/batch';
const lines = 20_000;
/** Both services open the same secrets. */
const env = { HOLDFAST_RATE_LIMIT: 'off', HOLDFAST_MASTER_KEY: '07'.repeat(32) };

let service: Service;
let gateway: Gateway;
let folder: string;
let file: string;
let vault: string;
const started: ChildProcess[] = [];

before(async () => {
  service = await startService({ env });
});
after(() => service.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-import-'));
  file = join(folder, 'many.csv');
  const rows = Array.from({ length: lines }, (_, at) => `id-${at},"note, of ${at}",${at % 97}\n`);
  await writeFile(file, `id,note,pallets\n${rows.join('')}`);
  const body = { name: 'v' };
  vault = (await service.call('POST', '/api-v1/platform/vaults', { key: service.key, body })).json.address;
  gateway = await startGateway();
});
afterEach(async () => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  await gateway.close();
  await rm(folder, { recursive: true });
});

interface Gateway {
  url: string;
  target(): string;
  /** Batches that arrived here, and those that were answered. */
  asked: number;
  answered: number;
  keys: string[];
  /** Called with each batch; true: it has answered. */
  instead: (response: ServerResponse) => boolean | Promise<boolean>;
  /** Called before the answer of the service is passed on; true: it is not. */
  withheld: (response: ServerResponse) => boolean;
  close(): Promise<void>;
}

async function startGateway(): Promise<Gateway> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => null);
    if (body === null) return;
    const isBatch = request.url === route && body.length > 2;
    if (isBatch) {
      made.asked += 1;
      made.keys.push(String(request.headers['idempotency-key']));
      if (await made.instead(response)) return;
    }
    try {
      const answer = await fetch(`${made.target()}${request.url}`, {
        method: request.method ?? 'GET',
        headers: request.headers as Record<string, string>,
        ...(request.method === 'POST' && { body }),
      });
      const content = await answer.text();
      if (isBatch) made.answered += 1;
      if (isBatch && made.withheld(response)) return;
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(content);
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const made: Gateway = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: () => service.url,
    ...{ asked: 0, answered: 0, keys: [] },
    instead: () => false,
    withheld: () => false,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return made;
}

interface Ended {
  code: number | string;
  stdout: string;
  stderr: string;
}

function start(...args: string[]): { child: ChildProcess; ended: Promise<Ended> } {
  const settings = { XDG_CONFIG_HOME: folder, HOLDFAST_URL: gateway.url, HOLDFAST_API_KEY: service.key };
  const all = ['import', 'records', file, '--vault', vault, '--external-id', 'id', ...args];
  const child = spawn(process.execPath, [main, ...all], {
    env: environment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  const ended = Promise.all([
    new Promise<number | string>((resolve) =>
      child.on('close', (code, signal) => resolve(code ?? signal ?? '')),
    ),
    text(child.stdout),
    text(child.stderr),
  ]).then(([code, stdout, stderr]) => ({ code, stdout, stderr }));
  return { child, ended };
}

/** Every line once, each with its own content, and as the report says. */
async function requireAll(): Promise<void> {
  const report = join(folder, 'report.jsonl');
  const { ended } = start('--report', report);
  const { code, stdout, stderr } = await ended;
  assert.equal(code, 0, stderr);
  assert.equal(stdout, '20,000 records are imported, 0 refused.\n');
  const { rows } = await service.sql(
    `select r.external_id, l.subject_id from anchor_leaves l
     join lateral (select l.external_id) r on true
     join vaults v on v.id = l.vault_id where lower(v.address) = lower($1)`,
    [vault],
  );
  assert.equal(rows.length, lines);
  const ids = new Map(rows.map(({ external_id, subject_id }) => [external_id, subject_id]));
  assert.equal(ids.size, lines);
  const told = (await readFile(report, 'utf8')).trim().split('\n');
  assert.equal(told.length, lines);
  told.forEach((line, at) => {
    const { line: number, id, status } = JSON.parse(line);
    assert.deepEqual([number, status, id], [at + 2, 'created', ids.get(`id-${at}`)]);
  });
}

test('killed again and again, with answers that were never seen, it makes every record once', async () => {
  for (const at of [1, 5, 9, 13]) {
    let child: ChildProcess | null = null;
    gateway.withheld = () => gateway.answered >= at && Boolean(child?.kill('SIGKILL'));
    const run = start();
    child = run.child;
    assert.equal((await run.ended).code, 'SIGKILL');
  }
  assert.ok(gateway.answered < 20, `${gateway.answered} of 20 batches`);
  gateway.withheld = () => false;
  await requireAll();
});

test('it waits for a service that is away or asks to wait, and for one that takes its place', async () => {
  const times: number[] = [];
  gateway.instead = (response) => {
    if (gateway.asked === 3) response.destroy();
    else if (gateway.asked === 5 || gateway.asked === 6) {
      times.push(performance.now());
      const status = gateway.asked === 5 ? 429 : 503;
      response.writeHead(status, { 'retry-after': '1', 'content-type': 'application/json' }).end('{}');
    } else return false;
    return true;
  };
  let second: Service | null = null;
  let replacing: Promise<void> | null = null;
  let target = service.url;
  gateway.target = () => target;
  gateway.withheld = (response) => {
    if (gateway.answered !== 9) return false;
    // Its answer is lost, and until the other one serves nobody answers.
    target = 'http://127.0.0.1:2';
    replacing = startService({ databaseUrl: service.databaseUrl, env }).then((started) => {
      second = started;
      target = started.url;
    });
    response.destroy();
    return true;
  };
  const { code, stderr } = await start('--concurrency', '2').ended;

  await replacing;
  await (second as Service | null)?.close();
  target = service.url;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /Trying again\./);
  assert.match(stderr, /The service is available again\./);
  assert.equal(times.length, 2);
  await requireAll();
});

test('an interrupt finishes what was sent, and a service that stays away ends the import', async () => {
  const run = start();
  gateway.withheld = () => {
    if (gateway.answered === 4) run.child.kill('SIGINT');
    return false;
  };
  const interrupted = await run.ended;
  assert.equal(interrupted.code, 1);
  assert.match(
    interrupted.stdout,
    /Not finished: It was interrupted\. Run the same command again to continue\./,
  );
  assert.ok(gateway.asked < 12, `${gateway.asked} batches`);

  gateway.instead = (response) => {
    response.destroy();
    return true;
  };
  const away = await start('--give-up-after', '1', '--json').ended;
  assert.equal(away.code, 1);
  const { created, complete, stopped } = JSON.parse(away.stdout);
  assert.deepEqual([created >= 4_000, created < lines, complete], [true, true, false]);
  assert.match(stopped, /cannot be reached/);
  gateway.instead = () => false;
  await requireAll();
});

test('what the service refuses in a batch is found, and the rest of it goes in', async () => {
  // As if the service had a rule that the command does not know.
  const refuse = new Set(['id-4321', 'id-19999']);
  const server = gateway;
  const bodies: string[] = [];
  server.withheld = () => false;
  server.instead = () => false;
  await gateway.close();
  const strict = createServer(async (request, response) => {
    const body = (await buffer(request)).toString();
    const names = [...body.matchAll(/"externalId":"([^"]+)"/g)].map(([, id = '']) => id);
    const bad = names.find((id) => refuse.has(id));
    if (bad !== undefined) {
      bodies.push(body);
      const message = `records[${names.indexOf(bad)}].externalId is not liked.`;
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ message, errorCode: 'invalid_request' }));
      return;
    }
    const answer = await fetch(`${service.url}${request.url}`, {
      method: request.method ?? 'GET',
      headers: request.headers as Record<string, string>,
      ...(request.method === 'POST' && { body }),
    });
    const content = await answer.text();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(content);
  });
  await new Promise<void>((resolve) => strict.listen(0, '127.0.0.1', resolve));
  gateway = { ...server, url: `http://127.0.0.1:${(strict.address() as AddressInfo).port}` };
  gateway.close = () =>
    new Promise((resolve) => {
      strict.close(() => resolve());
      strict.closeAllConnections();
    });
  const { code, stdout, stderr } = await start().ended;
  assert.equal(code, 1);
  assert.equal(stdout, '19,998 records are imported, 2 refused.\n');
  assert.match(stderr, /^Line 4323: records\[0\]\.externalId is not liked\.\nLine 20001: /);
  assert.ok(bodies.length < 30, `${bodies.length} refusals`);
  refuse.clear();
  await requireAll();
});
