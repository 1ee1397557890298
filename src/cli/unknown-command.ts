/** The error for a command that does not exist, with the nearest one that does. */
import type { Command } from 'commander';
import { OperatorError } from '../errors.ts';

export function unknownCommand(unknown: string, program: Command): OperatorError {
  const names = program.commands.map((command) => command.name());
  const [nearest] = names
    .map((name) => ({ name, away: distance(unknown.slice(0, 40), name) }))
    .filter(({ name, away }) => away <= Math.max(2, name.length / 3))
    .sort((one, other) => one.away - other.away);
  const hint = nearest ? ` Did you mean ${nearest.name}?` : '';
  return new OperatorError(`There is no command ${unknown.slice(0, 100)}.${hint} See "holdfast --help".`);
}

/** Edit distance: letters inserted, deleted or replaced. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (const [line, letter] of [...one].entries()) {
    const next = [line + 1];
    for (let place = 1; place <= other.length; place += 1) {
      const changed = (row[place - 1] ?? 0) + Number(letter !== other[place - 1]);
      next.push(Math.min(changed, (row[place] ?? 0) + 1, (next[place - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
