/** The unit for systemd: known settings only, a strict sandbox, and times that fit the service. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { stopDeadlineMs } from '../../src/cli/serve.ts';
import { needs, pathOf } from '../support/programs/needs.ts';

const file = join(resolve(import.meta.dirname, '../..'), 'deploy/systemd/holdfast.service');
const program = 'systemd-analyze';
const analysis = needs(program);
const unit = readFileSync(file, 'utf8');

analysis.test('systemd knows every setting of the unit and every value', () => {
  const { stderr } = spawnSync(pathOf(program), ['verify', file], { encoding: 'utf8' });
  // The program itself is not installed here, and other units are none of ours.
  const faults = stderr
    .split('\n')
    .filter((line) => /holdfast/.test(line) && !/is not executable/.test(line));
  assert.deepEqual(faults, []);
});

analysis.test('the exposure of the unit is at most 1.5 of 10', () => {
  const args = ['security', '--offline=true', '--threshold=15', '--no-pager', file];
  const { status, stdout, stderr } = spawnSync(pathOf(program), args, { encoding: 'utf8' });
  assert.equal(status, 0, `${stderr}${stdout}`);
  assert.match(stdout, /Overall exposure level for holdfast\.service: [01]\.\d/);
});

test('the service may run the code that it compiles', () => {
  assert.doesNotMatch(unit, /^MemoryDenyWriteExecute=/m);
});

test('systemd waits longer for the end than the service takes', () => {
  const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
  assert.ok(Number(seconds) * 1000 >= stopDeadlineMs + 5000, seconds);
});
