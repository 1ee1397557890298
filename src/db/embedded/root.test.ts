/** Holdfast as root: the server runs under another account, below directories closed to it, on data of any owner. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { OperatorError } from '../../errors.ts';
import { chooseServerAccount } from './account.ts';
import { clusterIn, dataDirFactory, query, scratchDataDir, serverPid, start } from './test-bed.ts';

const skip = process.geteuid?.() === 0 ? false : 'needs root';
const newDataDir = dataDirFactory();
const stranger = { uid: 54_321, gid: 54_322 };

test('below a directory closed to others it works, and the password stays root’s', { skip }, async (t) => {
  const closed = await scratchDataDir(t);
  const dataDir = join(closed, 'data');
  for (let round = 0; round < 2; round += 1) {
    const user = await start(dataDir);
    t.after(user.release);
    assert.deepEqual(await query(user.connection(), 'select 1 as one'), [{ one: 1 }]);
    assert.notEqual(await serverUid(dataDir), 0);
    await user.release();
  }
  assert.equal((await stat(closed)).mode & 0o777, 0o700);
  const password = await stat(join(dataDir, 'postgres', 'password'));
  assert.deepEqual([password.uid, password.mode & 0o777], [0, 0o600]);
});

test('below a closed directory without the capability it says which one and what to do', {
  skip,
}, async (t) => {
  const closed = await scratchDataDir(t);
  const dataDir = join(closed, 'data');
  const code = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(import.meta.resolve('./embedded-postgres.ts'))});
    await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, log: console });`;
  // What root may not do in a Docker container by default.
  const without = ['--bounding-set=-dac_read_search', '--inh-caps=-dac_read_search'];
  const { stderr } = spawnSync('setpriv', [...without, process.execPath, '--input-type=module', '-e', code], {
    encoding: 'utf8',
  });
  assert.match(
    stderr,
    new RegExp(`OperatorError: PostgreSQL does not run as root, .* cannot pass ${closed}\\.`),
  );
  assert.match(stderr, new RegExp(`chmod o\\+x ${closed}, set HOLDFAST_DATA_DIR .* or set DATABASE_URL`));
});

test('data of an ordinary user is served under that user and stays theirs', { skip }, async (t) => {
  const dataDir = await newDataDir(t);
  chownAll(dataDir, stranger);
  const user = await start(dataDir);
  assert.equal(await serverUid(dataDir), stranger.uid);
  assert.deepEqual(await query(user.connection(), 'select 1 as one'), [{ one: 1 }]);
  await user.release();
  const foreign = execFileSync('find', [dataDir, '!', '-uid', String(stranger.uid)], { encoding: 'utf8' });
  assert.equal(foreign, '');
});

test('a cluster that root owns, as after a restore, is handed to the server’s account', {
  skip,
}, async (t) => {
  const dataDir = await newDataDir(t);
  chownAll(dataDir, { uid: 0, gid: 0 });
  const user = await start(dataDir);
  assert.deepEqual(await query(user.connection(), 'select 1 as one'), [{ one: 1 }]);
  const account = chooseServerAccount(await readFile('/etc/passwd', 'utf8'));
  assert.equal(await serverUid(dataDir), account?.uid);
  assert.equal((await stat(clusterIn(dataDir))).uid, account?.uid);
  await user.release();
});

test('an ordinary user is told whose data it is', { skip }, async (t) => {
  await refusedAs(stranger.uid, await newDataDir(t));
  const closed = await scratchDataDir(t);
  await refusedAs(stranger.uid, closed);
});

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

async function serverUid(dataDir: string): Promise<number> {
  const uid = execFileSync('ps', ['-o', 'uid=', '-p', String(await serverPid(dataDir))], {
    encoding: 'utf8',
  });
  return Number(uid);
}
