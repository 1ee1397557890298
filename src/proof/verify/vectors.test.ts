/** Every vector of test/vectors: verdict, time and the status of each step, as the vector says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readVectorFile, vectorNames } from '../../../test/support/fixtures/vectors.ts';
import { foundBy, runVector } from '../../../test/support/vectors/run-vector.ts';

for (const name of vectorNames()) {
  test(name, async () => {
    const vector = readVectorFile(name);
    const verification = await runVector(vector);
    assert.deepEqual(foundBy(verification), vector.expected, JSON.stringify(verification.steps, null, 1));
  });
}
