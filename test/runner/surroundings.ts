/** What a test file shares with the next one in its process, and must leave as it found it. */
import { newId, timeOf } from '../../src/runtime/ids.ts';

/** Replaced by tests that take the place of the clock or of the network. */
const replaceable = {
  Date: () => Date,
  'Date.now': () => Date.now,
  'Math.random': () => Math.random,
  'performance.now': () => performance.now,
  setTimeout: () => setTimeout,
  setInterval: () => setInterval,
  setImmediate: () => setImmediate,
  fetch: () => fetch,
  'process.stdout.write': () => process.stdout.write,
  'process.stderr.write': () => process.stderr.write,
  'process.exit': () => process.exit,
  'process.kill': () => process.kill,
} as const;

/** Set by packages as they are loaded, and then for good. */
const lasting = new RegExp(`^(__|awslambda$|${process.pid}$)`);

const watchedEvents = ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException', 'unhandledRejection', 'warning'];

/** Set by the runner for each file. */
const ours = new Set(['TMPDIR', 'HOLDFAST_TEST_CLOCK']);

export interface Surroundings {
  /** What differs now, each as a sentence. It is put back where that is possible. */
  changes(): string[];
}

export function takeSurroundings(): Surroundings {
  const now = Date.now;
  const directory = process.cwd();
  const mask = process.umask();
  const environment = { ...process.env };
  const names = new Set(Object.getOwnPropertyNames(globalThis));
  const found = Object.entries(replaceable).map(([name, get]) => ({ name, get, value: get() as unknown }));
  const listeners = watchedEvents.map((event) => ({ event, count: process.listenerCount(event) }));
  return {
    changes() {
      const changes = changedVariables(environment).map(
        (name) => `It left the environment variable ${name} changed.`,
      );
      for (const { name, get, value } of found)
        if (get() !== value) changes.push(`It left ${name} replaced.`);
      for (const name of Object.getOwnPropertyNames(globalThis))
        if (!names.has(name) && !lasting.test(name)) changes.push(`It left the global ${name}.`);
      for (const { event, count } of listeners)
        if (process.listenerCount(event) !== count) changes.push(`It left a listener for ${event}.`);
      // Ids never go back.
      if (timeOf(newId('evt')).getTime() > now()) changes.push('It made ids while the clock was ahead.');
      if (process.cwd() !== directory) changes.push(`It left the process in ${process.cwd()}.`);
      if (process.umask() !== mask) changes.push('It left the file mode mask changed.');
      return changes;
    },
  };
}

function changedVariables(before: NodeJS.ProcessEnv): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(process.env)]);
  return [...names].filter((name) => !ours.has(name) && before[name] !== process.env[name]).sort();
}
