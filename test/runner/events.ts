/** A reporter for node:test that writes one JSON line for each finished test, and the reader of these lines. */
import { readFile } from 'node:fs/promises';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

export interface Outcome {
  /** With the names of the tests that it is part of. */
  name: string;
  passed: boolean;
  ms: number;
  /** Why it was skipped; null when it ran. */
  skipped: string | null;
  /** What went wrong, with its stack. */
  error: string | null;
  line: number | null;
}

export interface FileEvents {
  outcomes: Outcome[];
  /** What it said beside its tests, such as an error after the last of them. */
  diagnostics: string[];
  /** Whether the file came to its end; false when its process died before. */
  complete: boolean;
}

/** What node:test runs in the process of the test file. */
// biome-ignore lint/style/noDefaultExport: node:test takes a reporter from there
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const names: string[] = [];
  for await (const { type, data } of source) {
    if (type === 'test:start') {
      names.length = data.nesting;
      names.push(data.name);
    } else if (type === 'test:diagnostic' && data.nesting === 0) {
      yield `${JSON.stringify({ diagnostic: data.message })}\n`;
    } else if (type === 'test:summary') {
      yield '"end"\n';
    } else if (type === 'test:pass' || type === 'test:fail') {
      const error = type === 'test:fail' ? data.details.error : null;
      const isSuite = data.details.type === 'suite';
      // A test whose subtests failed says only that, and a suite only that its tests did.
      if (isSubtestFailure(error) || (isSuite && !error)) continue;
      const outcome: Outcome = {
        name: [...names.slice(0, data.nesting), data.name].join(' > '),
        passed: type === 'test:pass',
        ms: data.details.duration_ms,
        skipped: data.skip === undefined || data.skip === false ? null : String(data.skip),
        error: error && describe(error),
        line: data.line ?? null,
      };
      yield `${JSON.stringify(outcome)}\n`;
    }
  }
}

export async function readEvents(path: string): Promise<FileEvents> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const outcomes: Outcome[] = [];
  const diagnostics: string[] = [];
  let complete = false;
  for (const line of text.split('\n')) {
    const event = parseLine(line);
    if (event === 'end') complete = true;
    else if (event !== null && 'diagnostic' in event) diagnostics.push(event.diagnostic);
    else if (event !== null) outcomes.push(event);
  }
  return { outcomes, diagnostics: diagnostics.filter((line) => !isCount(line)), complete };
}

/** The last line of a process that died may be half a line. */
function parseLine(line: string): Outcome | { diagnostic: string } | 'end' | null {
  try {
    return line === '' ? null : JSON.parse(line);
  } catch {
    return null;
  }
}

/** What node:test tells at the end of every file. */
function isCount(line: string): boolean {
  return /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/.test(line);
}

function isSubtestFailure(error: unknown): boolean {
  return (error as { failureType?: string } | null)?.failureType === 'subtestsFailed';
}

/** node:test wraps what was thrown. */
function describe(error: Error): string {
  const thrown = error.cause ?? error;
  if (!(thrown instanceof Error)) return typeof thrown === 'string' ? thrown : inspect(thrown);
  return inspect(thrown, { depth: 4, maxStringLength: 4000 });
}
