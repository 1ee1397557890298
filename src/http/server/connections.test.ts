/** How many connections are open at once: fewer than the process may have files, and of each network a share. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { test } from 'node:test';
import { waitUntil } from '../../../test/support/service/process.ts';
import { startService } from '../../../test/support/service/service.ts';
import { type BoundOptions, boundConnections, connectionLimits } from './connections.ts';

test('leaves files for the work of the service, and for what requests open themselves', () => {
  for (const files of [64, 256, 1_024, 65_536, 1_048_576]) {
    const { most, share } = connectionLimits(files);
    assert.ok(most * 2 <= files - Math.min(256, files / 2), `${most} of ${files}`);
    assert.ok(share < most, `${share} of ${most}`);
  }
  assert.deepEqual(connectionLimits(1_024), { most: 384, share: 96 });
});

test('a service is bounded by the limit of its process', async () => {
  const service = await startService({ runLoops: false });
  try {
    assert.equal(service.app.server.http.server.maxConnections, connectionLimits().most);
  } finally {
    await service.close();
  }
});

async function bounded(options: Partial<BoundOptions>) {
  const warnings: unknown[] = [];
  const log = { warn: (fields: unknown) => warnings.push(fields) } as never;
  const server: Server = createServer((socket) => socket.on('error', () => {}).write('hello'));
  boundConnections(server, { ...{ most: 6, share: 3, trustProxy: false, log }, ...options });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  return {
    warnings,
    /** Whether it stays open, from this address. */
    async reach(localAddress: string): Promise<Socket | null> {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      sockets.push(socket);
      const [first] = await Promise.race([
        once(socket, 'data').then(() => [socket]),
        once(socket, 'close').then(() => [null]),
      ]).catch(() => [null]);
      return first ?? null;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

test('a network has no more than its share, others go on, and what it closes makes room', async () => {
  const line = await bounded({});
  try {
    const first = await line.reach('127.0.0.1');
    assert.ok(first);
    for (let more = 0; more < 2; more += 1) assert.ok(await line.reach('127.0.0.1'));
    assert.equal(await line.reach('127.0.0.1'), null);
    assert.equal(await line.reach('127.0.0.1'), null);
    assert.ok(await line.reach('127.0.0.2'));
    assert.deepEqual(line.warnings, [{ network: '127.0.0.1', most: 6, share: 3 }], 'once a minute');
    first.destroy();
    await waitUntil(async () => (await line.reach('127.0.0.1')) !== null);
  } finally {
    await line.close();
  }
});

test('all together have no more than there are, and a trusted proxy has no share', async () => {
  for (const trustProxy of [1, ['10.0.0.0/8', '127.0.0.0/8']]) {
    const line = await bounded({ trustProxy });
    try {
      for (let place = 0; place < 6; place += 1) assert.ok(await line.reach('127.0.0.1'));
      assert.equal(await line.reach('127.0.0.2'), null);
    } finally {
      await line.close();
    }
  }
});
