/** Environments for processes that load runner/preload.ts first. */
import { join } from 'node:path';

const option = `--import ${JSON.stringify(join(import.meta.dirname, '../../runner/preload.ts'))}`;

/**
 * Its settings: `HOLDFAST_TEST_CLOCK` shifts Date by milliseconds, `HOLDFAST_TEST_PACKAGES` is the directory of the
 * bundles.
 */
export interface Preloaded {
  HOLDFAST_TEST_CLOCK?: string;
  HOLDFAST_TEST_PACKAGES?: string;
}

export function preloading(preloaded: Preloaded): Record<string, string> {
  const given = process.env.NODE_OPTIONS ?? '';
  const NODE_OPTIONS = given.includes(option) ? given : `${given} ${option}`.trim();
  return { ...(preloaded as Record<string, string>), NODE_OPTIONS };
}

/** For a child process: the same as here. */
export function inheritedPreload(): Record<string, string> {
  const { HOLDFAST_TEST_CLOCK, HOLDFAST_TEST_PACKAGES } = process.env;
  return {
    ...(HOLDFAST_TEST_CLOCK !== undefined && preloading({ HOLDFAST_TEST_CLOCK })),
    ...(HOLDFAST_TEST_PACKAGES !== undefined && preloading({ HOLDFAST_TEST_PACKAGES })),
  };
}
