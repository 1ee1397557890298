/** A face of Chinese, Japanese and Korean characters and emoji; documents embed only the glyphs that they use. */
import { mirrored } from './bidi.ts';
import { type Layout, layoutOf } from './layout.ts';
import { rightToLeft } from './shaper.ts';
import { trueTypeFont } from './true-type.ts';
import { unitsPerEm, type WebGlyph, webGlyph } from './web-fonts.ts';

/** Those of Noto Sans, in thousandths; the line height comes from the face of the text. */
const ascent = 880;
const descent = -120;

const missing: WebGlyph = { bytes: new Uint8Array(), advanceWidth: 0, leftBearing: 0, codePoints: [0] };

const clusters = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Characters that never combine with their neighbours. Segmenting takes twenty times as long as this check. */
const apart =
  /^[\n -\u02ff\u0370-\u0482\u048a-\u058f\u05d0-\u05ea\u0620-\u064a\u0671-\u06d3\u10a0-\u10ff\u2010-\u2027\u2030-\u20cf\u2100-\u2bff\u3000-\u3029\u3030-\u3098\u309b-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff01-\uff9d\u{1f300}-\u{1f3fa}\u{1f400}-\u{1faff}\u{20000}-\u{323af}]*$/u;

/** Splits text into characters as readers perceive them: a flag is one, and so is a letter with its marks. */
export function readCharacters(text: string): string[] {
  if (apart.test(text)) return Array.from(text);
  return Array.from(clusters.segment(text), ({ segment }) => segment);
}

export function createWorldFace(name: 'world' | 'worldBold') {
  const weight = name === 'world' ? 400 : 700;
  /** By the number that pdfkit uses; documents renumber those that they embed. */
  const numbered: WebGlyph[] = [missing];
  const numbers = new Map<WebGlyph, number>([[missing, 0]]);

  function numberOf(glyph: WebGlyph): number {
    const known = numbers.get(glyph);
    if (known !== undefined) return known;
    numbers.set(glyph, numbered.length);
    return numbered.push(glyph) - 1;
  }

  function glyphsOf(text: string): WebGlyph[] {
    const reversed = text.startsWith(rightToLeft);
    const characters = reversed ? readCharacters(text.slice(1)).map(mirrored) : readCharacters(text);
    const glyphs = characters.flatMap((character) => {
      const glyph = webGlyph(character, weight);
      if (glyph) return [glyph];
      return Array.from(character, (one) => webGlyph(one, weight) ?? missing);
    });
    return reversed ? glyphs.reverse() : glyphs;
  }

  function layout(text: string): Layout {
    const glyphs = glyphsOf(text);
    return layoutOf(
      glyphs.map((glyph) => ({
        id: numberOf(glyph),
        advanceWidth: glyph.advanceWidth,
        codePoints: glyph.codePoints,
      })),
      glyphs.map(({ advanceWidth }) => ({ xAdvance: advanceWidth, yAdvance: 0, xOffset: 0, yOffset: 0 })),
    );
  }

  /** The glyphs of one document. */
  function createSubset() {
    const places = new Map([[0, 0]]);
    return {
      includeGlyph(number: number): number {
        const place = places.get(number) ?? places.size;
        places.set(number, place);
        return place;
      },
      encode: () =>
        trueTypeFont(
          Array.from(places.keys(), (number) => numbered[number] ?? missing),
          { unitsPerEm, ascent, descent },
        ),
    };
  }

  return {
    name,
    source: {
      postscriptName: weight === 400 ? 'NotoSans-World' : 'NotoSans-WorldBold',
      unitsPerEm,
      ascent,
      descent,
      lineGap: 0,
      xHeight: 543,
      capHeight: 733,
      italicAngle: 0,
      bbox: { minX: -1000, minY: -1000, maxX: 3000, maxY: 2000 },
      post: { isFixedPitch: false },
      head: { macStyle: { italic: false } },
      getGlyph: (number: number) => numbered[number],
      layout,
      createSubset,
    },
    ascent: ascent / unitsPerEm,
    descent: -descent / unitsPerEm,
    width: (text: string, size: number) =>
      (glyphsOf(text).reduce((sum, { advanceWidth }) => sum + advanceWidth, 0) / unitsPerEm) * size,
    has: (character: string) => webGlyph(character, weight) !== null,
  };
}
