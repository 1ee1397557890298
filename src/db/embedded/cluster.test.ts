/** Creating and opening the cluster: races, kills in between, leftovers, and unusable data. */
// tier: process
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { appendFile, mkdir, readdir, readFile, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
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

const newDataDir = dataDirFactory();
/** Linux assigns no pid this high. */
const freePid = 4_194_999;

// Concurrent, since they mostly wait for the disk.
describe('cluster', { concurrency: 3 }, () => {
  test('two processes that create the cluster concurrently share one server', async (t) => {
    const dataDir = await scratchDataDir(t);
    const others = [startElsewhere(t, dataDir), startElsewhere(t, dataDir)];
    const [one, two] = await Promise.all(others.map((other) => other.ready));
    assert.deepEqual(one, two);
    assert.deepEqual(await readdir(dataDir), ['postgres']);
  });

  test('a kill during the creation of the cluster does not hinder the next start', async (t) => {
    const dataDir = await killedWhileMaking(t);
    const user = await start(dataDir);
    assert.deepEqual(await query(user.connection(), 'select 1 as one'), [{ one: 1 }]);
    await user.release();
  });

  test('removes leftovers of dead processes, and keeps those of living ones', async (t) => {
    const dataDir = await newDataDir(t);
    const dead = `postgres.init-${freePid}-aaaaaa`;
    const alive = `postgres.init-${process.ppid}-bbbbbb`;
    const ownBefore = `postgres.init-${process.pid}-cccccc`;
    for (const name of [dead, alive, ownBefore])
      await mkdir(join(dataDir, name, 'cluster'), { recursive: true });
    const yesterday = Date.now() / 1000 - 86_400;
    await utimes(join(dataDir, ownBefore), yesterday, yesterday);

    const user = await start(dataDir);
    await user.release();
    assert.deepEqual(await readdir(dataDir), ['postgres', alive]);
  });

  test('leftovers of an old server do not hinder the start', async (t) => {
    const dataDir = await newDataDir(t);
    const pidFile = join(clusterIn(dataDir), 'postmaster.pid');

    await t.test('a postmaster.pid whose pid now belongs to another program of the same user', async () => {
      const { uid, gid } = await stat(clusterIn(dataDir));
      const ids = process.geteuid?.() === 0 ? { uid, gid } : {};
      const foreign = spawn('/bin/sleep', ['600'], { stdio: 'ignore', cwd: '/', ...ids });
      t.after(() => foreign.kill('SIGKILL'));
      await writeFile(
        pidFile,
        `${foreign.pid}\n${clusterIn(dataDir)}\n1700000000\n5432\n\n127.0.0.1\n\nready\n`,
      );
      await startsAndStops(dataDir);
      assert.equal(foreign.exitCode, null);
    });

    await t.test('a postmaster.pid whose pid is unused', async () => {
      await writeFile(pidFile, `${freePid}\n${clusterIn(dataDir)}\n1700000000\n5432\n\n127.0.0.1\n\nready\n`);
      await startsAndStops(dataDir);
    });

    await t.test('the lock of a socket whose pid now belongs to another program', async () => {
      await startsAndStops(dataDir);
      const options = await readFile(join(clusterIn(dataDir), 'postmaster.opts'), 'utf8');
      const port = /"-p" "(\d+)"/.exec(options)?.[1];
      const lock = join(clusterIn(dataDir), `.s.PGSQL.${port}.lock`);
      await writeFile(lock, `${process.pid}\n${clusterIn(dataDir)}\n1700000000\n${port}\n.\n`);
      await startsAndStops(dataDir);
    });

    await t.test('a truncated postmaster.pid', async () => {
      await writeFile(pidFile, '');
      const earlier = Date.now() / 1000 - 60;
      await utimes(pidFile, earlier, earlier);
      await startsAndStops(dataDir);
    });

    await t.test('an oversized server log', async () => {
      const logFile = join(dataDir, 'postgres', 'server.log');
      await truncate(logFile, 11 * 1024 * 1024);
      await startsAndStops(dataDir);
      assert.ok((await stat(logFile)).size < 1024 * 1024);
    });
  });

  test('a copy of a data directory in use gets its own server', async (t) => {
    const original = await newDataDir(t);
    const copy = await scratchDataDir(t);
    const user = await start(original);
    await promisify(execFile)('cp', ['-Rp', join(original, 'postgres'), copy]);
    const other = await start(copy);
    assert.notEqual(other.connection().port, user.connection().port);
    // Not checked by its data_directory: below a closed directory the server sees it at another path.
    await query(other.connection(), 'create table only_there ()');
    const [made] = await query(other.connection(), "select pg_relation_filepath('only_there') as path");
    assert.ok((await stat(join(clusterIn(copy), String(made?.path)))).isFile());
    await other.release();
    const look = "select to_regclass('only_there') as found";
    assert.deepEqual(await query(user.connection(), look), [{ found: null }]);
    await user.release();
  });

  test('refuses unusable data with the reason', async (t) => {
    const dataDir = await newDataDir(t);

    await t.test('a server that does not start: quotes the end of its log', async () => {
      const settings = join(clusterIn(dataDir), 'postgresql.conf');
      const before = await readFile(settings, 'utf8');
      await appendFile(settings, 'no_such_setting = 1\n');
      await refuses(t, dataDir, /did not start.*unrecognized configuration parameter "no_such_setting"/s);
      await writeFile(settings, before);
    });

    await t.test('a password from another cluster', async () => {
      const file = join(dataDir, 'postgres', 'password');
      const before = await readFile(file, 'utf8');
      await writeFile(file, 'wrong\n');
      await refuses(t, dataDir, /password in .*postgres\/password does not match/);
      await writeFile(file, before);
      await startsAndStops(dataDir);
    });

    await t.test('a cluster of another PostgreSQL version', async () => {
      await writeFile(join(clusterIn(dataDir), 'PG_VERSION'), '17\n');
      await refuses(t, dataDir, /made by PostgreSQL 17, but the installed programs are PostgreSQL 18/);
    });
  });

  test('refuses a data directory that is a file, with the reason', async (t) => {
    const path = join(await scratchDataDir(t), 'file');
    await writeFile(path, '');
    await refuses(t, path, /The data directory .* cannot be used: .* is a file, not a directory/);
  });
});

/** A data directory in which a process was killed while initdb was running. */
async function killedWhileMaking(t: TestContext): Promise<string> {
  for (;;) {
    const dataDir = await scratchDataDir(t);
    const other = startElsewhere(t, dataDir);
    const seen = await eventually(async () => {
      const names = await readdir(dataDir);
      if (names.includes('postgres')) return 'too late';
      const draft = names.find((name) => name.startsWith('postgres.init-'));
      return draft !== undefined && (await readdir(join(dataDir, draft, 'cluster'))).includes('base')
        ? 'at work'
        : null;
    });
    await other.kill();
    if (seen === 'at work' && !(await readdir(dataDir)).includes('postgres')) return dataDir;
  }
}

async function startsAndStops(dataDir: string): Promise<void> {
  const user = await start(dataDir);
  assert.deepEqual(await query(user.connection(), 'select 1 as one'), [{ one: 1 }]);
  await user.release();
  assert.equal(await serverPid(dataDir), null);
}

async function refuses(t: TestContext, dataDir: string, message: RegExp): Promise<void> {
  await assert.rejects(start(dataDir), (error: unknown) => {
    assert.ok(error instanceof OperatorError, String(error));
    assert.match(error.message, message);
    t.diagnostic(error.message);
    return true;
  });
}
