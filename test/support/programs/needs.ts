/**
 * Says which optional programs tests need: where one is missing, they are skipped with what to install, or fail if the
 * run requires it (`npm test -- --require NAMES`). A program can be had only in such tests and hooks:
 *
 *     const { test, before } = needs('chromium');
 *
 * A file with other tests beside them gives it a name instead: `const browser = needs('chromium')`, `browser.test(…)`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { delimiter, dirname } from 'node:path';
import {
  after,
  before,
  describe,
  type SuiteContext,
  type TestContext,
  type TestOptions,
  test,
} from 'node:test';
import { describeNeed, findProgram, requiredPrograms } from './find.ts';
import type { ProgramName } from './table.ts';

export interface Needing {
  test: Registering<TestContext>;
  /** What is registered in its body may use the programs, too. */
  describe: Registering<SuiteContext>;
  /** Hooks do nothing where a program is missing. */
  before(hook: () => unknown, options?: { timeout?: number }): void;
  after(hook: () => unknown, options?: { timeout?: number }): void;
}

interface Registering<Context> {
  (name: string, work: Work<Context>): void;
  (name: string, options: TestOptions, work: Work<Context>): void;
}

type Work<Context> = (context: Context) => void | Promise<void>;

const inUse = new AsyncLocalStorage<ReadonlySet<ProgramName>>();
const required = requiredPrograms(process.env.HOLDFAST_TEST_REQUIRE ?? '').names;

export function needs(...names: [ProgramName, ...ProgramName[]]): Needing {
  const missing = names.filter((name) => findProgram(name) === null);
  const fatal = missing.filter((name) => required.has(name)).map(describeNeed);
  const why = fatal.length === 0 && missing.length > 0 && missing.map(describeNeed).join(', ');

  function register(name: string, options: TestOptions, work: Work<TestContext>): void {
    const skip = options.skip || why;
    void test(name, { ...options, skip }, fatal.length > 0 ? fail : (t) => usePrograms(names, () => work(t)));
  }
  function fail(): void {
    throw new Error(`It ${fatal.join(', ')}, and this run requires it.`);
  }
  function hook(on: typeof before, work: () => unknown, options: { timeout?: number } = {}): void {
    if (missing.length === 0) on(async () => void (await usePrograms(names, work)), options);
  }
  return {
    test: (name: string, ...rest: Rest<TestContext>) => register(name, ...optionsAnd(rest)),
    describe(name: string, ...rest: Rest<SuiteContext>) {
      const [options, work] = optionsAnd(rest);
      // As one test, which says why.
      if (missing.length > 0) return register(name, options, () => {});
      void describe(name, options, (context) => usePrograms(names, () => work(context)));
    },
    before: (work, options) => hook(before, work, options),
    after: (work, options) => hook(after, work, options),
  };
}

type Rest<Context> = [Work<Context>] | [TestOptions, Work<Context>];

function optionsAnd<Context>(rest: Rest<Context>): [TestOptions, Work<Context>] {
  return rest.length === 1 ? [{}, rest[0]] : rest;
}

/** The same for what is no test: `work`, and whatever it starts, has these programs. */
export function usePrograms<T>(names: readonly ProgramName[], work: () => T): T {
  return inUse.run(new Set([...(inUse.getStore() ?? []), ...names]), work);
}

/** For what runs commands as a reader would: the folders of the programs in use come first. */
export function pathWithPrograms(): string {
  const folders = [...(inUse.getStore() ?? [])].map((name) => dirname(pathOf(name)));
  return [...new Set(folders), process.env.PATH].join(delimiter);
}

/** Where the program is. Throws where nobody has said that it is needed, also on a machine that has it. */
export function pathOf(name: ProgramName): string {
  if (!inUse.getStore()?.has(name)) {
    throw new Error(
      `What uses ${name} is a test or hook of needs('${name}'): see test/support/programs/needs.ts.`,
    );
  }
  return findProgram(name) ?? raise(`It ${describeNeed(name)}.`);
}

function raise(message: string): never {
  throw new Error(message);
}
