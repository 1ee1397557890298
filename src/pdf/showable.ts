/** Makes any text one that can be printed and read unambiguously: what the faces cannot show is written as its number. */
import type { Face } from './faces.ts';

/**
 * Scripts whose letters stand side by side from left to right. Others need shaping or a reading order that a plain run
 * of glyphs does not have, and a name in the wrong order is worse than one in numbers.
 */
const plainScripts =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Common}\p{Script=Inherited}]$/u;
/** Also marks that turn the reading order, with which a name could pass for another one. */
const invisible = /^[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u00ad\u115f\u1160\u3164\uffa0]$/u;
/** Spaces that look like a plain one, or like none. */
const oddSpace = /^(?! )\p{Zs}$/u;

/** What a document says about it, so that nobody takes the numbers for a fault. */
export const notPrinted =
  'Scripts other than Latin, Greek, Cyrillic, Armenian and Georgian, and emoji, cannot be printed here: each of their characters is written as its number in Unicode, such as ‹U+4E2D›.';

/** `‹U+4E2D›` stands for a character that is not shown; line feeds stay if they are asked for. */
export function showable(text: string, face: Face, { lines = false } = {}): string {
  // By far the most texts are plain, and a logbook has millions of them.
  if (/^[ -~]*$/.test(text)) return text;
  let shown = '';
  for (const character of text.normalize('NFC'))
    shown += isShown(character, lines, face) ? character : numberOf(character);
  return shown;
}

function isShown(character: string, lines: boolean, face: Face): boolean {
  if (character === '\n') return lines;
  if (invisible.test(character) || oddSpace.test(character) || !plainScripts.test(character)) return false;
  return face.has(character.codePointAt(0) ?? 0);
}

function numberOf(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `‹U+${hex}›`;
}
