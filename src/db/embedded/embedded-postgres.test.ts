/** The life cycle of the embedded PostgreSQL: starts, stops, kills, orphans, and shared use. */
// tier: process
import assert from 'node:assert/strict';
import { chmod, rename, stat } from 'node:fs/promises';
import { connect as connectTcp } from 'node:net';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  clusterIn,
  dataDirFactory,
  eventually,
  query,
  scratchDataDir,
  serverPid,
  start,
  startElsewhere,
} from '../../../test/support/fixtures/embedded-postgres-fixture.ts';
import { OperatorError } from '../../runtime/errors.ts';
import { isDatabaseAway } from '../faults.ts';

const newDataDir = dataDirFactory();
const serviceLocks = `select from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock' and granted`;

// Concurrent, since they mostly wait: for the disk, and for a claim to be refused.
describe('embedded PostgreSQL', { concurrency: 3 }, () => {
  test('refuses a second service, and names the pid of the first', async (t) => {
    const dataDir = await newDataDir(t);
    const first = await start(dataDir, { exclusive: true });
    await assert.rejects(start(dataDir, { exclusive: true }), isRefusal(dataDir));
    assert.deepEqual(await query(first.connection(), 'select 1 as one'), [{ one: 1 }]);
    await first.release();
    assert.equal(await serverPid(dataDir), null);
  });

  test('the loop fails if another service took over after the server died', async (t) => {
    const dataDir = await newDataDir(t);
    const first = await start(dataDir, { exclusive: true });
    const pid = await serverPid(dataDir);
    assert.ok(pid);
    process.kill(pid, 'SIGKILL');
    const second = await start(dataDir, { exclusive: true });
    const running = first.loop.run(new AbortController().signal, () => {});
    await assert.rejects(running, isRefusal(dataDir));
    await first.release();
    assert.deepEqual(await query(second.connection(), 'select 1 as one'), [{ one: 1 }]);
    await second.release();
    assert.equal(await serverPid(dataDir), null);
  });

  test('a restart keeps the data, password and port', async (t) => {
    const dataDir = await newDataDir(t);
    const first = await start(dataDir);
    const before = first.connection();
    await query(before, 'create table kept as select 42 as answer');
    await first.release();
    assert.equal(await serverPid(dataDir), null);

    let second = await start(dataDir);
    // Another process may have taken the port in between, but hardly every time.
    for (let tries = 1; second.connection().port !== before.port && tries < 5; tries += 1) {
      before.port = second.connection().port;
      await second.release();
      second = await start(dataDir);
    }
    assert.deepEqual(second.connection(), before);
    assert.deepEqual(await query(second.connection(), 'select answer from kept'), [{ answer: 42 }]);
    const { mode } = await stat(join(dataDir, 'postgres', 'password'));
    assert.equal(mode & 0o777, 0o600);
    await second.release();
    await second.release();
  });

  test('the loop restarts a killed server with its data, and takes the locks again', async (t) => {
    const dataDir = await newDataDir(t);
    const service = await start(dataDir, { exclusive: true });
    const stop = new AbortController();
    let beats = 0;
    const running = service.loop.run(stop.signal, () => {
      beats += 1;
    });
    await query(service.connection(), 'create table kept as select 42 as answer');

    const pid = await serverPid(dataDir);
    assert.ok(pid);
    process.kill(pid, 'SIGKILL');
    const rows = await eventually(async () => {
      const now = await serverPid(dataDir);
      return now !== null && now !== pid && query(service.connection(), 'select answer from kept');
    });
    assert.deepEqual(rows, [{ answer: 42 }]);
    await eventually(async () => (await query(service.connection(), serviceLocks)).length === 1);
    await eventually(async () => beats > 1);

    let returned = false;
    running.then(() => {
      returned = true;
    });
    stop.abort();
    await nextTurn();
    assert.ok(returned, 'the loop returns without waiting for anything');
    await service.release();
    assert.equal(await serverPid(dataDir), null);
  });

  test('starts at once after process and server were both killed', async (t) => {
    const dataDir = await newDataDir(t);
    const other = startElsewhere(t, dataDir);
    await query(await other.ready, 'create table kept as select 42 as answer');
    const pid = await serverPid(dataDir);
    assert.ok(pid);
    await other.kill();
    process.kill(pid, 'SIGKILL');

    const service = await start(dataDir, { exclusive: true });
    assert.notEqual(await serverPid(dataDir), pid);
    assert.deepEqual(await query(service.connection(), 'select answer from kept'), [{ answer: 42 }]);
    await service.release();
  });

  test('only the last user stops the server, whoever started it', async (t) => {
    const dataDir = await newDataDir(t);
    const command = await start(dataDir);
    const service = await start(dataDir, { exclusive: true });
    const pid = await serverPid(dataDir);

    await command.release();
    assert.equal(await serverPid(dataDir), pid);
    const laterCommand = await start(dataDir);
    await service.release();
    assert.equal(await serverPid(dataDir), pid);
    assert.deepEqual(await query(laterCommand.connection(), 'select 1 as one'), [{ one: 1 }]);

    await laterCommand.release();
    assert.equal(await serverPid(dataDir), null);
  });

  test('a user that arrives while the last one stops the server gets a new server', async (t) => {
    const dataDir = await newDataDir(t);
    let user = await start(dataDir);
    for (let round = 0; round < 5; round += 1) {
      const [, next] = await Promise.all([user.release(), start(dataDir)]);
      assert.deepEqual(await query(next.connection(), 'select 1 as one'), [{ one: 1 }]);
      user = next;
    }
    await user.release();
    assert.equal(await serverPid(dataDir), null);
  });

  test('release succeeds when the server is already dead', async (t) => {
    const dataDir = await newDataDir(t);
    const user = await start(dataDir);
    const pid = await serverPid(dataDir);
    assert.ok(pid);
    process.kill(pid, 'SIGKILL');
    await user.release();
    assert.equal(await serverPid(dataDir), null);
  });

  test('release during a restart leaves no server behind', async (t) => {
    const dataDir = await newDataDir(t);
    const service = await start(dataDir, { exclusive: true });
    const pid = await serverPid(dataDir);
    assert.ok(pid);
    process.kill(pid, 'SIGKILL');
    const stop = new AbortController();
    const running = service.loop.run(stop.signal, () => {});
    stop.abort();
    await running;
    await service.release();
    assert.equal(await serverPid(dataDir), null);
  });

  test('connects over a socket in a directory that is closed to other accounts', async (t) => {
    const dataDir = await newDataDir(t);
    const user = await start(dataDir);
    const { host } = user.connection();
    assert.equal(host, clusterIn(dataDir));
    assert.equal((await stat(host)).mode & 0o777, 0o700);
    const [session] = await query(user.connection(), 'select inet_server_addr() as address');
    assert.equal(session?.address, null);
    await user.release();
    await assert.rejects(query(user.connection(), 'select 1'), isDatabaseAway);
  });

  test('connects over TCP when the path of the socket is too long', async (t) => {
    const original = await newDataDir(t);
    const dataDir = await scratchDataDir(t, 'long'.repeat(25));
    await chmod(dirname(dataDir), 0o711);
    await rename(original, dataDir);
    const user = await start(dataDir);
    assert.equal(user.connection().host, '127.0.0.1');
    assert.deepEqual(await query(user.connection(), 'select 1 as one'), [{ one: 1 }]);
    await user.release();
  });

  test('the server listens only on 127.0.0.1 and refuses a wrong password', async (t) => {
    const dataDir = await newDataDir(t);
    const user = await start(dataDir);
    const connection = user.connection();
    const overTcp = { ...connection, host: '127.0.0.1' };
    for (const way of [connection, overTcp]) {
      assert.deepEqual(await query(way, 'select 1 as one'), [{ one: 1 }]);
      await assert.rejects(query({ ...way, password: 'wrong' }, 'select 1'), { code: '28P01' });
    }
    const elsewhere = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ address, scopeid }) => address !== '127.0.0.1' && !scopeid);
    for (const { address } of elsewhere)
      assert.equal(await accepts(address, connection.port), false, address);
    assert.equal(await accepts('127.0.0.1', connection.port), true);
    await user.release();
  });
});

// Not concurrent with the others: it stops the clock of the whole process.
test('a killed process leaves a server that the next one adopts without waiting, and stops', async (t) => {
  const dataDir = await newDataDir(t);
  const other = startElsewhere(t, dataDir);
  const connection = await other.ready;
  await query(connection, 'create table kept as select 42 as answer');
  const pid = await serverPid(dataDir);
  await other.kill();

  // With a stopped clock it would never finish if it waited for time to pass.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const service = await start(dataDir, { exclusive: true });
  t.mock.timers.reset();
  assert.equal(await serverPid(dataDir), pid);
  assert.deepEqual(await query(service.connection(), 'select answer from kept'), [{ answer: 42 }]);
  await service.release();
  assert.equal(await serverPid(dataDir), null);
});

function isRefusal(dataDir: string): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof OperatorError, String(error));
    assert.equal(
      error.message,
      `Another Holdfast service (pid ${process.pid}) already uses the data directory ${dataDir}. ` +
        'Stop it first, or set HOLDFAST_DATA_DIR to another directory for this one.',
    );
    return true;
  };
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTcp({ host, port });
    const answer = (accepted: boolean) => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', () => answer(true)).once('error', () => answer(false));
  });
}
