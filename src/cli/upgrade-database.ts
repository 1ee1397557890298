/** `holdfast upgrade-database`: moves the embedded database to the installed major version of PostgreSQL, and keeps the old one. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { upgradePaths } from '../db/embedded/paths.ts';
import { OperatorError } from '../runtime/errors.ts';
import { print, requireInstallation } from './command.ts';
import { createLog } from './log.ts';
import { createProgressLine } from './progress-line.ts';
import { readSettings } from './settings.ts';

interface Options {
  oldPrograms?: string;
  json?: boolean;
}

export function addUpgradeDatabaseCommand(program: Command): void {
  program
    .command('upgrade-database')
    .description(
      'move the embedded database to the installed major version of PostgreSQL, and keep the old one',
    )
    .option(
      '--old-programs <directory>',
      'the programs of the PostgreSQL that made the database, such as /usr/lib/postgresql/17/bin',
    )
    .option('--json', 'print {upgraded, from, to, rows, kept}, and no progress')
    .addHelpText(
      'after',
      `
Stop the service first. All rows are copied to a new database beside the old one, which is only read. When the copy is
complete, it takes the place of the old one, which is renamed to postgres-VERSION. If the command is interrupted, run it
again. The disk needs room for both.`,
    )
    .action(run);
}

async function run(options: Options): Promise<void> {
  const config = readSettings(console.error);
  if (config.databaseUrl !== null) {
    throw new OperatorError(
      'DATABASE_URL names a database server of your own: upgrade it with its own tools, such as pg_upgrade.',
    );
  }
  // Without a cluster in its place, the last step of an upgrade may have been interrupted.
  if (!existsSync(upgradePaths(config.dataDir).finished)) await requireInstallation(config);
  // Imported here so that other commands start faster.
  const { upgradeDatabase } = await import('../backup/upgrade-database.ts');
  const progress = createProgressLine(options.json ? null : process.stderr);
  const log = createLog(config.logLevel === 'info' ? 'warn' : config.logLevel);
  const upgraded = await upgradeDatabase({
    dataDir: config.dataDir,
    oldPrograms: options.oldPrograms,
    log,
    onProgress: (done) => progress.tell({ check: 'database', what: 'rows', ...done }),
  }).finally(() => progress.end());
  const text =
    upgraded === null
      ? 'The database is of the installed version of PostgreSQL already: there is nothing to do.'
      : `The database is one of PostgreSQL ${upgraded.to} now, with all ${upgraded.rows} rows. The old one, of PostgreSQL ${upgraded.from}, is kept in ${upgraded.kept}. Start the service, run "holdfast fsck", and remove it when you no longer want to go back.`;
  print(options, { upgraded: upgraded !== null, ...upgraded }, text);
}
