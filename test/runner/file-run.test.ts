/** How the runner runs a test file: its outcomes, and what it left behind. */
// tier: process
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitUntil } from '../support/service/process.ts';
import { type FileRun, runFile } from './file-run.ts';
import { runInOwnProcess } from './own-process.ts';
import { hasFailed } from './summary.ts';

let home: string;
before(async () => {
  home = await mkdtemp(join(tmpdir(), 'file-run-'));
});
after(() => rm(home, { recursive: true, force: true }));

const header = `import { test, describe } from 'node:test'; import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs'; import { tmpdir } from 'node:os'; import { spawn } from 'node:child_process';\n`;

async function runText(
  text: string,
  {
    name = null,
    signal = new AbortController().signal,
    env: added = {},
  }: { name?: string | null; signal?: AbortSignal; env?: Record<string, string> } = {},
): Promise<FileRun> {
  const file = join(home, `sample-${Math.random()}.test.mjs`);
  await writeFile(file, header + text);
  const directory = join(home, 'run');
  // Without the context of an enclosing test runner: node:test would report to that one.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env as Record<string, string>;
  try {
    return await runFile(file, {
      directory,
      runIn: (temporary) => runInOwnProcess(file, { temporary, env: { ...env, ...added }, name, signal }),
      signal,
    });
  } finally {
    assert.equal(existsSync(directory), false, 'its directory is removed');
  }
}

test('reports each test once, with its parents and its reason for skipping or failing', async () => {
  const run = await runText(`
    test('outer', async (t) => { await t.test('fails', () => assert.equal(1, 2)); await t.test('holds', () => {}); });
    describe('suite', () => { test('inside', () => {}); test('left out', { skip: 'no chain' }, () => {}); });`);
  assert.deepEqual(
    run.outcomes.map(({ name, passed, skipped }) => [name, passed, skipped]),
    [
      ['outer > fails', false, null],
      ['outer > holds', true, null],
      ['suite > inside', true, null],
      ['suite > left out', true, 'no chain'],
    ],
  );
  assert.match(run.outcomes[0]?.error ?? '', /1 !== 2/);
  assert.deepEqual(run.faults, []);
  assert.ok(hasFailed(run));
});

test('selects tests by plain text', async () => {
  const text = `test('one (a.b)', () => {}); test('one axb', () => assert.fail());`;
  const run = await runText(text, { name: 'one (a.b)' });
  assert.deepEqual(
    run.outcomes.map(({ name }) => name),
    ['one (a.b)'],
  );
  assert.equal(hasFailed(run), false);
});

test('a file without a test, one that crashes, and one that does not load count as failed', async () => {
  assert.deepEqual((await runText('')).faults, ['It ran no test.']);
  const dead = await runText(`test('dies', () => process.kill(process.pid, 'SIGKILL'));`);
  assert.deepEqual(dead.faults, ['Its process ended with SIGKILL before the tests did.']);
  const exited = await runText(`test('exits', () => { console.log('last words'); process.exit(0); });`);
  assert.ok(hasFailed(exited), 'also when it says that all is well');
  assert.match(exited.output, /last words/);
  const broken = await runText(`import './nothing.mjs';`);
  assert.ok(hasFailed(broken));
  assert.match(broken.output, /ERR_MODULE_NOT_FOUND/);
});

test('reports what a test leaves in the temporary directory', async () => {
  const run = await runText(`test('leaves', () => mkdirSync(tmpdir() + '/left'));`);
  assert.deepEqual(run.faults, ['It left left in the temporary directory.']);
});

test('reports and kills a process that a test leaves running', {
  skip: !existsSync('/proc') && 'there is no /proc',
}, async () => {
  const run = await runText(`test('leaves', () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', home()], { detached: true, stdio: 'ignore' });
    child.unref();
    function home() { return tmpdir(); }
  });`);
  assert.equal(run.faults.length, 1, run.faults.join());
  const pid = Number(/^It left process (\d+) running: /.exec(run.faults[0] ?? '')?.[1]);
  await waitUntil(() => !existsSync(`/proc/${pid}/cwd`) || null);
});

test('kills a process that keeps running after its last test, and says what kept it running', async () => {
  const run = await runText(`test('holds', () => void setInterval(() => {}, 1000));`, {
    env: { HOLDFAST_TEST_LONGEST_END_MS: '200' },
  });
  assert.deepEqual(run.faults, ['Its tests ended, but its process kept running.']);
  assert.match(run.output, /keep the process running: \n {2}timer of 1000 ms: \(\) => \{\}\n/);
});

test('leaves processes of another file alone, even if its directory name starts alike', async () => {
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', join(home, 'run2/t')]);
  try {
    const run = await runText(`test('holds', () => {});`);
    assert.deepEqual(run.faults, []);
    assert.equal(other.exitCode ?? other.signalCode, null);
  } finally {
    other.kill('SIGKILL');
  }
});

test('an abort ends the file and everything that it started', async () => {
  const abort = new AbortController();
  const mark = join(home, 'began');
  const running = runText(
    `test('hangs', () => new Promise(() => {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
      writeFileSync(${JSON.stringify(mark)}, String(child.pid));
      setInterval(() => {}, 1000);
    }));`,
    { signal: abort.signal },
  );
  await waitUntil(() => existsSync(mark) || null);
  abort.abort();
  assert.deepEqual((await running).outcomes, []);
});
