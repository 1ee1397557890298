/** Texts that people read: with something to see in them, and without signs that make them look like another. */

/** A pattern for schemas: a sign that can be seen, not blanks alone, nor signs without width, nor letters drawn as nothing. */
export const visible = '(?![\\u115f\\u1160\\u2800\\u3164\\uffa0])[\\p{L}\\p{N}\\p{P}\\p{S}]';

/** Marks, embeddings, overrides and isolates that turn the direction of text: "a\u202Efdp.exe" is shown as "aexe.pdf". */
const directionMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Letters that are written from right to left need no such mark. */
export function hasDirectionMark(text: string): boolean {
  return directionMarks.test(text);
}
