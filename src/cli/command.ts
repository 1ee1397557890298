/** What commands other than serve share: open the store, do one thing, print it, and leave everything as it was. */
import type { Logger } from 'pino';
import { type Config, loadEnvFile, readConfig } from '../config.ts';
import { openStore, type Store } from '../store.ts';
import { createLog } from './log.ts';

export interface CommandContext {
  config: Config;
  store: Store;
  log: Logger;
}

/** Runs one command on the store of the configured service, whether that service runs or not. */
export async function withStore(work: (context: CommandContext) => Promise<void>): Promise<void> {
  loadEnvFile();
  const config = readConfig(process.env);
  // A command speaks through its output; only what goes wrong is logged.
  const log = createLog(config.logLevel === 'info' ? 'warn' : config.logLevel);
  const store = await openStore(config, log);
  try {
    await work({ config, store, log });
  } finally {
    await store.close();
  }
}

/** Prints the value as JSON, or as the given text for people. */
export function print(options: { json?: boolean }, value: unknown, text: string): void {
  console.log(options.json ? JSON.stringify(value) : text);
}

/** Rows as aligned columns with a heading; control characters in a name do not reach the terminal. */
export function table(heading: string[], rows: string[][]): string {
  const clean = rows.map((row) => row.map((cell) => cell.replace(/\p{Cc}/gu, '\uFFFD')));
  const widths = heading.map((title, column) =>
    Math.max(title.length, ...clean.map((row) => (row[column] ?? '').length)),
  );
  return [heading, ...clean]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
