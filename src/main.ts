/** The command line: argv to one file per command. */
import { Command } from 'commander';
import { addKeysCommands } from './cli/keys.ts';
import { addMigrateCommand } from './cli/migrate.ts';
import { addRotateMasterKeyCommand } from './cli/rotate-master-key.ts';
import { addServeCommand } from './cli/serve.ts';
import { addWorkspacesCommands } from './cli/workspaces.ts';
import { OperatorError } from './errors.ts';
import { version } from './version.ts';

const program = new Command('holdfast')
  .description(
    'Self-hosted evidence platform: vaults, records and maintenance entries that anyone can check.',
  )
  .version(version)
  .showHelpAfterError('(add --help for the usage)')
  .addHelpText(
    'after',
    `
Settings come from the environment or from .env beside package.json; .env.example lists them all.
The commands work beside a running service, and start the embedded PostgreSQL themselves when none runs.`,
  );
addServeCommand(program);
addMigrateCommand(program);
addKeysCommands(program);
addWorkspacesCommands(program);
addRotateMasterKeyCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof OperatorError ? error.message : error);
  process.exitCode = 1;
}
