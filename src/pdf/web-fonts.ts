/** Outlines from the Noto fonts for Chinese, Japanese, Korean and emoji, whose packages split them into many small files. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { create, type Font } from 'fontkit';
import { glyphBytes, type OutlinePoint, type TrueTypeGlyph } from './true-type.ts';

export interface WebGlyph extends TrueTypeGlyph {
  /** Several if one glyph stands for a sequence, such as a flag. */
  codePoints: number[];
}

export type Weight = 400 | 700;

export const unitsPerEm = 1000;

/** The default weight of emoji, which are never bold. */
const usualWeight = 400;

/** The first package that has a character is used: Han characters have Chinese shapes where these differ. */
const emojiName = 'noto-emoji';
const packageNames = ['noto-sans-sc', 'noto-sans-jp', 'noto-sans-kr', emojiName];

/** The parts that fontkit's types lack, in the version that package.json names. */
interface VariableFont extends Font {
  variationCoords: number[] | null;
  hmtx: { metrics: { length: number; get(glyph: number): { advance: number } } };
  directory: {
    totalCompressedSize: number;
    tables: Record<string, { offset: number; length: number; transformLength?: number }>;
  };
  /** The file up to its tables; after `_decompressed`, the tables. */
  stream: { constructor: new (bytes: Uint8Array) => VariableFont['stream'] };
  _dataPos: number;
  _decompressed?: boolean;
  _transformedGlyphs?: Record<number, { points?: VariablePoint[]; components?: Component[] }>;
  _variationProcessor: { transformPoints(glyph: number, points: VariablePoint[]): void };
}
interface VariablePoint extends OutlinePoint {
  copy(): VariablePoint;
}
/** A component of a composite glyph, such as a flag. */
interface Component extends Record<'dx' | 'dy' | 'scaleX' | 'scaleY' | 'scale01' | 'scale10', number> {
  glyphID: number;
}

interface FontFile {
  path: string;
  emoji: boolean;
}

/** Files that may have a character: one per package, but all of the emoji package. */
let filesOf: Map<number, FontFile[]> | null = null;
/** By weight. The fonts bound their number: some 31,000. */
const known: Record<Weight, Map<string, WebGlyph>> = { 400: new Map(), 700: new Map() };
/** By weight and path, the most recently used last. Each holds its parsed outlines, about a megabyte. */
const openFonts = new Map<string, VariableFont>();
const mostOpenFonts = 32;
/** Fonts that were closed to make room. */
const closedFonts = new Set<string>();
/** Read completely, and not opened again: hostile text must not open a file for each of its characters. */
const readFonts = new Map<string, Map<number, WebGlyph>>();

/** The glyph for one character as perceived by a reader; null if the fonts have none. */
export function webGlyph(character: string, weight: Weight): WebGlyph | null {
  const found = known[weight].get(character);
  if (found) return found;
  const [first = 0, ...more] = Array.from(character, (one) => one.codePointAt(0) ?? 0);
  filesOf ??= readIndexes();
  for (const { path, emoji } of filesOf.get(first) ?? []) {
    const glyph =
      more.length === 0
        ? readCharacter(path, first, weight)
        : emoji
          ? readSequence(openFont(path, weight), [first, ...more])
          : null;
    if (!glyph) continue;
    known[weight].set(character, glyph);
    return glyph;
  }
  return null;
}

/** A file that was closed before is read completely, so that none is opened more than twice. */
function readCharacter(path: string, codePoint: number, weight: Weight): WebGlyph | null {
  const key = `${weight}${path}`;
  const read = readFonts.get(key);
  if (read) return read.get(codePoint) ?? null;
  if (!closedFonts.has(key)) return glyphOf(openFont(path, weight), codePoint);
  const font = openFont(path, weight);
  const glyphs = new Map<number, WebGlyph>();
  for (const one of font.characterSet) {
    const glyph = glyphOf(font, one);
    if (glyph) glyphs.set(one, glyph);
  }
  readFonts.set(key, glyphs);
  openFonts.delete(key);
  return glyphs.get(codePoint) ?? null;
}

function glyphOf(font: VariableFont, codePoint: number): WebGlyph | null {
  if (!font.hasGlyphForCodePoint(codePoint)) return null;
  return readGlyph(font, font.glyphForCodePoint(codePoint).id, [codePoint]);
}

/** A sequence such as a flag. A glyph that ignores a part, such as the skin tone, would show another character. */
function readSequence(font: VariableFont, codePoints: number[]): WebGlyph | null {
  const { glyphs } = font.layout(String.fromCodePoint(...codePoints));
  const [glyph] = glyphs;
  if (!glyph || glyphs.length > 1 || glyph.id === 0) return null;
  return glyph.codePoints.length === codePoints.length ? readGlyph(font, glyph.id, codePoints) : null;
}

function readGlyph(font: VariableFont, id: number, codePoints: number[]): WebGlyph {
  const scale = unitsPerEm / font.unitsPerEm;
  const { metrics } = font.hmtx;
  // Not from fontkit's glyph, which builds a path for it; these characters have the same width in any weight.
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

/** Fontkit returns the outlines of WOFF2 in the default weight only: others are made with its own processor. */
function inWeight(font: VariableFont, id: number, points: VariablePoint[]): OutlinePoint[] {
  if (!points[0] || font.variationCoords === null) return points;
  // The four phantom points for the edges of a glyph come after those of its outline.
  const edge = Object.assign(points[0].copy(), { x: 0, y: 0, onCurve: false, endContour: true });
  const all = [...points.map((point) => point.copy()), edge, edge.copy(), edge.copy(), edge.copy()];
  font._variationProcessor.transformPoints(id, all);
  return all.slice(0, -4);
}

function openFont(path: string, weight: Weight): VariableFont {
  const key = `${weight}${path}`;
  const font = openFonts.get(key) ?? readFont(path, weight);
  openFonts.delete(key);
  openFonts.set(key, font);
  const [oldest] = openFonts.keys();
  if (oldest !== undefined && openFonts.size > mostOpenFonts) {
    openFonts.delete(oldest);
    closedFonts.add(oldest);
  }
  return font;
}

/** Decompresses with Node.js: fontkit's own decoder, in JavaScript, takes ten times as long. */
function readFont(path: string, weight: Weight): VariableFont {
  const bytes = readFileSync(path);
  const font = create(bytes) as VariableFont;
  const { tables, totalCompressedSize } = font.directory;
  let offset = 0;
  for (const table of Object.values(tables)) {
    table.offset = offset;
    offset += table.transformLength ?? table.length;
  }
  const Stream = font.stream.constructor;
  font.stream = new Stream(
    brotliDecompressSync(bytes.subarray(font._dataPos, font._dataPos + totalCompressedSize)),
  );
  font._decompressed = true;
  if (font.variationAxes.wght?.default !== usualWeight) font.variationCoords = [weight];
  return font;
}

/** Each package lists the characters of its files, as ranges for style sheets. */
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
