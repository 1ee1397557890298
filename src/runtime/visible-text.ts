/** Text that people read: it must contain something visible, and no characters that make it look like other text. */

/** A pattern for schemas: a visible character; blanks, zero-width characters and letters without ink do not count. */
export const visible = '(?![\\u115f\\u1160\\u2800\\u3164\\uffa0])[\\p{L}\\p{N}\\p{P}\\p{S}]';

/** Marks, embeddings, overrides and isolates that change text direction: "a\u202Efdp.exe" is shown as "aexe.pdf". */
const directionMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Right-to-left letters need no such mark. */
export function hasDirectionMark(text: string): boolean {
  return directionMarks.test(text);
}
