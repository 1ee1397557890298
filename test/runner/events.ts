/** A reporter for node:test that writes one JSON line per finished test, and the reader of these lines. */
import { readFile } from 'node:fs/promises';
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

export interface FileEvents {
  outcomes: Outcome[];
  /** Messages outside of tests, such as an error after the last one. */
  diagnostics: string[];
  /** Whether the file ran to its end; false when its process died before. */
  complete: boolean;
}

/** The exit code of a process that does not end after its last test. */
export const hangingExitCode = 97;
/** As long as a test may take; what closes a service in `after` takes a second. */
const longestEndMs = Number(process.env.HOLDFAST_TEST_LONGEST_END_MS ?? 120_000);

/** node:test runs this in the process of the test file. */
// biome-ignore lint/style/noDefaultExport: node:test takes a reporter from there
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const names: string[] = [];
  let unfinished = 0;
  for await (const { type, data } of source) {
    if (type === 'test:enqueue' && data.nesting === 0) {
      unfinished += 1;
    } else if (type === 'test:complete' && data.nesting === 0) {
      unfinished -= 1;
      if (unfinished === 0) setTimeout(endHanging, longestEndMs).unref();
    } else if (type === 'test:start') {
      names.length = data.nesting;
      names.push(data.name);
    } else if (type === 'test:diagnostic' && data.nesting === 0) {
      yield `${JSON.stringify({ diagnostic: data.message })}\n`;
    } else if (type === 'test:summary') {
      yield '"end"\n';
    } else if (type === 'test:pass' || type === 'test:fail') {
      const error = type === 'test:fail' ? data.details.error : null;
      const isSuite = data.details.type === 'suite';
      // A test with failed subtests, or a suite with failed tests, has no error of its own.
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

/** Runs only where something keeps the process alive: the timer does not. */
function endHanging(): void {
  const held = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
  const counts = [...held].map(([kind, all]) => `${all.length} × ${kind}`).join(', ');
  process.stderr.write(`The last test has ended, but these keep the process running: ${counts}.\n`);
  process.exit(hangingExitCode);
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

/** The last line of a process that died may be incomplete. */
function parseLine(line: string): Outcome | { diagnostic: string } | 'end' | null {
  try {
    return line === '' ? null : JSON.parse(line);
  } catch {
    return null;
  }
}

/** The counts that node:test prints at the end of every file. */
function isCount(line: string): boolean {
  return /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/.test(line);
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
