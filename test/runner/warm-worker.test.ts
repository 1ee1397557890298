/** A warm worker: the outcomes of its files are those of processes of their own, and nothing passes from one file to the next. */
// tier: process
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { clockStartingAt } from '../support/service/clock.ts';
import type { InProcess } from './file-run.ts';
import { runInOwnProcess } from './own-process.ts';
import { startWarmWorker, type WarmWorker } from './warm-worker.ts';

// Without the context of an enclosing test runner: node:test would report to that one.
const { NODE_TEST_CONTEXT: _, ...given } = process.env as Record<string, string>;
const env = { ...given, HOLDFAST_TEST_LONGEST_END_MS: '300' };
const { signal } = new AbortController();

const header = `import { after, before, describe, test } from 'node:test'; import assert from 'node:assert/strict';
import { createServer } from 'node:net'; import { tmpdir } from 'node:os'; import { setTimeout as sleep } from 'node:timers/promises';\n`;

let home: string;
let worker: WarmWorker;
let made = 0;
before(async () => {
  home = await mkdtemp(join(tmpdir(), 'warm-worker-'));
  worker = startWarmWorker({ env, signal });
});
after(async () => {
  await worker.retire();
  await rm(home, { recursive: true, force: true });
});

async function writeSample(text: string): Promise<{ file: string; temporary: string }> {
  const file = join(home, `sample-${++made}.test.mjs`);
  await writeFile(file, header + text);
  const temporary = join(home, `t${made}`);
  await mkdir(temporary);
  return { file, temporary };
}

async function runText(text: string): Promise<InProcess> {
  const request = await writeSample(text);
  // The runner replaces a worker in which a file has failed.
  if (!worker.isFresh()) {
    await worker.retire();
    worker = startWarmWorker({ env, signal });
  }
  return worker.run(request);
}

test('reports what a process of its own reports', async () => {
  const text = `
    let ready = false; const seen = [];
    before(async () => { await sleep(20); ready = true; });
    after(() => console.log('at the end:', seen.join()));
    test('outer', async (t) => { assert.ok(ready); await t.test('fails', () => assert.equal(1, 2)); await t.test('holds', () => {}); });
    describe('suite', () => { before(() => seen.push('suite')); test('inside', () => seen.push('inside')); });
    test('left out', { skip: 'no chain' }, () => {});
    test('without an await', (t) => { t.test('late', () => sleep(10)); });
    test('throws', async () => { await sleep(1); throw new TypeError('thrown'); });
    test('too slow', { timeout: 20 }, () => sleep(100));
    test('last', () => seen.push('last'));`;
  const warm = await runText(text);
  const { file, temporary } = await writeSample(text);
  const own = await runInOwnProcess(file, { temporary, env: given, name: null, signal });
  const told = ({ outcomes }: InProcess) =>
    outcomes.map(({ name, passed, skipped, error }) => [name, passed, skipped, error?.split('\n')[0]]);
  assert.deepEqual(told(warm), told(own));
  assert.equal(warm.outcomes.length, 9);
  for (const { output } of [warm, own]) assert.match(output, /at the end: suite,inside,last/);
});

test('a file alone in its worker may leave the process changed, and nothing else', async () => {
  const alone = startWarmWorker({ env, alone: true, signal });
  const text = `test('changes it', () => { process.env.LEFT = '1'; setInterval(() => {}, 1000); });
    after(() => sleep(600));`;
  try {
    const { outcomes, faults } = await alone.run(await writeSample(text));
    assert.deepEqual(
      outcomes.map(({ passed }) => passed),
      [true],
    );
    assert.deepEqual(faults, ['It left open: timer of 1000 ms: () => {}.']);
    assert.equal(alone.isFresh(), false);
  } finally {
    await alone.retire();
  }
});

test('the clock of a worker moves ahead from file to file', async () => {
  const ahead = startWarmWorker({
    env: { ...env, ...clockStartingAt(new Date('2028-02-29T23:59:59Z')) },
    signal,
  });
  const text = `const loaded = new Date();
    test('tells', () => console.log('at', loaded.toISOString().slice(0, 10), process.env.HOLDFAST_TEST_CLOCK));`;
  try {
    for (const day of ['2028-02-29', '2032-02-29']) {
      const clockMs = Date.parse(`${day}T12:00:00Z`) - Date.now();
      const { output, faults } = await ahead.run({ ...(await writeSample(text)), clockMs });
      assert.deepEqual(faults, []);
      assert.ok(output.includes(`at ${day} ${clockMs}`), output);
    }
  } finally {
    await ahead.retire();
  }
});

test('modules stay loaded, and each file has a temporary directory of its own', async () => {
  await writeFile(join(home, 'count.mjs'), 'let loads = 0; export const next = () => ++loads;');
  const text = `import { next } from './count.mjs';
    test('counts', () => console.log('turn', next(), tmpdir()));`;
  const [first, second] = [await runText(text), await runText(text)];
  assert.match(first.output, new RegExp(`turn 1 ${home}/t${made - 1}\n`));
  assert.match(second.output, new RegExp(`turn 2 ${home}/t${made}\n`));
});

test('names the handle that a file leaves open', async () => {
  const { faults } = await runText(`test('a', () => { setInterval(function beat() {}, 54321); });
    test('b', () => new Promise((resolve) => createServer().listen(0, '127.0.0.1', resolve)));`);
  assert.equal(faults.length, 2, faults.join('\n'));
  assert.match(faults.join('\n'), /It left open: timer of 54321 ms: function beat\(\)/);
  assert.match(faults.join('\n'), /It left open: server at .*127\.0\.0\.1/);
  assert.equal(worker.isFresh(), false, 'the next file does not meet them');
});

test('waits for what is being closed', async () => {
  const { faults } = await runText(`test('a', () => { setTimeout(() => {}, 100); });`);
  assert.deepEqual(faults, []);
});

test('names what the next file would find changed', async () => {
  const { faults } = await runText(`test('a', () => {
    process.env.LEFT = '1'; globalThis.left = 1; Date.now = () => 0; process.on('SIGHUP', () => {}); process.chdir('/');
  });`);
  assert.deepEqual(faults, [
    'It left the environment variable LEFT changed.',
    'It left Date.now replaced.',
    'It left the global left.',
    'It left a listener for SIGHUP.',
    'It left the process in /.',
  ]);
});

test('a file without a test, one that does not load, and one that ends the process count as failed', async () => {
  assert.deepEqual((await runText('')).faults, ['It ran no test.']);
  const broken = await runText(`import './nothing.mjs';`);
  assert.match(broken.outcomes[0]?.error ?? '', /ERR_MODULE_NOT_FOUND/);
  const dead = await runText(`test('dies', () => process.kill(process.pid, 'SIGKILL'));`);
  assert.deepEqual(dead.faults, ['Its process ended with SIGKILL before the tests did.']);
  const exited = await runText(`test('exits', () => process.exit(0));`);
  assert.deepEqual(exited.faults, ['Its process ended with 0 before the tests did.']);
});

test('an error that no test waits for is a fault of its file', async () => {
  const { faults } = await runText(
    `test('waits', async () => { await null; setTimeout(() => { throw new Error('stray'); }, 5); await sleep(50); });`,
  );
  assert.match(faults.join('\n'), /^An error that no test caught: Error: stray/);
});

test('awaiting takes no longer than without node:test', async () => {
  const { outcomes } = await runText(`test('awaits', async () => {
    const before = process.threadCpuUsage();
    for (let n = 0; n < 300_000; n += 1) await null;
    const { user, system } = process.threadCpuUsage(before);
    assert.ok(user + system < 300_000, \`\${(user + system) / 1_000} ms\`);
  });`);
  assert.deepEqual(
    outcomes.map(({ error }) => error),
    [null],
  );
});

test('an error after the last test is a fault of its file', async () => {
  const { faults, outcomes } = await runText(
    `test('holds', () => { setTimeout(() => { throw new Error('too late'); }, 50); });`,
  );
  assert.ok(outcomes.every(({ passed }) => passed));
  assert.match(faults.join('\n'), /^An error that no test caught: Error: too late/);
});
