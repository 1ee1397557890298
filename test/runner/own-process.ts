/** Runs a test file, or those of its tests whose name matches, in a process that node:test itself runs in. */
import { join, resolve } from 'node:path';
import { startChild } from './child-process.ts';
import { hangingExitCode, readEvents } from './events.ts';
import type { InProcess } from './file-run.ts';
import { root } from './options.ts';

export interface OwnProcessOptions {
  temporary: string;
  env: Record<string, string>;
  /** Only tests whose name matches. */
  name: string | null;
  signal: AbortSignal;
}

/** Per test; longer tests set their own. */
const testTimeoutMs = 120_000;
/** Only for a process that hangs: the longest file takes minutes, and ten times that under stress. */
const fileTimeoutMs = 3_600_000;

export async function runInOwnProcess(file: string, options: OwnProcessOptions): Promise<InProcess> {
  const { temporary, env, name, signal } = options;
  const eventsFile = `${temporary}.events`;
  const run = startChild({
    args: [
      `--test-timeout=${testTimeoutMs}`,
      ...['--test-reporter', join(import.meta.dirname, 'events.ts')],
      ...['--test-reporter-destination', eventsFile],
      ...(name === null ? [] : ['--test-name-pattern', pattern(name)]),
      resolve(root, file),
    ],
    env: { ...env, TMPDIR: temporary },
    signal,
  });
  let late = false;
  const limit = setTimeout(() => {
    late = true;
    run.end();
  }, fileTimeoutMs);
  const ended = await run.ended;
  clearTimeout(limit);
  const { outcomes, diagnostics, complete } = await readEvents(eventsFile);
  const faults: string[] = [];
  if (signal.aborted) return { outcomes, faults, output: run.output() };
  if (late) faults.push(`It was still running after ${fileTimeoutMs / 60_000} minutes.`);
  else if (ended === hangingExitCode) faults.push('Its tests ended, but its process kept running.');
  // Without any test, node:test does not even start.
  else if (ended === 0 && outcomes.length === 0 && name === null) faults.push('It ran no test.');
  else if (!complete) faults.push(`Its process ended with ${ended} before the tests did.`);
  else if (ended !== 0 && outcomes.every(({ passed }) => passed))
    faults.push([`Its process ended with ${ended}.`, ...diagnostics].join('\n'));
  return { outcomes, faults, output: run.output() };
}

/** Plain text matches anywhere in a name; node:test takes a regular expression. */
function pattern(name: string): string {
  if (/^\/.*\/\w*$/.test(name)) return name;
  return name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
