/** The man page, from the command line itself. */
import type { Command } from 'commander';
import { commandsOf } from '../../src/cli/command-table.ts';
import { createProgram } from '../../src/cli/program.ts';
import { usage } from './commands.ts';

export function manPage(): string {
  const program = createProgram();
  return [
    '.\\" Written by "npm run docs" from the commands in src/cli/.',
    '.TH HOLDFAST 1 "" "Holdfast" "Holdfast"',
    '.SH NAME',
    'holdfast \\- self-hosted evidence platform',
    '.SH SYNOPSIS',
    '.B holdfast',
    '.I command',
    '.RI [ options ]',
    '.SH DESCRIPTION',
    text(program.description()),
    '.PP',
    text(
      'Commands that work on an installation read its settings from the environment or from .env. The others, such as verify, trigger and listen with a profile, need no installation.',
    ),
    '.SH COMMANDS',
    ...commandsOf(program).flatMap(({ name, command }) => commandLines(name, command)),
    '.SH ENVIRONMENT',
    ...listed([
      ['HOLDFAST_URL, HOLDFAST_API_KEY', 'A service and a key for it, for commands that talk to a service.'],
      ['XDG_CONFIG_HOME', 'Where profiles are kept, in holdfast/profiles.json; the default is ~/.config.'],
      [
        'DATABASE_URL, HOLDFAST_DATA_DIR',
        'The installation; .env.example lists these and all other settings.',
      ],
    ]),
    '.SH EXIT STATUS',
    text('0, or 1 with the reason on standard error. verify and fsck have more, which their --help lists.'),
    '',
  ].join('\n');
}

function commandLines(name: string, command: Command): string[] {
  const options = command.options.map(
    ({ flags, description }) => [flags.replaceAll(/[<>]/g, ''), description] as const,
  );
  const values = command.registeredArguments
    .filter(({ description }) => description !== '')
    .map((argument) => [argument.name().toUpperCase(), argument.description] as const);
  return [
    `.SS ${text(usage(name, command))}`,
    text(command.description()),
    ...listed([...values, ...options]),
  ];
}

function listed(rows: (readonly [string, string])[]): string[] {
  return rows.flatMap(([term, about]) => ['.TP', `.B ${text(term)}`, text(about)]);
}

/** A line must not begin with what roff takes for a request; a dash that can be typed is written \-. */
function text(plain: string): string {
  return plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(/^[.']/, '\\&$&');
}
