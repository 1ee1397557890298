/** The Unicode rules for right-to-left and bidirectional text: https://unicode.org/reports/tr9/ */
import bidiFactory, { type Bidi } from 'bidi-js';

// The types describe the module for bundlers; Node.js gets the factory itself.
const bidi = (bidiFactory as unknown as () => Bidi)();

/** The direction of the first letter, as readers expect of a paragraph. */
export function directionOf(text: string): 'ltr' | 'rtl' {
  const { paragraphs } = bidi.getEmbeddingLevels(text, 'auto');
  return (paragraphs[0]?.level ?? 0) % 2 === 0 ? 'ltr' : 'rtl';
}

/** One level for each UTF-16 unit; odd levels run from right to left. */
export function levelsOf(text: string, base: 'ltr' | 'rtl'): Uint8Array {
  return bidi.getEmbeddingLevels(text, base).levels;
}

/** Brackets and the like are mirrored in right-to-left text. */
export function mirrored(character: string): string {
  return bidi.getMirroredCharacter(character) ?? character;
}
