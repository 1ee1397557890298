/**
 * Holdfast as root: the server runs under another account, below directories closed to that account, on data of any
 * owner.
 */
// tier: process
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import {
  clusterIn,
  query,
  scratchDataDir,
  serverPid,
  start,
  startElsewhere,
} from '../../../test/support/fixtures/embedded-postgres-fixture.ts';
import { OperatorError } from '../../runtime/errors.ts';
import { type Account, chooseServerAccount, readPasswd } from './account.ts';
import { findBinaries } from './binaries.ts';
import type { EmbeddedPostgres } from './embedded-postgres.ts';
import { createLauncher, runProgram } from './launch.ts';

const skip = process.geteuid?.() === 0 ? false : 'needs root';
const stranger = { uid: 54_321, gid: 54_322 };

test('below a directory that is closed to others', { skip }, async (t) => {
  const closed = await scratchDataDir(t);
  const dataDir = join(closed, 'data');

  await t.test('the server runs under another account, and root keeps the password', async () => {
    await servesAs(await serverAccount(), dataDir, async (user) => {
      // The server cannot read anything that its own account could not read.
      const secret = join(dataDir, 'master.key');
      await writeFile(secret, 'the master key', { mode: 0o600 });
      for (const path of [secret, '/mnt/data/../master.key', '../../master.key'])
        await assert.rejects(query(user.connection(), `select pg_read_file('${path}')`), path);
      const status = await readFile(`/proc/${await serverPid(dataDir)}/status`, 'utf8');
      for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'])
        assert.match(status, new RegExp(`^${set}:\\s+0+$`, 'm'));
    });
    assert.equal((await stat(closed)).mode & 0o777, 0o700);
    const password = await stat(join(dataDir, 'postgres', 'password'));
    assert.deepEqual([password.uid, password.mode & 0o777], [0, 0o600]);
  });

  await t.test('the data of an ordinary user are served as that user, and stay theirs', async () => {
    chownAll(dataDir, stranger);
    await servesAs(stranger, dataDir);
    const foreign = execFileSync('find', [dataDir, '!', '-uid', String(stranger.uid)], { encoding: 'utf8' });
    assert.equal(foreign, '');
  });

  await t.test(
    'a cluster owned by root, as after a restore, is handed over to the account of the server',
    async () => {
      chownAll(dataDir, { uid: 0, gid: 0 });
      await servesAs(await serverAccount(), dataDir);
      assert.equal((await stat(clusterIn(dataDir))).uid, (await serverAccount()).uid);
    },
  );
});

test('finds the server again where processes of other accounts are hidden', {
  skip,
}, async (t) => {
  const dataDir = await scratchDataDir(t, 'data');
  const pidFile = join(clusterIn(dataDir), 'postmaster.pid');
  // Root lacks this right in most containers: to see the working directory of another account's process.
  const under = ['setpriv', '--bounding-set=-sys_ptrace', '--inh-caps=-sys_ptrace'];
  const service = startElsewhere(t, dataDir, { under, exclusive: true });
  const first = await service.ready;
  const running = await readFile(pidFile, 'utf8');

  const command = startElsewhere(t, dataDir, { under });
  assert.deepEqual(await command.ready, first, 'a second process joins the server');
  const second = startElsewhere(t, dataDir, { under, exclusive: true, quiet: true });
  await assert.rejects(second.ready, /ended with 1/, 'a second service is refused');
  await command.kill();
  await service.kill();
  assert.deepEqual(await startElsewhere(t, dataDir, { under }).ready, first, 'an orphan is adopted');
  assert.equal(await readFile(pidFile, 'utf8'), running);
});

test('names the closed directory and the remedy where mounts are forbidden, and creates nothing', {
  skip,
}, async (t) => {
  const closed = await scratchDataDir(t);
  const dataDir = join(closed, 'below', 'data');
  const code = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(import.meta.resolve('./embedded-postgres.ts'))});
    await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, log: console });`;
  // Root lacks this right in a Docker container by default.
  const without = ['--bounding-set=-sys_admin', '--inh-caps=-sys_admin'];
  const { stderr } = spawnSync('setpriv', [...without, process.execPath, '--input-type=module', '-e', code], {
    encoding: 'utf8',
  });
  assert.match(
    stderr,
    new RegExp(`OperatorError: PostgreSQL does not run as root, .* cannot enter ${closed}[.,]`),
  );
  // The programs may be below a closed directory too; then the message names that as well.
  assert.match(stderr, new RegExp(`chmod o\\+x ${closed}[ ,].* or set DATABASE_URL`));
  assert.deepEqual(await readdir(closed), []);
});

test('runs programs below a closed directory, with their libraries', { skip }, async (t) => {
  const closed = await scratchDataDir(t);
  const { postgres } = await findBinaries();
  const programs = join(closed, 'native');
  await cp(dirname(dirname(postgres)), programs, { recursive: true, verbatimSymlinks: true });
  const binaries = { initdb: join(programs, 'bin/initdb'), postgres: join(programs, 'bin/postgres') };
  const launcher = await createLauncher({ account: await serverAccount(), binaries, directory: '/' });
  assert.match(await runProgram(launcher, [binaries.postgres, '--version']), /PostgreSQL/);
  assert.match(await runProgram(launcher, [binaries.initdb, '--version']), /PostgreSQL/);
});

test('tells an ordinary user whose data these are', { skip }, async (t) => {
  const dataDir = await scratchDataDir(t);
  await mkdir(clusterIn(dataDir), { recursive: true });
  await refusedAs(stranger.uid, dataDir);
  await chmod(dataDir, 0o755);
  await refusedAs(stranger.uid, dataDir);
});

async function servesAs(
  { uid }: { uid: number },
  dataDir: string,
  also: (user: EmbeddedPostgres) => Promise<void> = async () => {},
): Promise<void> {
  const user = await start(dataDir);
  try {
    assert.deepEqual(await query(user.connection(), 'select 1 as one'), [{ one: 1 }]);
    const status = await readFile(`/proc/${await serverPid(dataDir)}/status`, 'utf8');
    assert.match(status, new RegExp(`^Uid:\\t${uid}\\t${uid}\\t`, 'm'));
    await also(user);
  } finally {
    await user.release();
  }
}

async function serverAccount(): Promise<Account> {
  const account = chooseServerAccount(await readPasswd());
  assert.ok(account);
  return account;
}

async function refusedAs(uid: number, dataDir: string): Promise<void> {
  process.seteuid?.(uid);
  try {
    await assert.rejects(start(dataDir), (error: unknown) => {
      assert.ok(error instanceof OperatorError, String(error));
      const told = `The data in ${dataDir} belongs to root (uid 0), but this process runs as #${uid} (uid ${uid})`;
      assert.ok(error.message.startsWith(told), error.message);
      return true;
    });
  } finally {
    process.seteuid?.(0);
  }
}

function chownAll(dataDir: string, { uid, gid }: { uid: number; gid: number }): void {
  execFileSync('chown', ['-R', `${uid}:${gid}`, dataDir]);
}
