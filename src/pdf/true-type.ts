/** Writes a TrueType font with a few outlines: fontkit cannot extract a subset from a WOFF2 file, nor from several files. */

export interface OutlinePoint {
  x: number;
  y: number;
  onCurve: boolean;
  endContour: boolean;
}

export interface TrueTypeGlyph {
  /** An entry of the table `glyf`, as `glyphBytes` writes it; empty for glyphs without ink. */
  bytes: Uint8Array;
  advanceWidth: number;
  leftBearing: number;
}

const box = { minX: -1000, minY: -1000, maxX: 3000, maxY: 2000 };

/** Flags of a point: https://learn.microsoft.com/typography/opentype/spec/glyf#simple-glyph-description */
const onCurve = 1;
const [shortX, shortY] = [2, 4];
/** A short value is positive; otherwise the value is the same as before. */
const [plusX, plusY] = [16, 32];

/** The bytes of one glyph in a font. Written in one pass, since a file has up to 400 glyphs. */
export function glyphBytes(points: readonly OutlinePoint[], scale = 1): Omit<TrueTypeGlyph, 'advanceWidth'> {
  const contours = points.reduce((sum, { endContour }) => sum + (endContour ? 1 : 0), 0);
  if (contours === 0) return { bytes: new Uint8Array(), leftBearing: 0 };
  const flagsAt = 10 + contours * 2 + 2;
  const xAt = flagsAt + points.length;
  const bytes = new Uint8Array(xAt + points.length * 4);
  const view = new DataView(bytes.buffer);
  const edges = { minX: 32767, minY: 32767, maxX: -32768, maxY: -32768 };
  let contour = 0;
  for (let place = 0; place < points.length; place += 1) {
    const point = points[place] as OutlinePoint;
    if (point.endContour) {
      view.setUint16(10 + contour * 2, place);
      contour += 1;
    }
    if (point.onCurve) bytes[flagsAt + place] = onCurve;
  }
  let at = xAt;
  const write = (values: (point: OutlinePoint) => number, short: number, plus: number): void => {
    let last = 0;
    for (let place = 0; place < points.length; place += 1) {
      const value = values(points[place] as OutlinePoint);
      const step = value - last;
      last = value;
      let flag = plus;
      if (step !== 0 && Math.abs(step) < 256) {
        flag = step > 0 ? short | plus : short;
        bytes[at] = Math.abs(step);
        at += 1;
      } else if (step !== 0) {
        flag = 0;
        view.setInt16(at, step);
        at += 2;
      }
      bytes[flagsAt + place] = (bytes[flagsAt + place] ?? 0) | flag;
    }
  };
  write(
    (point) => {
      const x = Math.round(point.x * scale);
      edges.minX = Math.min(edges.minX, x);
      edges.maxX = Math.max(edges.maxX, x);
      return x;
    },
    shortX,
    plusX,
  );
  write(
    (point) => {
      const y = Math.round(point.y * scale);
      edges.minY = Math.min(edges.minY, y);
      edges.maxY = Math.max(edges.maxY, y);
      return y;
    },
    shortY,
    plusY,
  );
  bytes.set(int16s([contours, edges.minX, edges.minY, edges.maxX, edges.maxY]));
  return { bytes: bytes.slice(0, Math.ceil(at / 4) * 4), leftBearing: edges.minX };
}

/** Without hints, names and character maps: an embedded font in a PDF needs none of them. */
export function trueTypeFont(
  glyphs: TrueTypeGlyph[],
  { unitsPerEm, ascent, descent }: { unitsPerEm: number; ascent: number; descent: number },
): Uint8Array {
  const places = new Uint8Array((glyphs.length + 1) * 4);
  const placesView = new DataView(places.buffer);
  let end = 0;
  for (const [place, { bytes }] of glyphs.entries()) {
    end += bytes.length;
    placesView.setUint32((place + 1) * 4, end);
  }
  const widest = Math.max(0, ...glyphs.map(({ advanceWidth }) => advanceWidth));
  const { minX, minY, maxX, maxY } = box;
  return fontFile([
    ['glyf', padded(glyphs.map(({ bytes }) => bytes))],
    // The magic number, no dates (a document is the same whenever it is made), long offsets.
    [
      'head',
      int16s([
        ...[1, 0, 1, 0, 0, 0, 0x5f0f, 0x3cf5, 0, unitsPerEm, 0, 0, 0, 0, 0, 0, 0, 0],
        ...[minX, minY, maxX, maxY, 0, 8, 2, 1, 0],
      ]),
    ],
    [
      'hhea',
      int16s([...[1, 0, ascent, descent, 0, widest, 0, 0, maxX, 1, 0, 0, 0, 0, 0, 0, 0], glyphs.length]),
    ],
    ['hmtx', int16s(glyphs.flatMap(({ advanceWidth, leftBearing }) => [advanceWidth, leftBearing]))],
    ['loca', places],
    ['maxp', int16s([1, 0, glyphs.length, 0x7fff, 0x0fff, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])],
  ]);
}

/** The directory and the tables, sorted by name. */
function fontFile(tables: [string, Uint8Array][]): Uint8Array {
  const power = Math.floor(Math.log2(tables.length));
  const directory = Buffer.alloc(12 + tables.length * 16);
  directory.writeUInt32BE(0x10000, 0);
  directory.writeUInt16BE(tables.length, 4);
  directory.writeUInt16BE(16 * 2 ** power, 6);
  directory.writeUInt16BE(power, 8);
  directory.writeUInt16BE(16 * (tables.length - 2 ** power), 10);
  let offset = directory.length;
  const parts = tables.map(([tag, bytes], place) => {
    const at = 12 + place * 16;
    const part = padded([bytes]);
    directory.write(tag, at, 'latin1');
    directory.writeUInt32BE(checksum(part), at + 4);
    directory.writeUInt32BE(offset, at + 8);
    directory.writeUInt32BE(bytes.length, at + 12);
    offset += part.length;
    return part;
  });
  return padded([directory, ...parts]);
}

function checksum(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 4) sum = (sum + view.getUint32(at)) >>> 0;
  return sum;
}

function int16s(values: number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 2);
  const view = new DataView(bytes.buffer);
  for (const [place, value] of values.entries()) view.setInt16(place * 2, value);
  return bytes;
}

/** Concatenates the parts, padded to a multiple of four bytes. */
function padded(parts: Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = new Uint8Array(Math.ceil(length / 4) * 4);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
