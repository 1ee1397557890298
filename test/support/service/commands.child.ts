/** The process of commands.ts: runs the commands it receives, one after the other, like main.ts runs one. */
import { writeSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

interface Order {
  env: Record<string, string>;
  args: string[];
  /** Printed before and after the command's output, on both streams; then the exit code. */
  mark: string;
}

enableCompileCache();
const { runCommandLine } = await import('../../../src/cli/program.ts');
let last = Promise.resolve();
let mark = '';

process.on('message', (order: Order) => {
  last = last.then(() => run(order));
});
process.on('disconnect', () => process.kill(process.pid));

// Output after a command called exit, about this very error, comes after the mark and is not read.
process.exit = (code) => {
  end(Number(code ?? process.exitCode ?? 0));
  throw new Error('the command has ended itself');
};

async function run({ env, args, mark: given }: Order): Promise<void> {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.execPath, join(import.meta.dirname, '../../../src/main.ts'), ...args];
  process.exitCode = undefined;
  mark = given;
  printBoth(mark);
  await runCommandLine();
  end(Number(process.exitCode ?? 0));
}

function end(code: number): void {
  // A command leaves its listeners to the end of its process.
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  printBoth(`${mark}${code}\n`);
}

function printBoth(text: string): void {
  for (const stream of [1, 2]) writeSync(stream, text);
}
