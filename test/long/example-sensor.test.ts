/** The cold-chain sensor: it loses no reading and stores none twice, whatever breaks, and its proof verifies. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { linkClients } from '../support/clients/client-links.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const readings = 45;

let service: Service;
let scratch: string;
before(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'holdfast-sensor-'));
  cpSync(join(import.meta.dirname, '../../examples/cold-chain-sensor'), join(scratch, 'sensor'), {
    recursive: true,
  });
  linkClients(join(scratch, 'sensor'));
  service = await startService({ chain: true, env: { HOLDFAST_ANCHOR_INTERVAL_MS: '200' } });
});
after(async () => {
  await service?.close();
  rmSync(scratch, { recursive: true, force: true });
});

interface Relay {
  url: string;
  /** What happens to connections. */
  mode: 'open' | 'away' | 'loses answers';
  lost: number;
  server: Server;
}

/** Between the sensor and the service. */
async function startRelay(): Promise<Relay> {
  const target = new URL(service.url);
  const server = createServer((socket: Socket) => {
    if (relay.mode === 'away') return void socket.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    socket.on('error', () => upstream.destroy()).pipe(upstream);
    upstream.on('error', () => socket.destroy());
    upstream.on('data', (bytes) => {
      if (relay.mode === 'loses answers' && String(bytes).startsWith('HTTP/1.1 20')) {
        relay.lost += 1;
        relay.mode = 'open';
        socket.destroy();
        upstream.destroy();
      } else socket.write(bytes);
    });
    upstream.on('close', () => socket.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const relay: Relay = { url, mode: 'open', lost: 0, server };
  return relay;
}

interface Run {
  said(): string;
  ended: Promise<number | null>;
  kill(): void;
}

function startSensor(url: string, key: string, out: string): Run {
  const child = spawn(process.execPath, ['sensor.js'], {
    cwd: join(scratch, 'sensor'),
    env: {
      PATH: process.env.PATH,
      HOLDFAST_URL: url,
      HOLDFAST_API_KEY: key,
      READINGS: String(readings),
      INTERVAL_MS: '20',
      PAUSE_MS: '50',
      OUT_DIR: out,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (more) => (text += more));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { said: () => text, ended, kill: () => child.kill('SIGKILL') };
}

async function storedNumbers(key: string): Promise<number[]> {
  const { json } = await service.call('GET', '/api-v1/platform/records?limit=1000', { key });
  const ids: { externalId: string }[] = json;
  return ids.map(({ externalId }) => Number(externalId.split('/').at(-1))).sort((a, b) => a - b);
}

test('a trip through dead zones, lost answers and a power failure is stored once and proved', async (t) => {
  const relay = await startRelay();
  t.after(() => relay.server.close());
  const key = await service.makeKey({ newWorkspace: true });
  const out = join(scratch, 'trip');
  relay.mode = 'away';
  const first = startSensor(relay.url, key, out);
  await waitUntil(() => first.said().includes('readings from 0 on wait'));
  // The vault is made, and its answer lost.
  relay.mode = 'loses answers';
  await waitUntil(() => first.said().includes('stored readings 0 to 19'));
  assert.equal(relay.lost, 1);
  relay.mode = 'loses answers';
  await waitUntil(() => relay.lost === 2);
  first.kill();
  await first.ended;

  const second = startSensor(relay.url, key, out);
  assert.equal(await second.ended, 0, second.said());
  assert.match(second.said(), /proof: pass/);
  assert.match(second.said(), /\d+ of 45 readings above -15 °C/);
  assert.deepEqual(
    await storedNumbers(key),
    Array.from({ length: readings }, (_, n) => n),
  );
  const { json: vaults } = await service.call('GET', '/api-v1/platform/vaults', { key });
  assert.equal(vaults.length, 1);
  for (const name of ['proof.json', 'content.json']) assert.ok(existsSync(join(out, name)), name);
  assert.ok(!existsSync(join(out, 'trip.json')), 'the next start is a new trip');
});

test('a key that may not store readings ends the sensor, and the readings stay', async () => {
  const key = await service.makeKey({ scopes: ['records:read'] });
  const out = join(scratch, 'refused');
  const sensor = startSensor(service.url, key, out);
  assert.notEqual(await sensor.ended, 0);
  assert.match(sensor.said(), /does not have the scope/);
  assert.ok(existsSync(join(out, 'readings.jsonl')));
});
