/** Runs `holdfast verify` on files in a directory of its own, and reads what it prints. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command } from './commands.ts';
import type { CommandResult, Settings } from './process.ts';

export interface VerifyCommand {
  dir: string;
  /** With them, code that opens the store fails, or leaves a directory behind. */
  settings: Settings;
  path(name: string): string;
  /** Returns the path. What is no text is written as JSON. */
  write(name: string, value: unknown): Promise<string>;
  verify(...args: string[]): Promise<CommandResult>;
  /** In a process of its own, since standard input ends only once. */
  verifyPiped(input: string, ...args: string[]): Promise<CommandResult>;
  /** Also checks that nothing was made in the data directory. */
  close(): Promise<void>;
}

export async function openVerifyCommand(): Promise<VerifyCommand> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-verify-'));
  const settings = { DATABASE_URL: 'postgres://127.0.0.1:1/none', HOLDFAST_DATA_DIR: join(dir, 'data') };
  const path = (name: string) => join(dir, name);
  return {
    ...{ dir, settings, path },
    async write(name, value) {
      await writeFile(path(name), typeof value === 'string' ? value : JSON.stringify(value));
      return path(name);
    },
    verify: (...args) => command(settings, 'verify', ...args),
    verifyPiped(input, ...args) {
      const main = join(import.meta.dirname, '../../../src/main.ts');
      return new Promise((resolve) => {
        const child = execFile(process.execPath, [main, 'verify', ...args], (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
        );
        // A command that rejects its arguments exits before it has read anything.
        child.stdin?.on('error', () => {});
        child.stdin?.end(input);
      });
    },
    async close() {
      const made = existsSync(join(dir, 'data'));
      await rm(dir, { recursive: true });
      assert.equal(made, false, 'nothing was made in the data directory');
    },
  };
}

/** By the name of the step, with the anchor that it is about. */
export function stepsIn(output: string): Record<string, string> {
  const lines = [...output.matchAll(/^([a-z0-9 ]+?) +(pass|FAIL|skip) {2}\S/gm)];
  return Object.fromEntries(lines.map(([, name, status]) => [name, status]));
}

/** What is printed below the steps. */
export function hintsIn(output: string): string[] {
  const [, , , ...hints] = output.trimEnd().split('\n\n');
  return hints.flatMap((block) => block.split('\n'));
}
