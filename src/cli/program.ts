/** The command line: its commands, and what they have in common. */
import { Command } from 'commander';
import { OperatorError } from '../runtime/errors.ts';
import { version } from '../runtime/version.ts';
import { addApprovalsCommands } from './approvals.ts';
import { addArchiveCommand } from './archive.ts';
import { addBackupCommand } from './backup.ts';
import { addChainCommands } from './chain.ts';
import { addOutputOptions } from './command-table.ts';
import { addCompletionCommand } from './completion.ts';
import { addEvidenceCommands } from './evidence.ts';
import { addExportCommand } from './export.ts';
import { addFsckCommand } from './fsck.ts';
import { addImportCommand } from './import.ts';
import { addKeysCommands } from './keys.ts';
import { addListenCommand } from './listen.ts';
import { addLoginCommands } from './login.ts';
import { addMailCommands } from './mail.ts';
import { addMigrateCommand } from './migrate.ts';
import { addPromoteCommand } from './promote.ts';
import { addRestoreCommand } from './restore.ts';
import { addRotateMasterKeyCommand } from './rotate-master-key.ts';
import { addServeCommand } from './serve.ts';
import { addTimestampsCommands } from './timestamps.ts';
import { addTriggerCommand } from './trigger.ts';
import { addUpgradeDatabaseCommand } from './upgrade-database.ts';
import { addUsersCommand } from './users.ts';
import { addVerifyCommand } from './verify.ts';
import { addWebhooksCommands } from './webhooks.ts';
import { addWorkspacesCommands } from './workspaces.ts';

export async function runCommandLine(): Promise<void> {
  try {
    await createProgram().parseAsync();
  } catch (error) {
    console.error(error instanceof OperatorError ? error.message : error);
    process.exitCode = 1;
  }
}

export function createProgram(): Command {
  const program = new Command('holdfast')
    .description(
      'Self-hosted evidence platform: vaults, records and maintenance entries that anyone can check.',
    )
    .version(version)
    // Otherwise --version of a command would print that of the program.
    .enablePositionalOptions()
    .showHelpAfterError('(add --help for usage)')
    .addHelpText(
      'after',
      `
Settings come from the environment or from .env next to package.json, or in ~/.holdfast if Holdfast was installed
as a package; .env.example lists them all.
The commands work alongside a running service, and start the embedded PostgreSQL themselves if it is not running.`,
    );
  addServeCommand(program);
  addMigrateCommand(program);
  addKeysCommands(program);
  addWorkspacesCommands(program);
  addUsersCommand(program);
  addApprovalsCommands(program);
  addWebhooksCommands(program);
  addListenCommand(program);
  addImportCommand(program);
  addExportCommand(program);
  addTriggerCommand(program);
  addLoginCommands(program);
  addFsckCommand(program);
  addBackupCommand(program);
  addRestoreCommand(program);
  addPromoteCommand(program);
  addArchiveCommand(program);
  addUpgradeDatabaseCommand(program);
  addRotateMasterKeyCommand(program);
  addChainCommands(program);
  addTimestampsCommands(program);
  addMailCommands(program);
  addVerifyCommand(program);
  addEvidenceCommands(program);
  addCompletionCommand(program);
  addOutputOptions(program);
  return program;
}
