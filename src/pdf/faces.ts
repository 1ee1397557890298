/** The faces that documents are set in: opened once for all documents, measured without shaping, embedded by pdfkit. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { create, type Font, type Glyph } from 'fontkit';

export type FaceName = 'serif' | 'serifBold' | 'sans' | 'sansBold' | 'mono';

export interface Face {
  name: FaceName;
  /** What pdfkit takes as a font. */
  source: object;
  /** In points, for text of one point. */
  ascent: number;
  descent: number;
  /** In points. */
  width(text: string, size: number): number;
  has(codePoint: number): boolean;
}

const fileNames: Record<FaceName, string> = {
  serif: 'DejaVuSerifCondensed.ttf',
  serifBold: 'DejaVuSerifCondensed-Bold.ttf',
  sans: 'DejaVuSansCondensed.ttf',
  sansBold: 'DejaVuSansCondensed-Bold.ttf',
  mono: 'DejaVuSansMono.ttf',
};

export const faceNames = Object.keys(fileNames) as FaceName[];

const opened = new Map<FaceName, Face>();

/** Reads and parses the font when it is first asked for: some 20 ms each. */
export function openFace(name: FaceName): Face {
  const known = opened.get(name);
  if (known) return known;
  const face = readFace(name);
  opened.set(name, face);
  return face;
}

function readFace(name: FaceName): Face {
  const file = createRequire(import.meta.url).resolve(`dejavu-fonts-ttf/ttf/${fileNames[name]}`);
  const font = create(readFileSync(file)) as Font;
  const { unitsPerEm } = font;
  /** A document asks for the same few hundred all the time. */
  const glyphs = new Map<number, Glyph>();
  const glyphOf = (character: string): Glyph => {
    const codePoint = character.codePointAt(0) ?? 0;
    const known = glyphs.get(codePoint);
    if (known) return known;
    const glyph = font.glyphForCodePoint(codePoint);
    glyphs.set(codePoint, glyph);
    return glyph;
  };
  return {
    name,
    source: Object.create(font, { layout: { value: (text: string) => layOut(Array.from(text, glyphOf)) } }),
    ascent: font.ascent / unitsPerEm,
    descent: -font.descent / unitsPerEm,
    width(text, size) {
      let units = 0;
      for (const character of text) units += glyphOf(character).advanceWidth;
      return (units / unitsPerEm) * size;
    },
    has: (codePoint) => font.hasGlyphForCodePoint(codePoint),
  };
}

/**
 * One glyph for each character, side by side, in place of the font's own shaping: that takes 200 µs a word, which a
 * logbook of 100,000 entries cannot wait for, and the scripts that need it are not shown (see `showable`).
 */
function layOut(glyphs: Glyph[]) {
  const positions = glyphs.map(({ advanceWidth }) => ({
    xAdvance: advanceWidth,
    yAdvance: 0,
    xOffset: 0,
    yOffset: 0,
  }));
  return {
    glyphs,
    positions,
    // Pdfkit scales the positions first and then asks for their sum.
    get advanceWidth() {
      return positions.reduce((sum, { xAdvance }) => sum + xAdvance, 0);
    },
  };
}
