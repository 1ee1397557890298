/** A mistake that somebody could make, the reason why it matters, and the tests that have to notice it. */

export interface Mutation {
  /** Short, and the only one of its kind: how it is called on the command line. */
  name: string;
  /** Of the product, relative to the root of the checkout. */
  file: string;
  /** Occurs exactly once in the file. */
  text: string;
  replacement: string;
  why: string;
  /** Each of these has to turn red. */
  tests: string[];
  /** For a mistake in the second verifier, whose tests are one: the vector that it has to judge in another way. */
  vector?: string;
}

/** For tables: several mistakes in one file that the same tests have to notice. */
export function mutationsOf(
  file: string,
  tests: string[],
  rows: [name: string, text: string, replacement: string, why: string][],
): Mutation[] {
  return rows.map(([name, text, replacement, why]) => ({ name, file, text, replacement, why, tests }));
}

/** The text of the file with the mistake in it; throws when it does not say what the mutation is about any more. */
export function mutated(source: string, { name, file, text, replacement }: Mutation): string {
  const [before, after, ...more] = source.split(text);
  if (before === undefined || after === undefined || more.length > 0) {
    const times = source.split(text).length - 1;
    throw new Error(`"${name}": its text occurs ${times} times in ${file}, not once:\n${text}`);
  }
  return before + replacement + after;
}
