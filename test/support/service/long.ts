/** Tests that take long and stay out of `npm test`; `npm run test:long` has them too. */

/** For `{ skip }`: why a test is left out, or false. */
export const longOnly: string | false =
  process.env.HOLDFAST_TEST_LONG === '1' ? false : 'takes long: npm run test:long has it';
