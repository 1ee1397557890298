/** QR codes of a written PDF: the rectangles on its pages, as the modules that a scanner sees. */
import { inflateSync } from 'node:zlib';

/** Rows of modules, without the quiet zone. */
export type Modules = boolean[][];

/** Codes of that size in points, quiet zone included, in drawing order. */
export function codesOf(pdf: Buffer, size: number): Modules[] {
  const text = pdf.toString('latin1');
  const found: Modules[] = [];
  for (const { index, 0: whole, 1: length } of text.matchAll(
    /\/Length (\d+)\n\/Filter \/FlateDecode\n>>\nstream\n/g,
  )) {
    const start = index + whole.length;
    const content = unpacked(pdf.subarray(start, start + Number(length)));
    // Each code is one path, which is filled in black.
    for (const [path] of content.matchAll(/(?:^[-\d. ]+ re\n)+/gm)) {
      const modules = modulesOf(path, size);
      if (modules) found.push(modules);
    }
  }
  return found;
}

function unpacked(bytes: Buffer): string {
  try {
    return inflateSync(bytes).toString('latin1');
  } catch {
    return '';
  }
}

function modulesOf(path: string, size: number): Modules | null {
  const rectangles = path
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number) as [number, number, number, number]);
  const unit = rectangles[0]?.[3] ?? 0;
  const count = Math.round(size / unit) - 8;
  if (count < 21 || count > 177 || rectangles.length < count) return null;
  const left = Math.min(...rectangles.map(([x]) => x));
  const top = Math.min(...rectangles.map(([, y]) => y));
  const modules = Array.from({ length: count }, () => Array<boolean>(count).fill(false));
  for (const [x, y, width] of rectangles) {
    const row = modules[Math.round((y - top) / unit)];
    const column = Math.round((x - left) / unit);
    row?.fill(true, column, column + Math.round(width / unit));
  }
  return modules;
}
