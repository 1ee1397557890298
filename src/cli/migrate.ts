/** `holdfast migrate`: migrates the database schema without starting the service. */
import type { Command } from 'commander';
import { print, withStore } from './command.ts';

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('bring the database schema up to date; the service also does this when it starts')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) =>
      withStore(
        async ({ store }) => {
          const text =
            store.applied.length === 0 ? 'The schema is up to date.' : `Applied ${store.applied.join(', ')}.`;
          print(options, { applied: store.applied }, text);
        },
        { mayCreate: true },
      ),
    );
}
