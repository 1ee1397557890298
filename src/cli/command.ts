/** Shared by all commands other than serve: open the store, do one thing, print it, and leave everything as it was. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { findWorkspace, operatorIn } from '../access/workspaces/workspaces.ts';
import { openStore, type Store } from '../app/store.ts';
import type { Config } from '../config/config.ts';
import type { LogLevel } from '../config/node-settings.ts';
import { isMigrated } from '../db/migrate.ts';
import { openServers } from '../db/server/servers.ts';
import type { Caller } from '../runtime/caller.ts';
import { AppError, OperatorError } from '../runtime/errors.ts';
import { createLog } from './log.ts';
import { readSettings } from './settings.ts';

export interface CommandContext {
  config: Config;
  store: Store;
  log: Logger;
}

export const workspaceOption = [
  '--workspace <id>',
  'id or slug of the workspace (default: the default workspace)',
] as const;

export interface StoreUse {
  /** Creates the installation if there is none. By default a missing one is an error, so that a mistyped path is noticed. */
  mayCreate?: boolean;
  /** A command reports through its output; by default only warnings and errors are logged. */
  usualLogLevel?: LogLevel;
}

/** Runs one command on the store of the configured service, whether or not that service is running. */
export async function withStore(
  work: (context: CommandContext) => Promise<void>,
  { mayCreate = false, usualLogLevel = 'warn' }: StoreUse = {},
): Promise<void> {
  const config = readSettings(console.error);
  if (!mayCreate) await requireInstallation(config);
  const log = createLog(config.logLevel === 'info' ? usualLogLevel : config.logLevel);
  const store = await openStore(config, log);
  try {
    await work({ config, store, log });
  } finally {
    await store.close();
  }
}

/** With an external database the data directory may be empty, and reading creates nothing in it. */
export async function requireInstallation({ dataDir, databaseUrl }: Config): Promise<void> {
  if (databaseUrl !== null) {
    const servers = await openServers(databaseUrl).catch(() => null);
    // Opening the store meets the actual error.
    if (servers === null || (await isMigrated(servers.connection()))) return;
    throw new OperatorError(
      'There is no Holdfast installation in the database of DATABASE_URL. Check DATABASE_URL; "holdfast serve" creates a new installation.',
    );
  }
  if (!isMissing(join(dataDir, 'postgres'))) return;
  throw new OperatorError(
    `There is no Holdfast installation in ${dataDir}${isMissing(dataDir) ? ', which does not exist' : ''}. Set HOLDFAST_DATA_DIR to the data directory of the service, or DATABASE_URL to its database; "holdfast serve" creates a new installation.`,
  );
}

/** A path that exists but cannot be accessed is not missing: opening it reports why. */
function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** The operator as a caller in the named workspace. */
export async function callerFor(store: Store, { workspace }: { workspace?: string }): Promise<Caller> {
  const { id } = await findWorkspace(store.database.db, workspace);
  return operatorIn(id);
}

/** Reports an error of the API with the same message. */
export function explain(error: unknown): never {
  throw error instanceof AppError ? new OperatorError(error.message) : error;
}

/** Prints the value as JSON, or the given text for people. */
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
