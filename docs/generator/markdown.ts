/** Markdown as this project writes it. */

/** With columns of equal width, so that the source reads as well as the page. */
export function table(head: string[], rows: string[][]): string {
  const lines = [head, head.map(() => ''), ...rows];
  const widths = head.map((_, column) => Math.max(3, ...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line, number) => {
      const fill = number === 1 ? '-' : ' ';
      const cells = widths.map((width, column) => (line[column] ?? '').padEnd(width, fill));
      return `| ${cells.join(' | ')} |`;
    })
    .join('\n');
}
