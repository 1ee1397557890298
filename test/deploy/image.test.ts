/** What goes into the image: enough to run, and not much more. */
// tier: process
// own process: it loads a script with an await at its top level
import assert from 'node:assert/strict';
import { existsSync, globSync, lstatSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { assemble } from '../../deploy/image/assemble.ts';
import { longOnly } from '../support/service/long.ts';
import { startUntil } from '../support/service/process.ts';

/** The image may have 350 MB, and its base has some 60. */
const mostBytes = 290_000_000;

test('the service runs from what is copied into the image', {
  skip: longOnly,
  timeout: 300_000,
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-image-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const app = join(folder, 'app');
  await assemble(app);

  for (const name of ['typescript', 'playwright-core', 'react-dom', '@mantine/core'])
    assert.ok(!existsSync(join(app, 'node_modules', name)), name);
  const entries = globSync('**/*', { cwd: app, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = entries.reduce(
    (sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size,
    0,
  );
  assert.ok(bytes < mostBytes, `${bytes} bytes`);

  const settings = { HOLDFAST_DATA_DIR: join(folder, 'data'), PORT: '0', HOLDFAST_TEST_PACKAGES: '' };
  const program = join(app, 'bin/holdfast');
  const { running, match } = await startUntil(/is ready at (\S+)/, { program, args: ['serve'], settings });
  t.after(() => running.child.kill('SIGKILL'));
  for (const path of ['/readyz', '/sign-in', '/sign/some-token', '/portal/some-token', '/verify', '/docs'])
    assert.equal((await fetch(match[1] + path)).status, 200, path);
  running.child.kill('SIGTERM');
  assert.equal(await running.exited, 0);
});
