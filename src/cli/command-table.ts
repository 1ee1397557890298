/** All commands as data, from the command line itself: for completion, the man page and the table in docs. */
import { type Command, Option } from 'commander';

export interface CommandEntry {
  /** Such as `keys create`. */
  name: string;
  command: Command;
}

/** Commands that do something; the others only group them. */
export function commandsOf(program: Command): CommandEntry[] {
  return collect(program, []);
}

export interface CompletionWord {
  word: string;
  about: string;
}

export interface CompletionOption extends CompletionWord {
  takesValue: boolean;
  /** Of the value; empty: anything, such as a file. */
  choices: string[];
}

export interface CompletionPlace {
  /** What was typed before; empty at the beginning. */
  path: string;
  /** Commands, or values of the first argument. */
  words: CompletionWord[];
  options: CompletionOption[];
}

/** Every place at which something can be completed, the longest paths first. */
export function completionPlaces(program: Command): CompletionPlace[] {
  const length = ({ path }: CompletionPlace) => path.split(' ').filter(Boolean).length;
  return placesBelow(program, '').sort((a, b) => length(b) - length(a) || (a.path < b.path ? -1 : 1));
}

/** Beside each `--json`: the same choice in the words that other tools use. */
export function addOutputOptions(program: Command): void {
  for (const { command } of commandsOf(program)) {
    if (!command.options.some(({ long }) => long === '--json')) continue;
    command.addOption(
      new Option('--output <format>', 'json is the same as --json (default: table)').choices([
        'table',
        'json',
      ]),
    );
    command.on('option:output', (format: string) => command.setOptionValue('json', format === 'json'));
  }
}

function collect(command: Command, names: string[]): CommandEntry[] {
  if (command.commands.length === 0) return [{ name: names.join(' '), command }];
  return command.commands.flatMap((child) => collect(child, [...names, child.name()]));
}

function placesBelow(command: Command, path: string): CompletionPlace[] {
  const [argument] = command.registeredArguments;
  const values = (argument?.argChoices ?? []).map((word) => ({ word, about: '' }));
  const commands = command.commands.map((child) => ({ word: child.name(), about: child.description() }));
  const options = command.options.filter(({ hidden }) => !hidden).map(optionOf);
  const help = { word: '--help', about: 'show the help', takesValue: false, choices: [] };
  return [
    { path, words: [...commands, ...values], options: [...options, help] },
    ...command.commands.flatMap((child) =>
      placesBelow(child, path ? `${path} ${child.name()}` : child.name()),
    ),
  ];
}

function optionOf({ long, description, required, optional, argChoices }: Option): CompletionOption {
  return {
    word: long ?? '',
    about: description,
    takesValue: required || optional,
    choices: argChoices ?? [],
  };
}
