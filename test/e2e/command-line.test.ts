/** Manners of the command line: what it refuses before it makes anything, and how it says why. */
// tier: process
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.ts';
import { unknownSettings } from '../../src/cli/settings.ts';
import { OperatorError } from '../../src/runtime/errors.ts';
import { explainFileFault } from '../../src/runtime/file-fault.ts';
import { command } from '../support/service/commands.ts';
import type { CommandResult } from '../support/service/process.ts';

/** They make an installation where there is none, or need none. */
const makers = [
  'serve',
  'migrate',
  'keys create',
  'workspaces create',
  'webhooks create',
  'chain deploy',
  'restore',
  'timestamps test',
  'mail test',
  'verify',
  'login',
  'logout',
  'profiles',
  'trigger',
  'import records',
  'import files',
  'export',
  'completion',
];
const given: Record<string, string[]> = {
  'keys revoke': ['key_1'],
  'users reset-password': ['ann@example.org'],
  'chain accept-reorg': ['1'],
  'chain fund': [`0x${'11'.repeat(20)}`, '1'],
  'workspaces limits': ['default'],
  'approvals off': ['--workspace', 'default'],
  archive: ['--before', '2026-01-01'],
  'evidence export': ['fil_1', '--out', 'never-written.zip'],
};

let dir: string;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-manners-'));
});
after(() => rm(dir, { recursive: true }));

test('commands refuse a data directory without an installation, and create nothing', async () => {
  const archive = join(dir, 'archive.tar');
  const mistyped = join(dir, 'mistyped');
  const empty = join(dir, 'empty');
  await mkdir(empty);
  const readers = leavesOf(createProgram()).filter((name) => !makers.includes(name));
  assert.ok(readers.includes('fsck') && readers.includes('keys list') && readers.includes('chain status'));
  for (const name of readers) {
    const args = [...name.split(' '), ...(name === 'backup' ? [archive] : (given[name] ?? []))];
    const { code, stdout, stderr } = await command({ HOLDFAST_DATA_DIR: mistyped }, ...args);
    assert.deepEqual([code > 0, stdout], [true, ''], name);
    const told = `There is no Holdfast installation in ${mistyped}, which does not exist. Set HOLDFAST_DATA_DIR`;
    assert.ok(stderr.startsWith(told), `${name}: ${stderr}`);
    assert.ok(!existsSync(mistyped), name);
  }
  const { code, stderr } = await command({ HOLDFAST_DATA_DIR: empty }, 'fsck');
  assert.equal(code, 2);
  assert.ok(
    stderr.startsWith(`There is no Holdfast installation in ${empty}. Set HOLDFAST_DATA_DIR`),
    stderr,
  );
  assert.deepEqual(await readdir(empty), []);
  assert.ok(!existsSync(archive));
});

test('a start on a port in use leaves nothing behind, and names misspelt settings', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  try {
    const PORT = String((other.address() as AddressInfo).port);
    const dataDir = join(dir, 'never-made');
    const settings = { HOLDFAST_DATA_DIR: dataDir, HOLDFAST_RATELIMIT: 'off', PORT };
    const { code, stderr } = await command(settings, 'serve');
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`Port ${PORT} on 127.0.0.1 is already in use`));
    assert.match(stderr, /"level":"warn".*no setting HOLDFAST_RATELIMIT.*Did you mean HOLDFAST_RATE_LIMIT\?/);
    assert.ok(!existsSync(dataDir));
  } finally {
    other.close();
  }
});

test('names an unknown setting together with the likely intended one', async () => {
  assert.deepEqual(
    unknownSettings([
      'HOLDFAST_DATADIR',
      'HOLDFAST_PORT',
      'HOLDFAST_DATA_DIR',
      'HOLDFAST_XYZZY',
      'HOLDFAST_API_KEY',
      'HOLDFAST_TEST_SEED',
      'HOME',
    ]),
    [
      'There is no setting HOLDFAST_DATADIR, so it has no effect. Did you mean HOLDFAST_DATA_DIR?',
      'There is no setting HOLDFAST_PORT, so it has no effect. Did you mean PORT?',
      'There is no setting HOLDFAST_XYZZY, so it has no effect. See .env.example.',
    ],
  );
  const settings = { HOLDFAST_DATA_DIR: join(dir, 'mistyped'), HOLDFAST_DATADIR: dir };
  const { stderr } = await command(settings, 'workspaces', 'list');
  assert.match(
    stderr,
    /^There is no setting HOLDFAST_DATADIR, .*Did you mean HOLDFAST_DATA_DIR\?\nThere is no/,
  );
});

test('explains an unwritable path with the obstacle, the user and the remedy', async () => {
  const file = join(dir, 'file');
  await writeFile(file, '');
  const { code, stderr } = await command({ HOLDFAST_DATA_DIR: join(file, 'data') }, 'migrate');
  assert.equal(code, 1);
  assert.equal(
    stderr,
    `The data directory ${file}/data cannot be used: ${file} is a file, not a directory. Set HOLDFAST_DATA_DIR to another path.\n`,
  );
  const below = join(dir, 'not', 'there');
  const told: [string, RegExp][] = [
    ['EACCES', /\(uid \d+\) may not write in \S+, which belongs to uid \d+ with mode 0700 .*chown or chmod/],
    ['EROFS', /is on a read-only file system/],
    ['ENOSPC', /no space is left on the disk of .* Free some space there, or set SETTING to another path\.$/],
    ['EDQUOT', /disk quota/],
    ['ELOOP', /form a loop/],
    ['EIO', /what the system said/],
  ];
  for (const [code, said] of told) {
    const cause = Object.assign(new Error('what the system said'), { code, syscall: 'mkdir' });
    const error = explainFileFault(cause, { what: 'The place', path: below, setting: 'SETTING' });
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, said, code);
    assert.ok(error.message.startsWith(`The place ${below} cannot be used: `));
  }
  const other = new Error('of another kind');
  assert.equal(explainFileFault(other, { what: 'The place', path: below }), other);
});

test('says what to run if the pinned Node.js is missing', async () => {
  const root = join(dir, 'checkout');
  await mkdir(join(root, 'bin'), { recursive: true });
  await copyFile(join(import.meta.dirname, '../../bin/holdfast'), join(root, 'bin/holdfast'));
  const bare = await runShell(join(root, 'bin/holdfast'));
  assert.equal(bare.code, 1);
  assert.match(bare.stderr, /no packages are installed there\.\nRun: cd ".*checkout" && npm ci/);
  await mkdir(join(root, 'node_modules/node/bin'), { recursive: true });
  const scriptless = await runShell(join(root, 'bin/holdfast'));
  assert.equal(scriptless.code, 1);
  assert.match(scriptless.stderr, /were installed without their install scripts\.\nRun: .*npm ci/);
});

function runShell(script: string): Promise<CommandResult> {
  return new Promise((resolve) =>
    execFile('sh', [script], (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    ),
  );
}

/** "keys list" and the like: all that do something. */
function leavesOf(program: Command): string[] {
  return program.commands.flatMap((command) =>
    command.commands.length === 0
      ? [command.name()]
      : leavesOf(command).map((name) => `${command.name()} ${name}`),
  );
}
