/** Ordered endpoints: the events of each resource arrive one after the other, whatever is killed. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, afterEach, before, test } from 'node:test';
import pg from 'pg';
import { newId } from '../../src/runtime/ids.ts';
import { certificate, type Receiver, startReceiver } from '../support/clients/receiver.ts';
import { longOnly } from '../support/service/long.ts';
import { type RunningService, serve, waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const base = '/api-v1/platform/webhooks';
const settings = {
  HOLDFAST_MASTER_KEY: randomBytes(32).toString('hex'),
  HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8',
  HOLDFAST_WEBHOOK_CA_FILE: certificate().caFile,
  HOLDFAST_WEBHOOK_RETRY_SCHEDULE: '50ms,50ms,50ms,50ms,50ms',
  HOLDFAST_CHAIN_RPC_URLS: 'http://127.0.0.1:9',
};

let service: Service;
let workspaceId: string;
const receivers: Receiver[] = [];
before(async () => {
  service = await startService({ env: settings, runLoops: false });
  const { rows } = await service.sql("select id from workspaces where slug = 'default'");
  workspaceId = rows[0].id;
});
after(() => service.close());
afterEach(async () => {
  for (const { id } of (await service.call('GET', `${base}/endpoints`)).json)
    await service.call('DELETE', `${base}/endpoints/${id}`);
  for (const receiver of receivers.splice(0)) await receiver.close();
});

interface Arrival {
  resource: string;
  number: number;
}

async function receive(): Promise<{ receiver: Receiver; arrivals: Arrival[]; seen: Set<string> }> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  const arrivals: Arrival[] = [];
  const seen = new Set<string>();
  const answer = receiver.answer;
  receiver.answer = (response, one) => {
    const { type, data } = JSON.parse(one.body);
    receiver.received.length = 0;
    if (type === 'webhook.test') return answer(response, one);
    arrivals.push({ resource: data.vault_id, number: data.number });
    seen.add(`${data.vault_id} ${data.number}`);
    // Some attempts fail, and are made again.
    if (arrivals.length % 97 === 0) return response.writeHead(500).end();
    return answer(response, one);
  };
  return { receiver, arrivals, seen };
}

async function subscribe(receiver: Receiver, body: object = {}): Promise<string> {
  const made = await service.call('POST', `${base}/endpoints`, {
    body: { url: receiver.url, eventTypes: ['vault.*'], ordering: 'resource', ...body },
  });
  assert.equal(made.status, 201, made.text);
  return made.json.id;
}

/** As the service writes them, with a number that counts the events of each vault. */
async function makeEvents(from: number, to: number, vaults: number): Promise<void> {
  const rows = Array.from({ length: to - from }, (_, n) => {
    const id = newId('evt');
    const at = new Date().toISOString();
    const data = { vault_id: `vlt_${(from + n) % vaults}`, number: Math.floor((from + n) / vaults) };
    const type = 'vault.deactivated';
    const envelope = JSON.stringify({ id, type, timestamp: at, workspace_id: workspaceId, data });
    return { id, at, type, envelope };
  });
  await service.sql(
    `insert into events (workspace_id, id, type, envelope, created_at)
     select $1, id, type, envelope, at from json_to_recordset($2) as r (id text, type text, envelope text, at timestamptz)`,
    [workspaceId, JSON.stringify(rows)],
  );
}

/** Repeats are allowed, as delivery is at least once; a step back is not. */
function assertInOrder(arrivals: Arrival[]): void {
  const last = new Map<string, number>();
  for (const { resource, number } of arrivals) {
    const before = last.get(resource) ?? 0;
    assert.ok(number === before || number === before + 1, `${resource}: ${number} came after ${before}`);
    last.set(resource, number);
  }
}

const isLong = longOnly === false;
const count = isLong ? 24_000 : 3_000;
const vaults = isLong ? 400 : 100;
/** A node is killed when this share has arrived: the others of a batch are then in every state on their way. */
const killedAt = isLong ? [0.1, 0.25, 0.4, 0.55, 0.7, 0.85] : [0.2, 0.5, 0.8];

test('no event overtakes an earlier one of its resource while nodes are killed', {
  timeout: 3_600_000,
}, async () => {
  const { receiver, arrivals, seen } = await receive();
  const endpointId = await subscribe(receiver);
  const start = () =>
    serve({ ...settings, DATABASE_URL: service.databaseUrl, HOLDFAST_DATA_DIR: service.config.dataDir });
  const nodes: RunningService[] = [await start(), await start()];
  try {
    for (let made = 0; made < count; made += 500) await makeEvents(made, made + 500, vaults);
    for (const part of killedAt) {
      await waitUntil(() => seen.size >= count * part, 1_800_000);
      const killed = nodes.shift();
      killed?.child.kill('SIGKILL');
      await killed?.exited;
      nodes.push(await start());
    }
    await waitUntil(() => seen.size === count, 1_800_000);
    await waitUntil(async () => {
      const { rows } = await service.sql('select count(*)::integer as open from webhook_queue');
      return rows[0].open === 0;
    });
  } finally {
    for (const { child } of nodes) child.kill('SIGKILL');
    await Promise.all(nodes.map(({ exited }) => exited));
  }
  assertInOrder(arrivals);
  const { rows } = await service.sql(
    'select status, count(*)::integer as count from webhook_deliveries where endpoint_id = $1 and type <> $2 group by 1',
    [endpointId, 'webhook.test'],
  );
  assert.deepEqual(rows, [{ status: 'succeeded', count }], 'none was lost or given up');
});

test('a failing delivery holds up its own resource only, until it has succeeded or failed for good', async () => {
  const { receiver, arrivals } = await receive();
  const endpointId = await subscribe(receiver);
  receiver.answer = (response, { body }) => {
    const { type, data } = JSON.parse(body);
    if (type !== 'webhook.test') arrivals.push({ resource: data.vault_id, number: data.number });
    response.writeHead(data.vault_id === 'vlt_0' && data.number === 0 ? 500 : 204).end();
  };
  await makeEvents(0, 9, 3);
  service.app.loops.start();
  const statusesOf = async () =>
    (await service.call('GET', `${base}/deliveries?endpointId=${endpointId}`)).json
      .filter(({ type }: { type: string }) => type !== 'webhook.test')
      .map(({ status }: { status: string }) => status)
      .sort();
  await waitUntil(async () => {
    const statuses: string[] = await statusesOf();
    return statuses.length === 9 && statuses.every((status) => /ed$/.test(status));
  });
  assert.deepEqual(await statusesOf(), ['failed', ...Array(8).fill('succeeded')]);
  const first = arrivals.filter(({ resource }) => resource === 'vlt_0').map(({ number }) => number);
  assert.deepEqual(first, [0, 0, 0, 0, 0, 0, 1, 2]);
  const sixth = arrivals.findIndex(({ resource, number }) => resource === 'vlt_0' && number === 1);
  const others = arrivals.slice(0, sixth).filter(({ resource }) => resource !== 'vlt_0');
  assert.equal(others.length, 6, 'the others did not wait');
  assertInOrder(arrivals.filter(({ resource }) => resource !== 'vlt_0'));
});

test('a delivery that waits for an earlier one cannot be sent before it', async () => {
  const { receiver, arrivals } = await receive();
  const endpointId = await subscribe(receiver);
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  receiver.answer = (response, { body }) => {
    const { data } = JSON.parse(body);
    arrivals.push({ resource: data.vault_id, number: data.number });
    void opened.then(() => response.writeHead(204).end());
  };
  await makeEvents(0, 2, 1);
  const waiting = await waitUntil(async () => {
    const { json } = await service.call('GET', `${base}/deliveries?endpointId=${endpointId}&status=pending`);
    return arrivals.length === 1 && json.length === 1 ? json[0] : null;
  });
  assert.equal(waiting.nextAttemptAt, null);
  const retried = await service.call('POST', `${base}/deliveries/${waiting.id}/retry`);
  assert.equal(retried.status, 409, retried.text);
  assert.match(retried.json.message, /waits for an earlier one/);
  open();
  await waitUntil(() => arrivals.length === 2);
});

test('turning the order on and off loses and repeats nothing', async () => {
  const { receiver, seen, arrivals } = await receive();
  const endpointId = await subscribe(receiver, { ordering: 'none' });
  const order = async (ordering: string) => {
    const { json, text } = await service.call('PATCH', `${base}/endpoints/${endpointId}`, {
      body: { ordering },
    });
    assert.equal(json.ordering, ordering, text);
  };
  for (const [round, ordering] of ['resource', 'none', 'resource', 'none'].entries()) {
    const making = makeEvents(round * 200, round * 200 + 100, 10);
    await order(ordering);
    await making;
    await makeEvents(round * 200 + 100, round * 200 + 200, 10);
  }
  await waitUntil(() => seen.size === 800);
  await waitUntil(async () => {
    const { rows } = await service.sql('select count(*)::integer as open from webhook_queue');
    return rows[0].open === 0;
  });
  const { rows } = await service.sql(
    'select count(*)::integer as made from webhook_deliveries where endpoint_id = $1 and type <> $2',
    [endpointId, 'webhook.test'],
  );
  assert.equal(rows[0].made, 800);
  assert.ok(arrivals.length >= 800);
});

test('order costs little work', { skip: longOnly, timeout: 600_000 }, async (t) => {
  const measured = 4_000;
  const { mock } = t.mock.method(pg.Client.prototype, 'query');
  /** Of the service and the receiver, which share this process, for each event. */
  const cpuMicros: Record<string, number[]> = { none: [], resource: [] };
  const statements: Record<string, number[]> = { none: [], resource: [] };
  service.app.loops.start();
  for (const ordering of ['none', 'resource', 'none', 'resource', 'none', 'resource']) {
    const { receiver } = await receive();
    let arrived = 0;
    receiver.answer = (response, { body }) => {
      receiver.received.length = 0;
      if (!body.includes('webhook.test')) arrived += 1;
      response.writeHead(204).end();
    };
    const endpointId = await subscribe(receiver, { ordering });
    const [askedBefore, usedBefore] = [mock.callCount(), process.cpuUsage()];
    for (let made = 0; made < measured; made += 500) await makeEvents(made, made + 500, 1_000);
    await waitUntil(() => arrived >= measured, 300_000);
    const used = process.cpuUsage(usedBefore);
    statements[ordering]?.push((mock.callCount() - askedBefore) / measured);
    cpuMicros[ordering]?.push((used.user + used.system) / measured);
    mock.resetCalls();
    await service.call('DELETE', `${base}/endpoints/${endpointId}`);
  }
  const least = (all: number[] = []) => Math.min(...all);
  const told = ([name, { none = [], resource = [] }]: [string, typeof statements]) =>
    `${name}: ${none.map((one) => one.toFixed(2)).join(' ')}, in order ${resource.map((one) => one.toFixed(2)).join(' ')}`;
  const [asked, used] = Object.entries({ statements, cpuMicros }).map(told);
  t.diagnostic(`For each event: ${asked}; ${used}`);
  // One is for dozens of them; the more arrive at once, the fewer.
  assert.ok(least(statements.resource) <= 0.5, asked);
  assert.ok(least(cpuMicros.resource) <= 1.3 * least(cpuMicros.none), used);
});
