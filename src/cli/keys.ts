/** `holdfast keys`: creates, lists and revokes API keys. */
import { type Command, InvalidArgumentError } from 'commander';
import { createApiKeys } from '../access/api-keys/api-keys.ts';
import { onBehalf, type Scope, scopes } from '../runtime/caller.ts';
import { isDateTime } from '../runtime/date-time.ts';
import { callerFor, explain, print, table, withStore, workspaceOption } from './command.ts';
import { nonEmpty } from './workspaces.ts';

interface Options {
  workspace?: string;
  json?: boolean;
}

export function addKeysCommands(program: Command): void {
  const keys = program.command('keys').description('create, list and revoke API keys');

  keys
    .command('create')
    .description('create an API key and print it once')
    .requiredOption('--name <name>', 'what the key is for', nonEmpty)
    .option(...workspaceOption)
    .option(
      '--scopes <scopes>',
      `comma-separated list of ${scopes.join(', ')}; "all" stands for every one except ${onBehalf}, which must be named (default: all)`,
      parseScopes,
    )
    .option('--expires <time>', 'when it stops working, ISO 8601', parseTime)
    .option('--json', 'print {id, key}')
    .action((options: Options & { name: string; scopes?: Scope[]; expires?: Date }) =>
      withStore(
        async ({ store }) => {
          const input = {
            name: options.name,
            scopes: options.scopes ?? [],
            expiresAt: options.expires ?? null,
          };
          const { key, apiKey } = await createApiKeys(store.database).create(
            await callerFor(store, options),
            input,
          );
          print(
            options,
            { id: apiKey.id, key },
            `${apiKey.id}\n${key}\n\nSave it now: it is not shown again.`,
          );
        },
        { mayCreate: true },
      ),
    );

  keys
    .command('list')
    .description('list the API keys of a workspace, revoked ones included')
    .option(...workspaceOption)
    .option('--json', 'print an array')
    .action((options: Options) =>
      withStore(async ({ store }) => {
        const { workspaceId } = await callerFor(store, options);
        const all = await createApiKeys(store.database).list(workspaceId, {
          before: undefined,
          limit: 10_000,
        });
        const rows = all.map((key) => [
          key.id,
          key.hint,
          key.revokedAt ? 'revoked' : key.expiresAt && key.expiresAt < new Date() ? 'expired' : 'active',
          key.lastUsedAt?.toISOString() ?? 'never used',
          key.scopes.join(',') || 'all',
          key.name,
        ]);
        print(options, all, table(['ID', 'KEY', 'STATE', 'LAST USED', 'SCOPES', 'NAME'], rows));
      }),
    );

  keys
    .command('revoke <id>')
    .description('revoke an API key; the next request with it is refused')
    .option(...workspaceOption)
    .option('--json', 'print {id, revoked}')
    .action((id: string, options: Options) =>
      withStore(async ({ store }) => {
        await createApiKeys(store.database)
          .revoke(await callerFor(store, options), id)
          .catch(explain);
        print(options, { id, revoked: true }, `${id} is revoked.`);
      }),
    );
}

function parseScopes(text: string): Scope[] {
  const named = [...new Set(text.split(',').map((scope) => scope.trim()))];
  if (named.includes('all')) {
    const others = named.filter((scope) => scope !== 'all' && scope !== onBehalf);
    if (others.length > 0) throw new InvalidArgumentError('"all" includes every other scope.');
    // An empty list also covers scopes of later versions.
    return named.includes(onBehalf) ? [...scopes] : [];
  }
  const unknown = named.filter((scope) => !scopes.some((known) => known === scope));
  if (unknown.length > 0) throw new InvalidArgumentError(`Unknown: ${unknown.join(', ')}.`);
  return named as Scope[];
}

function parseTime(text: string): Date {
  const time = isDateTime(text) ? new Date(text) : null;
  if (!time || time <= new Date()) {
    throw new InvalidArgumentError('Give a time in the future, such as 2030-01-31T00:00:00Z.');
  }
  return time;
}
