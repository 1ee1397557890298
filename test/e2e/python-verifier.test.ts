/** The second verifier, in Python, by its own tests: all vectors, its command line, its parts. Needs python3. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { vectorNames } from '../support/fixtures/vectors.ts';

const folder = join(import.meta.dirname, '../../verifiers/python');
const skip = spawnSync('python3', ['--version']).status === 0 ? false : 'python3 is not installed';

for (const name of ['test_vectors', 'test_command', 'test_parts']) {
  test(`${name} of the verifier in Python`, { skip }, async () => {
    const { code, output } = await unittest(name);
    assert.equal(code, 0, output);
    assert.match(output, /^Ran [1-9]\d* tests? in /m);
    if (name === 'test_vectors')
      assert.ok(output.includes(`All ${vectorNames().length} vectors agree.`), output);
  });
}

function unittest(name: string): Promise<{ code: number; output: string }> {
  const args = ['-W', 'error', '-B', '-m', 'unittest', `tests.${name}`];
  return new Promise((resolve) => {
    execFile('python3', args, { cwd: folder, maxBuffer: 64 << 20 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    );
  });
}
