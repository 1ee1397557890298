/** The words of an alarm for places that show no Markdown: links with the path of their document, and code without its marks. */
import { plain } from '../markdown.ts';

export function withoutMarks(markdown: string): string {
  const named = markdown.replace(
    /\[([^\]]*)\]\(([^#)]*)(#[^)]*)\)/g,
    (_, words, file, section) =>
      // As docs/operations.md writes them.
      `${words} (docs/${file === '' ? 'operations.md' : file}${section})`,
  );
  return plain(named);
}
