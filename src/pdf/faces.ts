/** The typefaces of documents: opened once for all documents, shaped only for scripts that need it, embedded by pdfkit. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { create, type Font } from 'fontkit';
import { createGlyphNumbers } from './glyph-numbers.ts';
import { type Layout, layoutOf, type PlacedGlyph } from './layout.ts';
import { createShaper, rightToLeft } from './shaper.ts';
import { createWorldFace } from './world-face.ts';

export type FaceName = 'serif' | 'serifBold' | 'sans' | 'sansBold' | 'mono';
/** Also the faces for text that its own face has no glyphs for. */
export type AnyFaceName = FaceName | 'world' | 'worldBold';

export interface Face {
  name: AnyFaceName;
  /** The font object for pdfkit. */
  source: object;
  /** In points, for text of one point. */
  ascent: number;
  descent: number;
  /** In points, for text that this face has all glyphs for. Right-to-left text begins with `rightToLeft`. */
  width(text: string, size: number): number;
  /** For one code point, or several that form one character. */
  has(character: string): boolean;
}

const fileNames: Record<FaceName, string> = {
  serif: 'DejaVuSerifCondensed.ttf',
  serifBold: 'DejaVuSerifCondensed-Bold.ttf',
  sans: 'DejaVuSansCondensed.ttf',
  sansBold: 'DejaVuSansCondensed-Bold.ttf',
  mono: 'DejaVuSansMono.ttf',
};

export const faceNames = [...Object.keys(fileNames), 'world', 'worldBold'] as AnyFaceName[];

const opened = new Map<AnyFaceName, Face>();

/** Reads and parses the font on first use: some 20 ms each. */
export function openFace(name: AnyFaceName): Face {
  const known = opened.get(name);
  if (known) return known;
  const face = name === 'world' || name === 'worldBold' ? createWorldFace(name) : readFace(name);
  opened.set(name, face);
  return face;
}

function readFace(name: FaceName): Face {
  const file = createRequire(import.meta.url).resolve(`dejavu-fonts-ttf/ttf/${fileNames[name]}`);
  const font = create(readFileSync(file)) as Font;
  const { unitsPerEm } = font;
  const numbers = createGlyphNumbers(font);
  /** A cache, as documents use the same few hundred glyphs all the time. */
  const glyphs = new Map<number, PlacedGlyph>();
  const glyphOf = (character: string): PlacedGlyph => {
    const codePoint = character.codePointAt(0) ?? 0;
    const known = glyphs.get(codePoint);
    if (known) return known;
    const glyph = numbers.glyphFor(font.glyphForCodePoint(codePoint), codePoint);
    glyphs.set(codePoint, glyph);
    return glyph;
  };
  const shape = createShaper(font, numbers);
  const layout = (text: string) =>
    text.startsWith(rightToLeft) ? shape(text.slice(1)) : layOut(Array.from(text, glyphOf));
  const { createSubset } = numbers;
  return {
    name,
    source: Object.create(font, { layout: { value: layout }, createSubset: { value: createSubset } }),
    ascent: font.ascent / unitsPerEm,
    descent: -font.descent / unitsPerEm,
    width(text, size) {
      if (text.startsWith(rightToLeft)) return (shape(text.slice(1)).advanceWidth / unitsPerEm) * size;
      let units = 0;
      for (const character of text) units += glyphOf(character).advanceWidth;
      return (units / unitsPerEm) * size;
    },
    has: (character) =>
      Array.from(character).every((one) => font.hasGlyphForCodePoint(one.codePointAt(0) ?? 0)),
  };
}

/**
 * Places one glyph per character side by side, instead of the font's own shaping: that takes 200 µs per word, too slow
 * for a logbook of 100,000 entries, and left-to-right scripts do not need it.
 */
function layOut(glyphs: PlacedGlyph[]): Layout {
  return layoutOf(
    glyphs,
    glyphs.map(({ advanceWidth }) => ({ xAdvance: advanceWidth, yAdvance: 0, xOffset: 0, yOffset: 0 })),
  );
}
