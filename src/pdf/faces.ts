/** The faces that documents are set in: opened once for all documents, shaped only where a script needs it, embedded by pdfkit. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { create, type Font } from 'fontkit';
import { createGlyphNumbers } from './glyph-numbers.ts';
import { type Layout, layoutOf, type PlacedGlyph } from './layout.ts';
import { createShaper, rightToLeft } from './shaper.ts';
import { createWorldFace } from './world-face.ts';

export type FaceName = 'serif' | 'serifBold' | 'sans' | 'sansBold' | 'mono';
/** What text is written in where its own face has no glyphs for it. */
export type AnyFaceName = FaceName | 'world' | 'worldBold';

export interface Face {
  name: AnyFaceName;
  /** What pdfkit takes as a font. */
  source: object;
  /** In points, for text of one point. */
  ascent: number;
  descent: number;
  /** In points, of what this face alone shows. Text from right to left begins with `rightToLeft`. */
  width(text: string, size: number): number;
  /** Of one code point, or of several that are read as one character. */
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

/** Reads and parses the font when it is first asked for: some 20 ms each. */
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
  /** A document asks for the same few hundred all the time. */
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
 * One glyph for each character, side by side, in place of the font's own shaping: that takes 200 µs a word, which a
 * logbook of 100,000 entries cannot wait for, and the scripts that are written from left to right do without.
 */
function layOut(glyphs: PlacedGlyph[]): Layout {
  return layoutOf(
    glyphs,
    glyphs.map(({ advanceWidth }) => ({ xAdvance: advanceWidth, yAdvance: 0, xOffset: 0, yOffset: 0 })),
  );
}
