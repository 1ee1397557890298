/** The table of the commands, from the command line itself, with where more is told about each. */
import type { Argument, Command, Option } from 'commander';
import { commandsOf } from '../../src/cli/command-table.ts';
import { createProgram } from '../../src/cli/program.ts';
import { table } from './markdown.ts';

const links: Record<string, string> = {
  archive: '[archive.md](archive.md)',
  backup: '[backup.md](backup.md)',
  'chain accept-reorg': '[chain.md](chain.md#a-real-chain)',
  'chain retry': '[above](#batches-that-were-set-aside)',
  'chain status': '[chain.md](chain.md)',
  'evidence export': '[proof.md](proof.md#the-evidence-package)',
  fsck: '[below](#checking-everything-fsck)',
  completion: '[below](#completion)',
  listen: '[webhooks.md](webhooks.md#working-on-your-machine)',
  login: '[below](#profiles)',
  'mail test': '[above](#notices-by-mail)',
  promote: '[above](#replicas)',
  restore: '[backup.md](backup.md#restoring)',
  'rotate-master-key': '[security.md](security.md#rotating-the-master-key)',
  trigger: '[webhooks.md](webhooks.md#working-on-your-machine)',
  'timestamps test': '[timestamps.md](timestamps.md#a-timestamp-authority)',
  'users reset-password': '[dashboard.md](dashboard.md)',
  verify: '[proof.md](proof.md#on-the-command-line)',
  'webhooks create': '[webhooks.md](webhooks.md#create-an-endpoint)',
  'workspaces limits': '[above](#budgets-of-workspaces)',
};

export function commandsTable(): string {
  const commands = commandsOf(createProgram());
  const names = new Set(commands.map(({ name }) => name));
  const unknown = Object.keys(links).filter((name) => !names.has(name));
  if (unknown.length > 0) throw new Error(`There is no command ${unknown.join(', ')}.`);
  return table(
    ['command', 'what it does'],
    commands.map(({ name, command }) => {
      const link = links[name];
      return [`\`${usage(name, command)}\``, command.description() + (link ? `: ${link}` : '')];
    }),
  );
}

/** Without --output, which is everywhere where --json is. */
export function usage(name: string, command: Command): string {
  // Only the default command takes arguments that it does not explain: names of commands that do not exist.
  const given = command.registeredArguments.filter(({ description }) => description !== '');
  return [
    name,
    ...given.map(argumentText),
    ...command.options.filter(({ long }) => long !== '--output').map(optionText),
  ].join(' ');
}

function argumentText(argument: Argument): string {
  const name = argument.name().toUpperCase() + (argument.variadic ? ' ...' : '');
  return argument.required ? name : `[${name}]`;
}

function optionText({ long, flags, mandatory }: Option): string {
  const value = /[<[](.+)[>\]]/.exec(flags)?.[1];
  const text = value === undefined ? `${long}` : `${long} ${value.toUpperCase()}`;
  return mandatory ? text : `[${text}]`;
}
