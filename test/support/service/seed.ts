/** The seed of the run, by which tests choose at random: `npm test -- --seed S`; the same unless it is given. */

export const seed: string = process.env.HOLDFAST_TEST_SEED ?? 'holdfast';
