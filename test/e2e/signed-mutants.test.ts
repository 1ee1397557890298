/** Sign-offs and statements about passkeys, changed at random: both verifiers find the same of each. Needs python3. */
// tier: process
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { needs, pathOf } from '../support/programs/needs.ts';
import { longOnly } from '../support/service/long.ts';
import { seed } from '../support/service/seed.ts';
import { foundBy, runVector } from '../support/vectors/run-vector.ts';
import { type Mutant, signedMutants } from '../support/vectors/signed-mutants.ts';
import type { Vector } from '../support/vectors/vector.ts';

const { test } = needs('python3');
const count = longOnly === false ? 2_000 : 250;
const atOnce = 250;

for (let from = 0; from < count; from += atOnce) {
  test(`both verifiers agree on mutants ${from + 1} to ${from + atOnce}`, async () => {
    const mutants = await signedMutants(`${seed} ${from}`, atOnce);
    const theirs = await judgedInPython(mutants);
    const seen = new Set<string>();
    for (const [place, mutant] of mutants.entries()) {
      const ours = foundBy(await runVector(mutant as Vector));
      assert.deepEqual(theirs[place], ours, `mutant ${from + place + 1}\n${JSON.stringify(mutant)}`);
      for (const { name, status } of 'steps' in ours ? ours.steps : []) seen.add(`${name} ${status}`);
    }
    // Or the mutants are too wild to say anything.
    for (const step of ['signature', 'passkey', 'leaf', 'digest']) {
      assert.ok(seen.has(`${step} pass`) && seen.has(`${step} fail`), `${step}: ${[...seen].join(', ')}`);
    }
  });
}

const judge = `
import json, sys
from tests.test_vectors import outcome
for line in sys.stdin.buffer:
    print(json.dumps(outcome(json.loads(line))[0]))
`;

async function judgedInPython(mutants: Mutant[]): Promise<unknown[]> {
  const cwd = join(import.meta.dirname, '../../verifiers/python');
  const child = spawn(pathOf('python3'), ['-W', 'error', '-B', '-c', judge], { cwd });
  child.stdin.end(mutants.map((mutant) => `${JSON.stringify(mutant)}\n`).join(''));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const code = child.exitCode ?? (await once(child, 'exit'))[0];
  assert.equal(code, 0, stderr);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
