/** Makes any text one that can be printed and read unambiguously: what the faces cannot show is written as its number. */
import type { Face } from './faces.ts';
import { faceFor, near } from './runs.ts';
import { readCharacters } from './world-face.ts';

/** Others need a shaping that is not done here, and a name in wrong shapes is worse than one in numbers. */
const shownScripts =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Common}\p{Script=Inherited}]$/u;
/** Also marks that turn the reading order, with which a name could pass for another one. */
const invisible = /^[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]$/u;
/** Spaces that look like a plain one, or like none. */
const oddSpace = /^(?! )\p{Zs}$/u;
/** Letters in the shapes that they take within a word: they would look like the letter itself. */
const fixedShape = /^[\ufb1d-\ufdff\ufe70-\ufeff]$/u;
const emoji = /^\p{RGI_Emoji}$/v;
/** Between letters that would be joined without it, and so seen. Persian needs it. */
const seenNonJoiner =
  /(?<=[\u0626\u0628\u062a-\u062e\u0633-\u063a\u0641-\u0647\u064a\u067e\u0686\u06a9\u06af\u06cc])\u200c(?=[\u0620-\u064a\u0671-\u06d3])/u;
/** Between characters that are as wide as it. Japanese has it between the names of a person. */
const seenWideSpace =
  /(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])\u3000(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/u;

/** What a document says about it, so that nobody takes the numbers for a fault. */
export const notPrinted =
  'Characters that cannot be printed here, such as those of Indic scripts, and those that are invisible are written as their number in Unicode, such as ‹U+0915›.';

/** `‹U+0915›` stands for a character that is not shown; line feeds stay if they are asked for. */
export function showable(text: string, face: Face, { lines = false } = {}): string {
  // By far the most texts are plain, and a logbook has millions of them.
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

/** Point by point what cannot be shown as one. */
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
