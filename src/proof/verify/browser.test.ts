/** The verifier in an environment that has only what browsers provide. */
// tier: process
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { vectorNames } from '../../../test/support/fixtures/vectors.ts';
import { plainKeccak } from '../keccak.ts';
import { buildTree } from '../merkle.ts';

test('verifier and trees use only what browsers provide, and fetch nothing', async () => {
  const program = join(import.meta.dirname, '../../../test/support/fixtures/browser-proof.child.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    program,
  ]);
  const { vectors, differing, history, root } = JSON.parse(stdout);
  assert.deepEqual([vectors, differing, history], [vectorNames().length, [], 'pass']);
  assert.deepEqual(root, [...buildTree(new Uint8Array(96), plainKeccak).root]);
});
