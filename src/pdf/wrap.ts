/** Breaks text into lines of a width: between words, in long words after punctuation, and else anywhere. */
import type { Face } from './faces.ts';

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

/** A hash or another long run of digits in lines of equal length, so that two of them are compared line by line. */
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
  for (const word of text.split(' ')) {
    const wordWidth = face.width(word, size);
    const before = line === '' ? 0 : used + space;
    if (before + wordWidth <= width) {
      line = line === '' ? word : `${line} ${word}`;
      used = before + wordWidth;
      continue;
    }
    if (line !== '') lines.push(line);
    const pieces = wordWidth <= width ? [word] : breakWord(word, { face, size, width });
    line = pieces.pop() ?? '';
    lines.push(...pieces);
    used = face.width(line, size);
  }
  return [...lines, line];
}

/** Rather after one of `/ - _ . , : ; @ = &` than within a name, unless that would leave the line half empty. */
function breakWord(word: string, { face, size, width }: Measure): string[] {
  const pieces: string[] = [];
  let characters: string[] = [];
  let used = 0;
  for (const character of word) {
    const advance = face.width(character, size);
    if (used + advance > width && characters.length > 0) {
      const last = characters.findLastIndex((one) => /[/\-_.,:;@=&›]/.test(one));
      const cut = last + 1 > characters.length / 2 ? last + 1 : characters.length;
      pieces.push(characters.slice(0, cut).join(''));
      characters = characters.slice(cut);
      used = face.width(characters.join(''), size);
    }
    characters.push(character);
    used += advance;
  }
  return [...pieces, characters.join('')];
}
