/** Prints a table with columns as wide as they need to be. */

export interface Column<Line> {
  title: string;
  cell(line: Line): string;
  right?: boolean;
}

export function printColumns<Line>(columns: Column<Line>[], lines: Line[]): void {
  const head = columns.map(({ title }) => title);
  const body = lines.map((line) => columns.map(({ cell }) => cell(line)));
  const widths = columns.map((_, column) =>
    Math.max(...[head, ...body].map((line) => line[column]?.length ?? 0)),
  );
  const print = (line: string[]) => {
    const cells = line.map((text, column) => {
      const width = widths[column] ?? 0;
      return columns[column]?.right ? text.padStart(width) : text.padEnd(width);
    });
    console.log(cells.join('  ').trimEnd());
  };
  print(head);
  print(widths.map((width) => '─'.repeat(width)));
  for (const line of body) print(line);
}
