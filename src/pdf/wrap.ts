/** Breaks text into lines of a width: between words, in long words after punctuation, otherwise anywhere. */
import { directionOf } from './bidi.ts';
import type { Face } from './faces.ts';
import { fromRight, widthOf } from './runs.ts';
import { leftToRight, rightToLeft } from './shaper.ts';
import { readCharacters } from './world-face.ts';

export interface Measure {
  face: Face;
  size: number;
  /** In points. */
  width: number;
}

/** At least one line; line feeds in the text end a line. */
export function wrapText(text: string, measure: Measure): string[] {
  return text.split('\n').flatMap((paragraph) => wrapParagraph(paragraph, measure));
}

/** Breaks a hash or other long run of digits into lines of equal length, so that two can be compared line by line. */
export function wrapDigits(digits: string, { face, size, width }: Measure): string[] {
  const perLine = Math.max(1, Math.floor(width / face.width('0', size)));
  if (digits.length <= perLine) return [digits];
  const count = Math.ceil(digits.length / perLine);
  const length = Math.ceil(digits.length / count);
  return Array.from({ length: count }, (_, line) => digits.slice(line * length, (line + 1) * length));
}

function wrapParagraph(text: string, { face, size, width }: Measure): string[] {
  const lines: string[] = [];
  const space = face.width(' ', size);
  let line = '';
  let used = 0;
  for (const [place, word] of text.split(' ').entries()) {
    for (const [part, piece] of splitWide(word).entries()) {
      const pieceWidth = widthOf(piece, face, size);
      const glue = part === 0 && place > 0 ? ' ' : '';
      const before = line === '' ? 0 : used + (glue === '' ? 0 : space);
      if (before + pieceWidth <= width) {
        line = line === '' ? piece : line + glue + piece;
        used = before + pieceWidth;
        continue;
      }
      if (line !== '') lines.push(line);
      const broken = pieceWidth <= width ? [piece] : breakWord(piece, { face, size, width });
      line = broken.pop() ?? '';
      lines.push(...broken);
      used = widthOf(line, face, size);
    }
  }
  lines.push(line);
  if (!fromRight.test(text)) return lines;
  // A single line cannot tell the direction of its paragraph.
  const mark = directionOf(text) === 'rtl' ? rightToLeft : leftToRight;
  return lines.map((one) => mark + one);
}

/**
 * Chinese and Japanese have no spaces: a line may end after any of their characters, but not before closing punctuation,
 * nor after opening punctuation.
 */
const wide =
  /(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3001-\u30ff\uff01-\uff60])(?<![（「『【〈《〔［｛])(?![、。，．：；！？）」』】〉》〕］｝ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ…])|(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}（「『【〈《〔［｛])(?<![（「『【〈《〔［｛“(‹])(?![ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ])/u;

function splitWide(word: string): string[] {
  return /[\u3000-\u9fff\uff00-\uffef\u{20000}-\u{3ffff}]/u.test(word) ? word.split(wide) : [word];
}

/** Prefers a break after one of `/ - _ . , : ; @ = &`, unless that would leave the line half empty. */
function breakWord(word: string, { face, size, width }: Measure): string[] {
  const pieces: string[] = [];
  let characters: string[] = [];
  let used = 0;
  for (const character of /^[ -~]*$/.test(word) ? word : readCharacters(word)) {
    const advance = widthOf(character, face, size);
    if (used + advance > width && characters.length > 0) {
      const last = characters.findLastIndex((one) => /[/\-_.,:;@=&›]/.test(one));
      const cut = last + 1 > characters.length / 2 ? last + 1 : characters.length;
      pieces.push(characters.slice(0, cut).join(''));
      characters = characters.slice(cut);
      used = widthOf(characters.join(''), face, size);
    }
    characters.push(character);
    used += advance;
  }
  return [...pieces, characters.join('')];
}
