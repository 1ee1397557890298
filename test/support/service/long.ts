/** Long tests, which `npm test` skips or does a part of; `npm run test:long` includes them whole. */
import { createRandom } from '../../faults/random.ts';
import { seed } from './seed.ts';

/** For `{ skip }`: why a test is skipped, or false. */
export const longOnly: string | false =
  process.env.HOLDFAST_TEST_LONG === '1' ? false : 'takes long: npm run test:long has it';

/** A third of them, others with each seed; all of them in the long run. */
export function someOf<T>(list: readonly T[]): T[] {
  if (!longOnly) return [...list];
  const chosen = createRandom(seed)
    .shuffle(list)
    .slice(0, Math.ceil(list.length / 3));
  return list.filter((item) => chosen.includes(item));
}
