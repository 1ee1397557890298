/** Glyphs with their places, as pdfkit takes them from a font. */

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
    // Pdfkit scales the positions first and then asks for their sum.
    get advanceWidth() {
      return positions.reduce((sum, { xAdvance }) => sum + xAdvance, 0);
    },
  };
}
