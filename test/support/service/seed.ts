/** The seed of the run for random choices of tests: `npm test -- --seed S`; a fixed one by default. */

export const seed: string = process.env.HOLDFAST_TEST_SEED ?? 'holdfast';
