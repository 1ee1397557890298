/** What a restore refuses, and that it leaves nothing half done. */
// tier: process
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pack } from 'tar-stream';
import {
  archive,
  backUp,
  blobs,
  closeBackupFixture,
  database,
  dir,
  emptyDatabase,
  one,
  openBackupFixture,
  restoreInto,
  tablesOf,
  workspaceId,
} from '../../test/support/fixtures/backup-fixture.ts';
import { withClient } from '../../test/support/service/database.ts';
import { openBlobStore } from '../blobs/open-blob-store.ts';
import { migrate } from '../db/migrate.ts';
import { pieceBytes } from './format.ts';
import { verifyArchive } from './verify-archive.ts';

before(openBackupFixture);
after(closeBackupFixture);

function membersOf(tar: Buffer): { name: string; start: number; end: number }[] {
  const members = [];
  for (let at = 0; at < tar.length && tar[at] !== 0; ) {
    const name = tar.toString('utf8', at, at + 100).replace(/\0.*$/s, '');
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 136), 8);
    members.push({ name, start: at + 512, end: at + 512 + size });
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return members;
}

describe('a restore is refused and writes nothing', () => {
  /** One for all of them: nothing is written to it. */
  let untouched: Promise<string> | null = null;
  async function refused(file: string, expected: RegExp, more: object = {}): Promise<void> {
    untouched ??= emptyDatabase();
    const target = await restoreInto(`refused-${randomBytes(4).toString('hex')}`, file, untouched);
    await assert.rejects(target.restore(more), expected);
    assert.deepEqual(await withClient({ connectionString: target.url }, tablesOf), []);
    assert.ok(!existsSync(target.config.dataDir), 'the data directory was made');
  }

  async function copyOf(name: string): Promise<string> {
    const file = join(dir, name);
    await writeFile(file, await readFile(archive));
    return file;
  }

  test('from an archive with one byte changed, anywhere', async () => {
    const file = await copyOf('changed.tar');
    const handle = await open(file, 'r+');
    const flip = async (at: number) => {
      const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, at);
      await handle.write(Buffer.from([(buffer[0] ?? 0) ^ 1]), 0, 1, at);
    };
    const members = membersOf(await readFile(archive));
    const tables = members.filter(({ name }) => name.startsWith('tables/'));
    const pieces = members.filter(({ name }) => name.startsWith('blobs/'));
    const lists = members.filter(({ name }) => name.startsWith('lists/'));
    const [firstTable, lastTable, large, list] = [tables[0], tables.at(-1), pieces.at(-2), lists[0]];
    assert.ok(firstTable && lastTable && large && list && large.end - large.start === pieceBytes);
    // What lies between members means nothing.
    for (const [what, at] of Object.entries({
      'the name of a member': firstTable.start - 512,
      'the first table': (firstTable.start + firstTable.end) >> 1,
      'the last table': lastTable.end - 1,
      'the start of a blob': large.start,
      'the end of a piece': large.end - 1,
      'the list of blobs': list.start + 20,
    })) {
      await flip(at);
      await assert.rejects(verifyArchive(file), /damaged/, what);
      await flip(at);
    }
    await verifyArchive(file);
    await flip((large.start + large.end) >> 1);
    await handle.close();
    await refused(file, /damaged or cut off: the blob .* does not have the bytes/);
  });

  test('from an archive that is truncated, anywhere', async () => {
    const { size } = await stat(archive);
    for (const part of [0.5, 0.99]) {
      const file = await copyOf('cut.tar');
      await truncate(file, Math.floor(size * part));
      await refused(file, /damaged or cut off/);
    }
    const file = await copyOf('cut.tar');
    await truncate(file, 0);
    await refused(file, /is not a Holdfast backup/);
  });

  test('from a file that is missing or not a readable backup', async () => {
    const file = join(dir, 'else.tar');
    await writeFile(file, randomBytes(5000));
    await refused(file, /is not a Holdfast backup/);
    await refused(join(dir, 'not-there.tar'), /cannot be read/);
    const tar = pack();
    tar.entry({ name: 'format.json' }, JSON.stringify({ format: 'holdfast/backup@9' }));
    tar.finalize();
    const chunks: Buffer[] = [];
    for await (const chunk of tar) chunks.push(chunk as Buffer);
    await writeFile(file, Buffer.concat(chunks));
    await refused(file, /format "holdfast\/backup@9", but this version reads only holdfast\/backup@1/);
  });

  test('from an archive without its key, with a wrong key, or forged', async () => {
    await refused(archive, /cannot be restored without its master key/, { keys: null });
    const byVersion = new Map([[1, randomBytes(32)]]);
    await refused(archive, /does not match this backup, or somebody changed the archive/, {
      keys: { current: 1, byVersion },
    });
    await refused(archive, /needs master key version 1/, {
      keys: { current: 2, byVersion: new Map([[2, randomBytes(32)]]) },
    });
    // Whoever changes a table can write the manifest to fit, but not its seal.
    const forged = await copyOf('forged.tar');
    const bytes = await readFile(forged);
    const at = bytes.lastIndexOf('"createdAt": "2');
    bytes.write('"createdAt": "1', at);
    await writeFile(forged, bytes);
    await verifyArchive(forged);
    await refused(forged, /somebody changed the archive/);
    // Nor can it be left out, whatever the manifest says of keys.
    const stripped = await copyOf('stripped.tar');
    const whole = await readFile(stripped);
    const seal = membersOf(whole).find(({ name }) => name === 'manifest.seal.json') ?? assert.fail();
    const unsealed = Buffer.concat([whole.subarray(0, seal.start - 512), Buffer.alloc(1024)]);
    await writeFile(stripped, unsealed);
    await refused(stripped, /manifest has no seal/);
    const keys = /"masterKeys": \[\s*1\s*\]/.exec(unsealed.toString('latin1')) ?? assert.fail();
    unsealed.write(keys[0].replace('1', ' '), keys.index, 'latin1');
    await writeFile(stripped, unsealed);
    await refused(stripped, /does not have the expected structure/);
  });

  test('from an archive with a newer schema', async () => {
    await database.pool.query("insert into schema_migrations (name, run_on) values ('9999_future', now())");
    const file = join(dir, 'newer.tar');
    try {
      await backUp(file);
    } finally {
      await database.pool.query("delete from schema_migrations where name = '9999_future'");
    }
    await refused(file, /made by a newer Holdfast .* 9999_future/);
  });
});

test('refuses a target that is not empty, and leaves it unchanged', async () => {
  const target = await restoreInto('used');
  await withClient({ connectionString: target.url }, (client) => client.query('create table mine (id text)'));
  await assert.rejects(target.restore(), /The database of DATABASE_URL is not empty \(it has 1 tables\)/);
  await withClient({ connectionString: target.url }, async (client) => {
    assert.deepEqual(await tablesOf(client), ['mine']);
    await client.query('drop table mine');
  });
  await mkdir(target.config.dataDir);
  await writeFile(join(target.config.dataDir, 'master.key'), 'mine');
  await assert.rejects(target.restore(), /The data directory .* is not empty \(it has master\.key\)/);
  assert.equal(await readFile(join(target.config.dataDir, 'master.key'), 'utf8'), 'mine');

  await rm(join(target.config.dataDir, 'master.key'));
  const there = await openBlobStore(target.config.blobs);
  await there.put('ws_1/blb_1', one(Buffer.from('mine')));
  await assert.rejects(target.restore(), /is not empty \(it has blobs\)/);
});

for (const fixture of ['database', 'blobs'] as const) {
  test(`after an interrupted restore of its ${fixture} no service starts, and it can be repeated`, async () => {
    const target = await restoreInto(`stopped-${fixture}`);
    const stopping = new AbortController();
    const onProgress = (at: string) => {
      if (at === fixture) stopping.abort(new Error('pulled the plug'));
    };
    await assert.rejects(target.restore({ signal: stopping.signal, onProgress }), /pulled the plug/);
    const connection = { connectionString: target.url };
    await assert.rejects(migrate({ connection }), /A restore into this database has not finished/);
    const left = await openBlobStore(target.config.blobs);
    await left.put('ws_1/blb_leftover', one(Buffer.from('of the try before')));

    await target.restore();
    await migrate({ connection });
    const names: string[] = [];
    for await (const { name } of left.list()) names.push(name);
    assert.deepEqual(names.sort(), blobs.map(({ id }) => `${workspaceId}/${id}`).sort());
    const eventsOf = (url: string) =>
      withClient({ connectionString: url }, async (client) => {
        return (await client.query('select * from events order by id')).rows;
      });
    assert.deepEqual(await eventsOf(target.url), await eventsOf(database.url));
  });
}
