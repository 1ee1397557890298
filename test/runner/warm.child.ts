/** A warm worker: runs the test files that it is sent, one after the other, in this process. */
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { leftOpen, openHandles } from './handles.ts';
import { root } from './options.ts';
import { moveClock } from './preload.ts';
import { takeSurroundings } from './surroundings.ts';
import { fileReported } from './warm-reporter.ts';
import type { FileRequest, WarmMessage } from './warm-worker.ts';

const tell = (message: WarmMessage) => process.send?.(message);
const load = createRequire(import.meta.url);
const stray: string[] = [];
process.on('uncaughtExceptionMonitor', (error) => stray.push(`An error that no test caught: ${error.stack}`));

// Starts node:test, so that its own listeners are there before the first file.
await test('start', () => {});
await fileReported('start');
const surroundings = process.argv[2] === 'alone' ? null : takeSurroundings();
let last = Promise.resolve();
process.on('message', (request: FileRequest) => {
  last = last.then(() => run(request));
});
process.on('disconnect', () => process.exit());
const handles = openHandles();
tell({ ready: true });

async function run({ file, temporary, clockMs }: FileRequest): Promise<void> {
  if (clockMs !== undefined) moveClock(clockMs);
  process.env.TMPDIR = temporary;
  // node:test waits for the tests that this adds to the one that runs, and gives them its limit. Only what is called
  // synchronously belongs to it, as promises are not followed (preload.ts).
  await test(file, { timeout: 2 ** 31 - 1 }, () => void load(resolve(root, file)));
  await fileReported(file);
  const open = await leftOpen(handles);
  const faults = [
    ...stray.splice(0),
    ...open.map((name) => `It left open: ${name}.`),
    ...(surroundings?.changes() ?? []),
  ];
  tell({ ended: { faults, rssBytes: process.memoryUsage.rss() } });
}
