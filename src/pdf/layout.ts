/** Glyphs with their positions, in the form that pdfkit expects from a font. */

export interface PlacedGlyph {
  id: number;
  advanceWidth: number;
  codePoints: number[];
}

export interface Position {
  xAdvance: number;
  yAdvance: number;
  xOffset: number;
  yOffset: number;
}

export interface Layout {
  glyphs: PlacedGlyph[];
  positions: Position[];
  advanceWidth: number;
}

export function layoutOf(glyphs: PlacedGlyph[], positions: Position[]): Layout {
  return {
    glyphs,
    positions,
    // A getter, because pdfkit scales the positions before it asks for their sum.
    get advanceWidth() {
      return positions.reduce((sum, { xAdvance }) => sum + xAdvance, 0);
    },
  };
}
