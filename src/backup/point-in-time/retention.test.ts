/** What is removed after the retention, and which base leads to a moment. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import type { Database } from '../../db/database.ts';
import { baseEveryMs } from './base-backups.loop.ts';
import { type BaseFacts, baseFormat, chooseBase, listBases, lsnOf } from './base-format.ts';
import { prune } from './retention.ts';

const day = (number: number) => new Date(Date.UTC(2026, 0, number));
let dir: string;
let database: Database;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-retention-'));
  database = await openTestDatabase();
  await mkdir(join(dir, 'bases'));
  await mkdir(join(dir, 'wal'));
});
after(async () => {
  await database.close();
  await rm(dir, { recursive: true, force: true });
});

function factsOf(at: Date, more: Partial<BaseFacts> = {}): BaseFacts {
  return {
    format: baseFormat,
    madeBy: 'holdfast test',
    startedAt: at.toISOString(),
    stoppedAt: at.toISOString(),
    timeline: 1,
    firstSegment: `00000001000000000000000${at.getUTCDate() % 10}`,
    stopLsn: `0/${at.getUTCDate().toString(16).toUpperCase()}000000`,
    masterKeys: [1],
    bytes: 1,
    ...more,
  };
}

async function write(at: Date): Promise<void> {
  const name = join(dir, 'bases', `202601${String(at.getUTCDate()).padStart(2, '0')}T000000Z`);
  await writeFile(`${name}.tar`, '');
  await writeFile(`${name}.json`, JSON.stringify(factsOf(at)));
}

test('bases past their time go with the log that only they needed; the newest base stays whatever its age', async () => {
  for (const number of [1, 5, 8]) await write(day(number));
  const wal = [1, 4, 5, 6].map((number) => `00000001000000000000000${number}.gz`);
  const kept = ['00000002.history.gz', '000000020000000000000007.gz', 'something-else'];
  const old = '000000010000000000000003.00000028.backup.gz';
  for (const name of [...wal, ...kept, old]) await writeFile(join(dir, 'wal', name), '');
  const run = (now: Date) => prune({ dir, db: database.db, mirror: null, days: 10, now });

  assert.deepEqual(await run(day(11)), { bases: 0, segments: 0, blobs: 0, overdue: false });
  assert.deepEqual(await run(day(12)), { bases: 1, segments: 3, blobs: 0, overdue: false });
  assert.deepEqual((await readdir(join(dir, 'wal'))).sort(), [...wal.slice(2), ...kept].sort());
  assert.deepEqual((await run(day(30))).overdue, true);
  assert.deepEqual(
    (await listBases(dir)).map(({ startedAt }) => startedAt),
    [day(8).toISOString()],
  );
  assert.equal((await readdir(join(dir, 'bases'))).length, 2);
});

test('a base that the timeline left before it was complete does not lead there', () => {
  const base = (at: number, timeline = 1) => ({ ...factsOf(day(at), { timeline }), file: `${at}` });
  const bases = [base(1), base(5), base(8, 2)];
  const branches = [{ timeline: 1, lsn: lsnOf('0/3000000') }];
  const choose = (to: Date | null, timeline: number) =>
    chooseBase(bases, { to, timeline, branches: timeline === 2 ? branches : [] }).file;
  assert.equal(choose(day(6), 1), '5');
  assert.equal(choose(day(6), 2), '1');
  assert.equal(choose(null, 2), '8');
  assert.throws(() => choose(new Date(0), 1), /oldest base backup was complete at 2026-01-01/);
});

test('bases are made often enough that the retention always holds more than one', () => {
  const days = [1, 4, 30, 365].map((retention) => baseEveryMs(retention) / 86_400_000);
  assert.deepEqual(days, [1, 1, 7, 7]);
});
