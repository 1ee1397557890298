/** Which directories an account may traverse. */
// tier: process
import assert from 'node:assert/strict';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { scratchDataDir } from '../../../test/support/fixtures/embedded-postgres-fixture.ts';
import { closedDirectories, mayPass } from './reach.ts';

test('judges owner, group and others each by their own bit', () => {
  const entry = { uid: 1, gid: 2, mode: 0o700 };
  assert.equal(mayPass(entry, { uid: 1, gid: 9 }), true);
  assert.equal(mayPass(entry, { uid: 9, gid: 2 }), false);
  assert.equal(mayPass({ ...entry, mode: 0o710 }, { uid: 9, gid: 2 }), true);
  assert.equal(mayPass({ ...entry, mode: 0o701 }, { uid: 9, gid: 9 }), true);
  // The owner's bits decide for the owner, even when others have more rights.
  assert.equal(mayPass({ ...entry, mode: 0o077 }, { uid: 1, gid: 2 }), false);
});

test('names every closed directory on the path, outermost first', async (t) => {
  const outer = await scratchDataDir(t);
  const inner = join(outer, 'open', 'closed');
  await mkdir(inner, { recursive: true });
  await chmod(join(outer, 'open'), 0o755);
  await chmod(inner, 0o700);
  const closed = await closedDirectories(inner, { uid: 54_321, gid: 54_321 });
  assert.deepEqual(closed.slice(-2), [outer, inner]);
});
