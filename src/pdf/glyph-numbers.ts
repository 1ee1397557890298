/** Tells apart what one glyph stands for, so that text is copied out of a document as it was written. */
import type { Font } from 'fontkit';
import type { PlacedGlyph } from './layout.ts';

export interface GlyphNumbers {
  /** A glyph that stands for a character. Another one with the same shape is embedded a second time. */
  glyphFor(glyph: { id: number; advanceWidth: number }, codePoint: number): PlacedGlyph;
  /** What pdfkit asks a font for: the glyphs of one document. */
  createSubset(): { includeGlyph(number: number): number; encode(): Uint8Array };
}

/** What fontkit does not declare of a subset. */
interface Subset {
  /** By their place in it; the one for what is missing is the first. */
  glyphs: number[];
  encode(): Uint8Array;
}

/**
 * Pdfkit takes the characters of a glyph from where a document has it first, and fontkit keeps those that it had when it
 * was first used by any document. A letter that two alphabets share would be copied as that of the other one.
 */
export function createGlyphNumbers(font: Font): GlyphNumbers {
  const known = new Map<string, PlacedGlyph>();
  const ids = [0];
  return {
    glyphFor({ id, advanceWidth }, codePoint) {
      const key = `${id} ${codePoint}`;
      const found = known.get(key);
      if (found) return found;
      const glyph = { id: ids.push(id) - 1, advanceWidth, codePoints: [codePoint] };
      known.set(key, glyph);
      return glyph;
    },
    createSubset() {
      const subset = font.createSubset() as unknown as Subset;
      const places = new Map([[0, 0]]);
      return {
        includeGlyph(number) {
          const found = places.get(number);
          if (found !== undefined) return found;
          const place = subset.glyphs.push(ids[number] ?? 0) - 1;
          places.set(number, place);
          return place;
        },
        encode: () => subset.encode(),
      };
    },
  };
}
