/** Shapes right-to-left words: joins letters, places marks, and returns the glyphs in visual order. */
import type { Font, Glyph } from 'fontkit';
import { mirrored } from './bidi.ts';
import type { GlyphNumbers } from './glyph-numbers.ts';
import { type Layout, layoutOf, type PlacedGlyph, type Position } from './layout.ts';

/**
 * Marks at the start of a text or line that give its direction. User text no longer contains them at this point:
 * `showable` replaces them.
 */
export const rightToLeft = '\u200f';
export const leftToRight = '\u200e';

/** Separates two letters that would otherwise be joined. */
const nonJoiner = 0x200c;

/** A cache: shaping takes 300 µs per word, and a logbook repeats the same words again and again. */
const mostWords = 5_000;

type Word = { glyph: PlacedGlyph; position: Position }[];

export function createShaper(font: Font, numbers: GlyphNumbers): (text: string) => Layout {
  const shaping = shapingFont(font);
  const words = new Map<string, Word>();
  const space = font.glyphForCodePoint(0x20);
  /** Has neither ink nor width. */
  const empty = font.glyphForCodePoint(nonJoiner);
  const nowhere = { xAdvance: 0, yAdvance: 0, xOffset: 0, yOffset: 0 };

  function shapeWord(word: string): Word {
    const known = words.get(word);
    if (known) return known;
    const turned = Array.from(word, mirrored).join('');
    const { glyphs, positions } = shaping.layout(turned, undefined, undefined, undefined, 'rtl');
    const shaped = glyphs.flatMap((glyph, place) => placed(glyph, positions[place] ?? nowhere));
    if (words.size >= mostWords) words.clear();
    words.set(word, shaped);
    return shaped;
  }

  /**
   * PDF viewers reverse copied text letter by letter. So a glyph for two letters stands for the first of them, and an
   * invisible glyph to its left for the second.
   */
  function placed(glyph: Glyph, position: Position): Word {
    // A bracket that was mirrored for display is copied as it was written.
    const [first = 0, ...more] = glyph.codePoints.map(mirroredPoint);
    // A word has no other character without ink; fontkit replaces it by a space of zero width.
    if (glyph.id === space.id) return [{ glyph: numbers.glyphFor(empty, nonJoiner), position: nowhere }];
    return [
      ...more
        .reverse()
        .map((codePoint) => ({ glyph: numbers.glyphFor(empty, codePoint), position: nowhere })),
      { glyph: numbers.glyphFor(glyph, first), position },
    ];
  }

  const spaces: Word = [
    { glyph: numbers.glyphFor(space, 0x20), position: { ...nowhere, xAdvance: space.advanceWidth } },
  ];
  return (text) => {
    const all = text
      .split(/( )/)
      .filter((part) => part !== '')
      .map((part) => (part === ' ' ? spaces : shapeWord(part)))
      .reverse()
      .flat();
    return layoutOf(
      all.map(({ glyph }) => glyph),
      // A copy, because pdfkit modifies them.
      all.map(({ position }) => ({ ...position })),
    );
  };
}

/** Fontkit caches a glyph with the characters of its first use. Here each use has its own. */
function shapingFont(font: Font): Font {
  return Object.create(font, {
    getGlyph: {
      value: (id: number, codePoints: number[] = []) =>
        Object.create(font.getGlyph(id), { codePoints: { value: codePoints } }),
    },
  });
}

function mirroredPoint(codePoint: number): number {
  return mirrored(String.fromCodePoint(codePoint)).codePointAt(0) ?? 0;
}
