/** `holdfast workspaces`: makes and lists tenants. */
import { type Command, InvalidArgumentError } from 'commander';
import { createWorkspace, listWorkspaces } from '../auth/workspaces.ts';
import { hasDirectionMark, visible } from '../visible-text.ts';
import { print, table, withStore } from './command.ts';

export function addWorkspacesCommands(program: Command): void {
  const workspaces = program.command('workspaces').description('make and list workspaces');
  workspaces
    .command('create')
    .description('make a workspace; then make a key for it with "keys create --workspace ID"')
    .requiredOption('--name <name>', 'its name', nonEmpty)
    .option('--json', 'print {id, name, slug}')
    .action((options: { name: string; json?: boolean }) =>
      withStore(
        async ({ store }) => {
          const workspace = await createWorkspace(store.database.db, { name: options.name });
          print(options, workspace, `Workspace ${workspace.id} (${workspace.slug}) is made.`);
        },
        { mayCreate: true },
      ),
    );
  workspaces
    .command('list')
    .description('list the workspaces')
    .option('--json', 'print an array of {id, name, slug}')
    .action((options: { json?: boolean }) =>
      withStore(async ({ store }) => {
        const all = await listWorkspaces(store.database.db);
        print(
          options,
          all,
          table(
            ['ID', 'SLUG', 'NAME'],
            all.map(({ id, slug, name }) => [id, slug, name]),
          ),
        );
      }),
    );
}

/** For names on the command line: what the API would refuse is refused here too. */
export function nonEmpty(text: string): string {
  if (!new RegExp(visible, 'u').test(text) || text.length > 200 || !text.isWellFormed())
    throw new InvalidArgumentError('Give 1 to 200 characters.');
  if (hasDirectionMark(text)) throw new InvalidArgumentError('Leave out marks that change its direction.');
  return text;
}
