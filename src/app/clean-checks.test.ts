/** Where `fsck --since last` goes on: only where nothing lies unchecked before it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { command } from '../../test/support/service/commands.ts';
import { openTestDatabase } from '../../test/support/service/database.ts';
import type { Database } from '../db/database.ts';
import type { CheckReport } from '../runtime/check.ts';
import { findCleanRun, rememberClean } from './clean-checks.store.ts';

let database: Database & { url: string };
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const at = (hour: number) => new Date(Date.UTC(2026, 10, 18, hour));
const report = (name: string, more: Partial<CheckReport> = {}): CheckReport => ({
  ...{ name, checked: 1, found: 0, findings: [], skipped: [] },
  ...more,
});
const find = (...names: string[]) => findCleanRun(database.db, names);

test('a run goes on from the earliest mark of its checks, and only a run without a gap moves a mark', async () => {
  const { db } = database;
  assert.equal(await find('a'), null);
  await rememberClean(db, { reports: [report('a'), report('b')], beganAt: at(1) });
  assert.deepEqual(await find('a', 'b'), { until: at(1), fullAt: at(1) });

  await rememberClean(db, { reports: [report('a')], beganAt: at(3), since: at(1) });
  assert.deepEqual(await find('a'), { until: at(3), fullAt: at(1) });
  assert.deepEqual(await find('a', 'b'), { until: at(1), fullAt: at(1) });
  // Nobody looked at what was written between 1 and 2 o'clock.
  await rememberClean(db, { reports: [report('b')], beganAt: at(4), since: at(2) });
  assert.deepEqual((await find('b'))?.until, at(1));
  // A run that began earlier ended later.
  await rememberClean(db, { reports: [report('a')], beganAt: at(2), since: at(1) });
  assert.deepEqual((await find('a'))?.until, at(3));
  assert.equal(await find('a', 'c'), null);
});

test('a finding removes the mark, and a check that left something out sets none', async () => {
  const { db } = database;
  await rememberClean(db, { reports: [report('d'), report('e')], beganAt: at(1) });
  const skipped = [{ what: 'the chain', reason: 'it is away' }];
  await rememberClean(db, { reports: [report('d', { found: 1 }), report('e', { skipped })], beganAt: at(2) });
  assert.equal(await find('d'), null);
  assert.deepEqual((await find('e'))?.until, at(1));
  // Neither does an incremental run, which has not seen what came before.
  await rememberClean(db, { reports: [report('d')], beganAt: at(3), since: at(2) });
  assert.equal(await find('d'), null);
});

test('fsck --since last checks everything the first time, and then what came later', async () => {
  const settings = { DATABASE_URL: database.url };
  const run = async () => {
    const { code, stdout } = await command(
      settings,
      'fsck',
      '--only',
      'nonces,audit',
      '--since',
      'last',
      '--json',
    );
    assert.equal(code, 0, stdout);
    return JSON.parse(stdout);
  };
  assert.equal((await run()).since, undefined);
  const second = await run();
  assert.ok(Math.abs(Date.now() - Date.parse(second.since)) < 600_000, second.since);
  assert.equal(second.fullAt, second.since);
  const third = await run();
  assert.ok(third.since > second.since);
  assert.equal(third.fullAt, second.fullAt);
});
