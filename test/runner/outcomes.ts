/** What node:test reports of a file: the outcome of each of its tests. */
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

export interface Outcome {
  /** Includes the names of the enclosing tests. */
  name: string;
  passed: boolean;
  ms: number;
  /** Why it was skipped; null when it ran. */
  skipped: string | null;
  /** The error with its stack. */
  error: string | null;
  line: number | null;
}

/**
 * The tests of a file are those from this depth of nesting on: a warm worker wraps each file in a test. A wrapper that
 * passes has no outcome, because it holds nothing.
 */
export function outcomesOf(depth: number) {
  const names: string[] = [];
  return ({ type, data }: TestEvent): Outcome | null => {
    if (type === 'test:start') {
      names.length = data.nesting;
      names.push(data.name);
    } else if (type === 'test:pass' || type === 'test:fail') {
      const error = type === 'test:fail' ? data.details.error : null;
      const isSuite = data.details.type === 'suite' || data.nesting < depth;
      // A test with failed subtests, or a suite with failed tests, has no error of its own.
      if (isSubtestFailure(error) || (isSuite && !error)) return null;
      return {
        name: [...names.slice(depth, data.nesting), data.name].join(' > '),
        passed: type === 'test:pass',
        ms: data.details.duration_ms,
        skipped: data.skip === undefined || data.skip === false ? null : String(data.skip),
        error: error && describe(error),
        // A test that is registered by a function of another file has its line there.
        line: data.file?.endsWith('.test.ts') ? (data.line ?? null) : null,
      };
    }
    return null;
  };
}

function isSubtestFailure(error: unknown): boolean {
  return (error as { failureType?: string } | null)?.failureType === 'subtestsFailed';
}

/** node:test wraps the thrown error. */
function describe(error: Error): string {
  const thrown = error.cause ?? error;
  if (!(thrown instanceof Error)) return typeof thrown === 'string' ? thrown : inspect(thrown);
  return inspect(thrown, { depth: 4, maxStringLength: 4000 });
}
