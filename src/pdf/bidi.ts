/** The Unicode rules for text that runs from right to left, or both ways: https://unicode.org/reports/tr9/ */
import bidiFactory, { type Bidi } from 'bidi-js';

// Its types describe the module that bundlers take; Node.js gets the factory itself.
const bidi = (bidiFactory as unknown as () => Bidi)();

/** That of its first letter, as readers expect of a paragraph. */
export function directionOf(text: string): 'ltr' | 'rtl' {
  const { paragraphs } = bidi.getEmbeddingLevels(text, 'auto');
  return (paragraphs[0]?.level ?? 0) % 2 === 0 ? 'ltr' : 'rtl';
}

/** One for each UTF-16 unit; odd ones run from right to left. */
export function levelsOf(text: string, base: 'ltr' | 'rtl'): Uint8Array {
  return bidi.getEmbeddingLevels(text, base).levels;
}

/** Brackets and the like open to the other side where text runs from right to left. */
export function mirrored(character: string): string {
  return bidi.getMirroredCharacter(character) ?? character;
}
