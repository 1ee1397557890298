/** What commands other than serve share: open the store, do one thing, print it, and leave everything as it was. */
import type { Logger } from 'pino';
import { findWorkspace, operatorIn } from '../auth/workspaces.ts';
import type { Caller } from '../caller.ts';
import { type Config, type LogLevel, loadEnvFile, readConfig } from '../config.ts';
import { AppError, OperatorError } from '../errors.ts';
import { openStore, type Store } from '../store.ts';
import { createLog } from './log.ts';

export interface CommandContext {
  config: Config;
  store: Store;
  log: Logger;
}

export const workspaceOption = [
  '--workspace <id>',
  'id or slug of the workspace (default: the default workspace)',
] as const;

/**
 * Runs one command on the store of the configured service, whether that service runs or not.
 * A command speaks through its output; by default only what goes wrong is logged.
 */
export async function withStore(
  work: (context: CommandContext) => Promise<void>,
  usualLogLevel: LogLevel = 'warn',
): Promise<void> {
  loadEnvFile();
  const config = readConfig(process.env);
  const log = createLog(config.logLevel === 'info' ? usualLogLevel : config.logLevel);
  const store = await openStore(config, log);
  try {
    await work({ config, store, log });
  } finally {
    await store.close();
  }
}

/** The operator, in the workspace that was named. */
export async function callerFor(store: Store, { workspace }: { workspace?: string }): Promise<Caller> {
  const { id } = await findWorkspace(store.database.db, workspace);
  return operatorIn(id);
}

/** What the API would refuse, told in the same sentence. */
export function explain(error: unknown): never {
  throw error instanceof AppError ? new OperatorError(error.message) : error;
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
