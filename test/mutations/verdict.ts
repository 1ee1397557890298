/** Runs test files in a copy of the checkout, and says what their outcome means for the mistake that is in it. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FileRun } from '../runner/file-run.ts';
import { runBounded } from './bounded-run.ts';
import type { Mutation } from './mutation.ts';

/** A mistake may keep a process from ever ending. The longest of these files takes a minute, ten times that under load. */
const longestMs = 600_000;

export interface TestRun {
  /** Null when it came to no report. */
  runs: FileRun[] | null;
  output: string;
}

/** `npm test -- FILE …`, as a person would type it there. Ended with the signal, it takes away what it started. */
export async function runTests(folder: string, files: string[], signal: AbortSignal): Promise<TestRun> {
  const report = join(folder, 'outcome.json');
  rmSync(report, { force: true });
  const command = [process.execPath, 'test/run.ts', ...files, '--report', report];
  const { output } = await runBounded(command, { cwd: folder, longestMs, signal });
  return { runs: readReport(report), output };
}

export interface Verdict {
  killed: boolean;
  /** What turned red, or what is wrong. */
  story: string;
}

/**
 * Red has to come from a test that noticed: an assertion failed, or others in the same file passed. A file in which nothing
 * passes otherwise says only that the changed code cannot be loaded.
 */
export function judge({ tests }: Mutation, { runs, output }: TestRun): Verdict {
  if (runs === null) return { killed: false, story: `the tests came to no end:\n${output}` };
  const red: string[] = [];
  for (const file of tests) {
    const run = runs.find((one) => one.file === file);
    const ran = run?.outcomes.filter(({ skipped }) => skipped === null) ?? [];
    const failed = ran.filter(({ passed }) => !passed);
    if (failed.length === 0 && run?.faults.length === 0)
      return { killed: false, story: `${file} stays green` };
    const noticed =
      failed.length < ran.length || failed.some(({ error }) => error?.startsWith('AssertionError'));
    if (failed.length === 0 || !noticed) {
      const faults = [...(run?.faults ?? []), ...failed.map(({ error }) => error?.split('\n')[0] ?? '')];
      return { killed: false, story: `in ${file} nothing passes, or nothing fails: ${faults.join('; ')}` };
    }
    const [first] = failed;
    const more = failed.length > 1 ? ` and ${failed.length - 1} more` : '';
    red.push(`"${first?.name}"${more} of ${file}`);
  }
  return { killed: true, story: red.join(', ') };
}

/** Files that are not green without any mistake: what they say of one means nothing. */
export function notGreen({ runs, output }: TestRun): string[] {
  if (runs === null) return [output];
  return runs
    .filter(({ faults, outcomes }) => faults.length > 0 || outcomes.some(({ passed }) => !passed))
    .map(({ file, faults, outcomes }) => {
      const failed = outcomes.filter(({ passed }) => !passed).map(({ name, error }) => `${name}: ${error}`);
      return `${file}: ${[...faults, ...failed].join('\n')}`;
    });
}

function readReport(path: string): FileRun[] | null {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { runs: FileRun[] }).runs;
  } catch {
    return null;
  }
}
