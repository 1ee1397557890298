/** A reporter for node:test that writes one JSON line per finished test, and the reader of these lines. */
import { readFile } from 'node:fs/promises';
import type { TestEvent } from 'node:test/reporters';
import { longestEndMs, nameOf, openHandles } from './handles.ts';
import { type Outcome, outcomesOf } from './outcomes.ts';

export interface FileEvents {
  outcomes: Outcome[];
  /** Messages outside of tests, such as an error after the last one. */
  diagnostics: string[];
  /** Whether the file ran to its end; false when its process died before. */
  complete: boolean;
}

/** What runs after all tests is not reported before the process ends, so it is given time, too. */
const endsWithHooks = 10;

/** The exit code of a process that does not end after its last test. */
export const hangingExitCode = 97;

/** node:test runs this in the process of the test file. */
// biome-ignore lint/style/noDefaultExport: node:test takes a reporter from there
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const read = outcomesOf(0);
  let unfinished = 0;
  for await (const event of source) {
    const { type, data } = event;
    if (type === 'test:enqueue' && data.nesting === 0) {
      unfinished += 1;
    } else if (type === 'test:complete' && data.nesting === 0) {
      unfinished -= 1;
      if (unfinished === 0) setTimeout(endHanging, endsWithHooks * longestEndMs).unref();
    } else if (type === 'test:summary') {
      yield '"end"\n';
    } else if (type === 'test:diagnostic' && data.nesting === 0 && !isCount(data.message)) {
      yield `${JSON.stringify({ diagnostic: data.message })}\n`;
    }
    const outcome = read(event);
    if (outcome !== null) yield `${JSON.stringify(outcome)}\n`;
  }
}

/** Runs only where something keeps the process alive: the timer does not. */
function endHanging(): void {
  const names = [...openHandles()].map((handle) => `\n  ${nameOf(handle)}`);
  process.stderr.write(`The last test has ended, but these keep the process running: ${names.join('')}\n`);
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
  return { outcomes, diagnostics, complete };
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
