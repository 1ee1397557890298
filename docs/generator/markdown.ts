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

/** The same text without its marks. */
export function plain(markdown: string): string {
  return markdown.replaceAll('`', '');
}

/** Lines of at most so many characters, broken at spaces. */
export function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}
