/** Which names files may have here. */
import { hasDirectionMark, visible } from '../runtime/visible-text.ts';

/** The usual limit of file systems, because somebody may save the file under this name. */
const maxNameBytes = 255;

/**
 * A name is data here and never a path, but clients will save files under it. Names that could lead them elsewhere or hide
 * the real name are refused: separators, `.` and `..`, control characters, line separators, and marks that change the
 * direction of text. Returns a sentence, or null for a good name.
 */
export function findNameFault(name: string): string | null {
  if (new TextEncoder().encode(name).length > maxNameBytes)
    return `name must have at most ${maxNameBytes} bytes in UTF-8.`;
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) || hasDirectionMark(name))
    return 'name must not contain control characters or characters that change the text direction.';
  if (!new RegExp(visible, 'u').test(name)) return 'name must contain at least one visible character.';
  if (/[/\\]/.test(name) || name === '.' || name === '..') return 'name must be a file name, not a path.';
  return null;
}
