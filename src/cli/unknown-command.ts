/** The error for an unknown command, with the nearest existing one. */
import type { Command } from 'commander';
import { OperatorError } from '../runtime/errors.ts';
import { nearestName } from './nearest-name.ts';

export function unknownCommand(unknown: string, program: Command): OperatorError {
  const nearest = nearestName(
    unknown,
    program.commands.map((command) => command.name()),
  );
  const hint = nearest ? ` Did you mean ${nearest}?` : '';
  return new OperatorError(`There is no command ${unknown.slice(0, 100)}.${hint} See "holdfast --help".`);
}
