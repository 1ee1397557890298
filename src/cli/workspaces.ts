/** `holdfast workspaces`: creates and lists tenants, and shows and sets their limits. */
import { type Command, InvalidArgumentError } from 'commander';
import { changeLimits, type LimitChanges, readLimits } from '../access/workspaces/workspace-limits.ts';
import {
  createWorkspace,
  findWorkspace,
  listWorkspaces,
  operatorIn,
} from '../access/workspaces/workspaces.ts';
import { readStored } from '../holdings/overview/usage.ts';
import { budgetNames, isBudgetName, limitOf, parseLimit } from '../runtime/budgets.ts';
import { OperatorError } from '../runtime/errors.ts';
import { hasDirectionMark, visible } from '../runtime/visible-text.ts';
import { print, table, withStore } from './command.ts';

export function addWorkspacesCommands(program: Command): void {
  const workspaces = program
    .command('workspaces')
    .description('create and list workspaces, and show or set their limits');
  workspaces
    .command('create')
    .description('create a workspace; then create a key for it with "keys create --workspace ID"')
    .requiredOption('--name <name>', 'its name', nonEmpty)
    .option('--json', 'print {id, name, slug}')
    .action((options: { name: string; json?: boolean }) =>
      withStore(
        async ({ store }) => {
          const workspace = await createWorkspace(store.database.db, { name: options.name });
          print(options, workspace, `Workspace ${workspace.id} (${workspace.slug}) was created.`);
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
  workspaces
    .command('limits')
    .description('show the limits of a workspace and how much it uses, or change the limits')
    .argument('<workspace>', 'id or slug of the workspace')
    .argument(
      '[changes...]',
      'name=NUMBER, name=off for no limit, name=default for the value in the settings',
    )
    .option('--json', 'print an array of {name, limit, own, used, resetsAt}')
    .addHelpText('after', `\nBudgets: ${budgetNames.join(', ')}`)
    .action((named: string, texts: string[], options: { json?: boolean }) => {
      const changes = readChanges(texts);
      return withStore(async ({ store, config }) => {
        const { db } = store.database;
        const { id } = await findWorkspace(db, named);
        if (texts.length > 0) await changeLimits(db, operatorIn(id), changes);
        const { settings, own } = await readLimits(db, id);
        const stored = new Map((await readStored(db, id)).map((budget) => [budget.name, budget]));
        const all = budgetNames.map((name) => ({
          name,
          limit: limitOf(settings ?? config.budgets, own, name),
          own: own[name] !== undefined,
          // Budgets that each node counts for itself are reported by the nodes.
          used: stored.get(name)?.used ?? null,
          resetsAt: stored.get(name)?.resetsAt?.toISOString() ?? null,
        }));
        const rows = all.map(({ name, limit, own, used, resetsAt }) => [
          name,
          limit === null ? 'none' : String(limit),
          own ? 'this workspace' : 'settings',
          used === null ? 'counted per node' : String(used),
          resetsAt ?? '',
        ]);
        print(options, all, table(['BUDGET', 'LIMIT', 'FROM', 'USED', 'RESETS'], rows));
      });
    });
}

function readChanges(texts: string[]): LimitChanges {
  const changes: LimitChanges = {};
  for (const text of texts) {
    const [name = '', value = '', ...rest] = text.split('=');
    const limit = value === 'default' ? undefined : parseLimit(value);
    if (!isBudgetName(name) || rest.length > 0 || (limit === undefined && value !== 'default')) {
      throw new OperatorError(
        `${JSON.stringify(text)} is not a limit: give NAME=NUMBER, NAME=off or NAME=default, with one of ${budgetNames.join(', ')}.`,
      );
    }
    changes[name] = limit;
  }
  return changes;
}

/** For names on the command line: rejects what the API would reject. */
export function nonEmpty(text: string): string {
  if (!new RegExp(visible, 'u').test(text) || text.length > 200 || !text.isWellFormed())
    throw new InvalidArgumentError('Give 1 to 200 characters.');
  if (hasDirectionMark(text))
    throw new InvalidArgumentError('Leave out characters that change the text direction.');
  return text;
}
