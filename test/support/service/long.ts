/** Long tests, which `npm test` skips; `npm run test:long` includes them. */

/** For `{ skip }`: why a test is skipped, or false. */
export const longOnly: string | false =
  process.env.HOLDFAST_TEST_LONG === '1' ? false : 'takes long: npm run test:long has it';
