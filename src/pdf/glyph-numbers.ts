/** Distinguishes the characters that share a glyph, so that text copied from a document is the text that was written. */
import type { Font } from 'fontkit';
import type { PlacedGlyph } from './layout.ts';

export interface GlyphNumbers {
  /** The glyph for a character. If another character has the same shape, it is embedded a second time. */
  glyphFor(glyph: { id: number; advanceWidth: number }, codePoint: number): PlacedGlyph;
  /** The interface that pdfkit expects of a font: the glyphs of one document. */
  createSubset(): { includeGlyph(number: number): number; encode(): Uint8Array };
}

/** The parts of a subset that fontkit's types lack. */
interface Subset {
  /** By their position in the subset; the first is the glyph for missing characters. */
  glyphs: number[];
  encode(): Uint8Array;
}

/**
 * Pdfkit takes the characters of a glyph from its first use in a document, and fontkit keeps those of its first use in
 * any document. A letter shared by two alphabets would be copied as that of the wrong one.
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
