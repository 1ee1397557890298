/** Makes any text printable and unambiguous: characters that the faces cannot show are written as their code point. */
import type { Face } from './faces.ts';
import { faceFor, near } from './runs.ts';
import { readCharacters } from './world-face.ts';

/** Other scripts need shaping that is not implemented, and a name in wrong shapes is worse than one in code points. */
const shownScripts =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Common}\p{Script=Inherited}]$/u;
/** Including marks that change the reading order, with which one name could pass for another. */
const invisible = /^[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]$/u;
/** Spaces that look like a plain one, or are invisible. */
const oddSpace = /^(?! )\p{Zs}$/u;
/** Contextual forms of letters: they would look like the letter itself. */
const fixedShape = /^[\ufb1d-\ufdff\ufe70-\ufeff]$/u;
const emoji = /^\p{RGI_Emoji}$/v;
/** Visible, because it separates letters that would otherwise be joined. Persian needs it. */
const seenNonJoiner =
  /(?<=[\u0626\u0628\u062a-\u062e\u0633-\u063a\u0641-\u0647\u064a\u067e\u0686\u06a9\u06af\u06cc])\u200c(?=[\u0620-\u064a\u0671-\u06d3])/u;
/** Visible, because it is between characters of the same width. Japanese puts it between the parts of a name. */
const seenWideSpace =
  /(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])\u3000(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/u;

/** The explanation in documents, so that nobody takes the code points for a fault. */
export const notPrinted =
  'Characters that cannot be printed here, such as those of Indic scripts, and invisible characters are written as their Unicode number, such as ‹U+0915›.';

/** `‹U+0915›` replaces a character that is not shown; `lines` keeps line feeds. */
export function showable(text: string, face: Face, { lines = false } = {}): string {
  // Most texts by far are plain, and a logbook has millions of them.
  if (/^[ -~]*$/.test(text)) return text;
  const whole = text.normalize('NFC');
  let shown = '';
  let at = 0;
  for (const character of near.test(whole) ? whole : readCharacters(whole)) {
    shown += isShown(character, face) ? character : onePoint(character, { whole, at, lines, face });
    at += character.length;
  }
  return shown;
}

function isShown(character: string, face: Face): boolean {
  const sequence = emoji.test(character);
  return (sequence || Array.from(character).every(isVisible)) && faceFor(character, face) !== null;
}

function isVisible(codePoint: string): boolean {
  return (
    shownScripts.test(codePoint) &&
    !invisible.test(codePoint) &&
    !oddSpace.test(codePoint) &&
    !fixedShape.test(codePoint)
  );
}

/** Shows a cluster code point by code point if it cannot be shown as a whole. */
function onePoint(
  character: string,
  place: { whole: string; at: number; lines: boolean; face: Face },
): string {
  const { whole, lines, face } = place;
  let { at } = place;
  let shown = '';
  for (const codePoint of character) {
    const around = whole.slice(Math.max(0, at - 1), at + 2);
    const seen =
      (codePoint === '\n' && lines) ||
      (codePoint === '\u200c' && seenNonJoiner.test(around)) ||
      (codePoint === '\u3000' && seenWideSpace.test(around)) ||
      (isVisible(codePoint) && faceFor(codePoint, face) !== null);
    shown += seen ? codePoint : numberOf(codePoint);
    at += codePoint.length;
  }
  return shown;
}

function numberOf(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `‹U+${hex}›`;
}
