/** The second verifier, in Python, by its own tests: the vectors, its command line, its parts. Needs python3. */
// tier: process
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { vectorNames } from '../support/fixtures/vectors.ts';
import { needs, pathOf } from '../support/programs/needs.ts';
import { longOnly } from '../support/service/long.ts';

const folder = join(import.meta.dirname, '../../verifiers/python');
const { test } = needs('python3');

// One by one and in parts: each takes a few seconds, which together could be more than a slow machine allows one test.
for (const name of ['test_command', 'test_parts']) {
  for (const own of testsOf(name)) {
    const skip = name === 'test_command' && longOnly;
    test(`${name}, ${own} of the verifier in Python`, { skip }, async () => {
      const { code, output } = await unittest(name, ['-k', `*.${own}`]);
      assert.equal(code, 0, output);
      assert.match(output, /^Ran 1 test in /m);
    });
  }
}

const partSize = 150;
/** Python takes a minute for all of them. */
const everyDay = 8;
const names = vectorNames().filter((_, place) => longOnly === false || place % everyDay === 0);

for (let from = 0; from < names.length; from += partSize) {
  const part = names.slice(from, from + partSize);
  test(`the verifier in Python agrees on the vectors ${part[0]} to ${part.at(-1)}`, async () => {
    const { code, output } = await unittest('test_vectors', [], { HOLDFAST_VECTORS: part.join() });
    assert.equal(code, 0, output);
    assert.ok(output.includes(`All ${part.length} vectors agree.`), output);
  });
}

function testsOf(name: string): string[] {
  const text = readFileSync(join(folder, `tests/${name}.py`), 'utf8');
  const found = [...text.matchAll(/^class (\w+)|^ {4}def (test_\w+)/gm)];
  let of = '';
  return found.flatMap(([, kind, own]) => {
    if (kind !== undefined) of = kind;
    return own === undefined ? [] : [`${of}.${own}`];
  });
}

function unittest(
  name: string,
  only: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number; output: string }> {
  const args = ['-W', 'error', '-B', '-m', 'unittest', `tests.${name}`, ...only];
  const options = { cwd: folder, env: { ...process.env, ...env }, maxBuffer: 64 << 20 };
  return new Promise((resolve) => {
    execFile(pathOf('python3'), args, options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    );
  });
}
