/** `holdfast completion`: prints a script for a shell, made from the commands themselves. */
import { Argument, type Command } from 'commander';
import { completionPlaces } from './command-table.ts';
import { bashCompletion } from './completion-bash.ts';
import { fishCompletion } from './completion-fish.ts';
import { zshCompletion } from './completion-zsh.ts';

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

type Shell = keyof typeof scripts;

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print the completion script for a shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(scripts)))
    .action((shell: Shell) => {
      process.stdout.write(completionScript(shell, program));
    });
}

export function completionScript(shell: Shell, program: Command): string {
  return scripts[shell](completionPlaces(program));
}
