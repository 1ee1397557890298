/** The lock that guards the start of the server. */
// tier: process
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually, scratchDataDir } from '../../../test/support/fixtures/embedded-postgres-fixture.ts';
import { tryStartLock } from './start-lock.ts';

test('has one holder at a time, and a killed holder releases it', async (t) => {
  const path = join(await scratchDataDir(t), 'lock');
  const code = `
    const { tryStartLock } = await import(${JSON.stringify(import.meta.resolve('./start-lock.ts'))});
    console.log(tryStartLock(${JSON.stringify(path)}) !== null);
    setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => holder.kill('SIGKILL'));
  const [line] = await once(holder.stdout, 'data');
  assert.equal(String(line).trim(), 'true');
  assert.equal(tryStartLock(path), null);

  holder.kill('SIGKILL');
  const unlock = await eventually(async () => tryStartLock(path));
  assert.equal(tryStartLock(path), null);
  unlock();
  const again = tryStartLock(path);
  assert.ok(again);
  again();
});
