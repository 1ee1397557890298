/** Prints one column of the table of optional programs, for scripts: `packages` of Debian, or `commands` on the PATH. */
import { programs } from './table.ts';

const columns: Record<string, string[]> = {
  packages: Object.values(programs).flatMap(({ debian }) => debian),
  commands: Object.values(programs).flatMap(({ commands }) => commands),
};

const column = columns[process.argv[2] ?? ''];
if (column === undefined) throw new Error(`one of: ${Object.keys(columns).join(', ')}`);
console.log([...new Set(column)].sort().join('\n'));
