/** Outlines out of the Noto fonts for Chinese, Japanese, Korean and emoji, whose packages have them in many small files. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { create, type Font } from 'fontkit';
import { glyphBytes, type OutlinePoint, type TrueTypeGlyph } from './true-type.ts';

export interface WebGlyph extends TrueTypeGlyph {
  /** Also where one glyph stands for several of them, such as a flag. */
  codePoints: number[];
}

export type Weight = 400 | 700;

export const unitsPerEm = 1000;

/** Emoji have it by themselves, and are not made bold. */
const usualWeight = 400;

/** The first one that has a character shows it: Han characters have the shapes of China wherever those differ. */
const emojiName = 'noto-emoji';
const packageNames = ['noto-sans-sc', 'noto-sans-jp', 'noto-sans-kr', emojiName];

/** What fontkit does not declare, and has in the version that package.json names. */
interface VariableFont extends Font {
  variationCoords: number[] | null;
  hmtx: { metrics: { length: number; get(glyph: number): { advance: number } } };
  _transformedGlyphs?: Record<number, { points?: VariablePoint[]; components?: Component[] }>;
  _variationProcessor: { transformPoints(glyph: number, points: VariablePoint[]): void };
}
interface VariablePoint extends OutlinePoint {
  copy(): VariablePoint;
}
/** Part of a glyph that is put together from others, as flags are. */
interface Component extends Record<'dx' | 'dy' | 'scaleX' | 'scaleY' | 'scale01' | 'scale10', number> {
  glyphID: number;
}

interface FontFile {
  path: string;
  emoji: boolean;
}

/** Which files may have a character, from each package one, but of emoji all. */
let filesOf: Map<number, FontFile[]> | null = null;
/** Of the few files with emoji, whose sequences are looked up one by one. */
const openFonts = new Map<string, VariableFont>();
/** There are no more than the fonts have: all 31,000 of a weight take 70 MB. */
const known = new Map<string, WebGlyph>();
/** Files of which all glyphs are known: hostile text must not have one opened again for each of its characters. */
const readFiles = new Set<string>();

/** The glyph for what a reader takes for one character; null where the fonts have none. */
export function webGlyph(character: string, weight: Weight): WebGlyph | null {
  const key = `${weight}${character}`;
  const found = known.get(key);
  if (found) return found;
  const [first = 0, ...more] = Array.from(character, (one) => one.codePointAt(0) ?? 0);
  filesOf ??= readIndexes();
  for (const { path, emoji } of filesOf.get(first) ?? []) {
    if (!emoji) readFile(path, weight);
    else if (more.length > 0) readSequence(openFont(path, weight), character, key);
    else readCharacter(openFont(path, weight), first, key);
    const glyph = known.get(key);
    if (glyph) return glyph;
  }
  return null;
}

function readFile(path: string, weight: Weight): void {
  const key = `${weight}${path}`;
  if (readFiles.has(key)) return;
  readFiles.add(key);
  const font = readFont(path, weight);
  for (const codePoint of font.characterSet) {
    const glyphKey = `${weight}${String.fromCodePoint(codePoint)}`;
    // What an earlier package has is shown by that one.
    if (!known.has(glyphKey)) readCharacter(font, codePoint, glyphKey);
  }
}

function readCharacter(font: VariableFont, codePoint: number, key: string): void {
  if (!font.hasGlyphForCodePoint(codePoint)) return;
  known.set(key, readGlyph(font, font.glyphForCodePoint(codePoint).id, [codePoint]));
}

/** Such as a flag. A glyph that leaves something out, such as the colour of a skin, would show another character. */
function readSequence(font: VariableFont, character: string, key: string): void {
  const codePoints = Array.from(character, (one) => one.codePointAt(0) ?? 0);
  const { glyphs } = font.layout(character);
  const [glyph] = glyphs;
  if (!glyph || glyphs.length > 1 || glyph.id === 0) return;
  if (glyph.codePoints.length === codePoints.length) known.set(key, readGlyph(font, glyph.id, codePoints));
}

function readGlyph(font: VariableFont, id: number, codePoints: number[]): WebGlyph {
  const scale = unitsPerEm / font.unitsPerEm;
  const { metrics } = font.hmtx;
  // Not that of fontkit's glyph, which makes a path of the outline to find it; these characters have it in any weight.
  const { advance } = metrics.get(Math.min(id, metrics.length - 1));
  return { ...glyphBytes(outlineOf(font, id), scale), advanceWidth: Math.round(advance * scale), codePoints };
}

function outlineOf(font: VariableFont, id: number): OutlinePoint[] {
  const { points = [], components = [] } = font._transformedGlyphs?.[id] ?? {};
  if (components.length === 0) return inWeight(font, id, points);
  return components.flatMap(({ glyphID, dx, dy, scaleX, scaleY, scale01, scale10 }) =>
    outlineOf(font, glyphID).map(({ x, y, ...point }) => ({
      ...point,
      x: x * scaleX + y * scale10 + dx,
      y: x * scale01 + y * scaleY + dy,
    })),
  );
}

/** Fontkit gives the outlines of WOFF2 in the weight that the font has by itself: others are made with its own processor. */
function inWeight(font: VariableFont, id: number, points: VariablePoint[]): OutlinePoint[] {
  if (!points[0] || font.variationCoords === null) return points;
  // The four that stand for the edges of a glyph come after those of its outline.
  const edge = Object.assign(points[0].copy(), { x: 0, y: 0, onCurve: false, endContour: true });
  const all = [...points.map((point) => point.copy()), edge, edge.copy(), edge.copy(), edge.copy()];
  font._variationProcessor.transformPoints(id, all);
  return all.slice(0, -4);
}

function openFont(path: string, weight: Weight): VariableFont {
  const known = openFonts.get(path);
  if (known) return known;
  const font = readFont(path, weight);
  openFonts.set(path, font);
  return font;
}

function readFont(path: string, weight: Weight): VariableFont {
  const font = create(readFileSync(path)) as VariableFont;
  if (font.variationAxes.wght?.default !== usualWeight) font.variationCoords = [weight];
  return font;
}

/** Each package lists which characters its files are for, as ranges for style sheets. */
function readIndexes(): Map<number, FontFile[]> {
  const files = new Map<number, FontFile[]>();
  for (const name of packageNames) {
    const index = createRequire(import.meta.url).resolve(`@fontsource-variable/${name}/unicode.json`);
    const listed = JSON.parse(readFileSync(index, 'utf8')) as Record<string, string>;
    for (const [subset, list] of Object.entries(listed)) {
      const fileName = `${name}-${subset.replace(/[[\]]/g, '')}-wght-normal.woff2`;
      const file = { path: join(dirname(index), 'files', fileName), emoji: name === emojiName };
      for (const range of list.split(',')) {
        const [from = '', to = from] = range.slice(2).split('-');
        const last = Number.parseInt(to, 16);
        for (let point = Number.parseInt(from, 16); point <= last; point += 1) {
          const others = files.get(point);
          if (others) others.push(file);
          else files.set(point, [file]);
        }
      }
    }
  }
  return files;
}
