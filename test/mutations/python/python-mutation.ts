/** Tables of mistakes in the second verifier, each with the vector that shows it. */
import type { Mutation } from '../mutation.ts';

/** There a rule is `require(condition, message)`. Without its condition it is none. */
export function withoutRules(
  file: string,
  rows: [unnoticed: string, condition: string, vector: string][],
): Mutation[] {
  return rows.map(([unnoticed, condition, vector]) =>
    unnoticing(file, unnoticed, [`require(${condition},`, 'require(True,'], vector),
  );
}

/** Others end a step by `if condition:`. */
export function withoutEnds(
  file: string,
  rows: [unnoticed: string, condition: string, vector: string][],
): Mutation[] {
  return rows.map(([unnoticed, condition, vector]) =>
    unnoticing(file, unnoticed, [`if ${condition}:`, 'if False:'], vector),
  );
}

/** And some are written in another way. */
export function replacing(
  file: string,
  rows: [unnoticed: string, text: string, replacement: string, vector: string][],
): Mutation[] {
  return rows.map(([unnoticed, text, replacement, vector]) =>
    unnoticing(file, unnoticed, [text, replacement], vector),
  );
}

/** A number, or a member of a list, that is another one: the two verifiers would not agree any more. */
export function changing(
  file: string,
  rows: [name: string, text: string, replacement: string, vector: string][],
): Mutation[] {
  return rows.map(([name, text, replacement, vector]) => ({
    ...mutationOf(file, name, [text, replacement], vector),
    why: 'Two verifiers would differ.',
  }));
}

/** `unnoticed` is what such a verifier accepts, as the end of a sentence. */
function unnoticing(file: string, unnoticed: string, change: [string, string], vector: string): Mutation {
  return { ...mutationOf(file, unnoticed, change, vector), why: `Nobody would notice that ${unnoticed}.` };
}

function mutationOf(
  file: string,
  name: string,
  [text, replacement]: [string, string],
  vector: string,
): Omit<Mutation, 'why'> {
  return {
    ...{ name: `in Python: ${name}`, file: `verifiers/python/holdfast_verify/${file}` },
    ...{ text, replacement, vector },
    tests: ['verifiers/python/tests/test_vectors.py'],
  };
}
