/** The command line of `npm run bench`. */
import { parseArgs } from 'node:util';
import { type Turns, usualTurns } from './fixture.ts';
import type { Row } from './row.ts';

export interface Options {
  rows: Row[];
  /** A commit, or a folder with a checkout. */
  against: string | null;
  turns: Turns;
}

/** The message says in a sentence what is wrong with the command line. */
export class UsageError extends Error {}

/** More of them between two commits, which differ less than a service and its peer. */
const roundsOfCommits = 5;

/** Of the row `growth` with --large. */
const largeRows = 100_000_000;

export function readOptions(args: string[], all: Row[]): Options | 'help' {
  const { values, positionals } = parse(args);
  if (values.help) return 'help';
  const unknown = positionals.filter((arg) => !all.some(({ name }) => name === arg));
  if (unknown.length > 0) throw new UsageError(`There is no row ${unknown.join(', ')}.`);
  const against = values.against ?? null;
  const chosen = positionals.length === 0 ? all : all.filter(({ name }) => positionals.includes(name));
  const rows = against === null ? chosen : chosen.filter((row) => row.against);
  if (rows.length < chosen.length && positionals.length > 0) {
    const without = chosen.filter((row) => !row.against).map(({ name }) => name);
    throw new UsageError(`There is nothing to compare between commits in the row ${without.join(', ')}.`);
  }
  const rounds = against === null ? usualTurns.rounds : roundsOfCommits;
  return {
    rows,
    against,
    turns: {
      rounds: positiveInteger('--rounds', values.rounds) ?? rounds,
      seconds: positiveInteger('--seconds', values.seconds) ?? usualTurns.seconds,
      ...grownRows(values),
    },
  };
}

export function usage(all: Row[]): string {
  const width = Math.max(...all.map(({ name }) => name.length));
  const comparable = all.filter((row) => row.against).map(({ name }) => name);
  return `npm run bench [-- options] [ROW …]   measures the named rows, or all of them:

${all.map(({ name, what }) => `  ${name.padEnd(width)}  ${what}`).join('\n')}

  --against COMMIT  instead of a peer, a service of that commit and one of this checkout as it is now, in turns. Each has
                    its own database; the load comes from this checkout. A folder with a checkout will do as well, and
                    has to where that commit has other packages; "." shows what the machine makes of no difference.
                    Rows:
                    ${comparable.slice(0, 8).join(', ')},
                    ${comparable.slice(8).join(', ')}
  --rounds N        how often each side has its turn (default: ${usualTurns.rounds}, with --against ${roundsOfCommits})
  --seconds N       how long the load of such a turn lasts, where it is not a fixed amount of work (default: ${usualTurns.seconds})
  --large           fills 100 million rows of each kind for the row growth, instead of 10 million
  --rows N          fills so many. What was filled is kept in bench/cache/, some 3 GB for each million

Prints two tables and writes bench/results/<time>.json. The second table says how much CPU time an operation took, by
process (Linux only); "afterwards" is what the same processes did from the last answer until they rested. CPU time is
worth something on a busy machine too, above all that of the lines "at N requests/s" of --against, where both sides do the
same work in the same time. The ratio is the median of the rounds, with the lowest and the highest in brackets: a
difference that is smaller than this span shows nothing. The data is in a temporary directory (TMPDIR).
A row that stays below what it has to reach says so and is no error; exit code 1 means that something broke.`;
}

function grownRows({ large, rows }: { large?: boolean; rows?: string }): Pick<Turns, 'rows'> {
  const given = positiveInteger('--rows', rows);
  if (given !== null) return { rows: given };
  return large ? { rows: largeRows } : {};
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        against: { type: 'string' },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        large: { type: 'boolean' },
        rows: { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function positiveInteger(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new UsageError(`${name} has to be a positive integer.`);
  return value;
}
