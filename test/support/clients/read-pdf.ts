/** Reads a written PDF: the lines of every page through the fonts' own tables, attachments and the catalogue. */
import { buffer } from 'node:stream/consumers';
import { inflateSync } from 'node:zlib';
import type { Drawing } from '../../../src/pdf/drawing.ts';

export interface ReadPdf {
  /** The lines of each page, in drawing order. */
  pages: string[][];
  /** All lines joined by spaces, for sentences that span lines. */
  text: string;
  attachments: Map<string, Buffer>;
  /** The raw text of the catalogue. */
  catalogue: string;
}

interface PdfObject {
  dictionary: string;
  stream: Buffer;
}

export function readPdf(pdf: Buffer): ReadPdf {
  const objects = readObjects(pdf);
  const find = (id: string | undefined): PdfObject => {
    const object = objects.get(id ?? '');
    if (!object) throw new Error(`the PDF has no object ${id}`);
    return object;
  };
  const every = [...objects.values()];
  const catalogue = every.find(({ dictionary }) => dictionary.includes('/Type /Catalog'))?.dictionary ?? '';
  const kids = find(refOf(catalogue, 'Pages')).dictionary.match(/\/Kids \[([^\]]*)\]/)?.[1] ?? '';
  const pages = [...kids.matchAll(/(\d+) 0 R/g)].map(([, id]) => {
    const page = find(id).dictionary;
    const resources = find(refOf(page, 'Resources')).dictionary;
    const fonts = new Map(
      [...resources.matchAll(/\/(F\d+) (\d+) 0 R/g)].map(([, name = '', font]) => [
        name,
        readGlyphs(find(refOf(find(font).dictionary, 'ToUnicode')).stream.toString('latin1')),
      ]),
    );
    return readLines(find(refOf(page, 'Contents')).stream.toString('latin1'), fonts);
  });
  const attachments = every
    .filter(({ dictionary }) => dictionary.includes('/Type /Filespec'))
    .map(({ dictionary }): [string, Buffer] => [
      dictionary.match(/\/UF \(([^)]*)\)/)?.[1] ?? '',
      find(dictionary.match(/\/EF <<\s*\/F (\d+) 0 R/)?.[1]).stream,
    ]);
  return { pages, text: pages.flat().join(' '), attachments: new Map(attachments), catalogue };
}

function readObjects(pdf: Buffer): Map<string, PdfObject> {
  const text = pdf.toString('latin1');
  const objects = new Map<string, PdfObject>();
  for (const { 1: id = '', 2: dictionary = '', 3: kind, index, 0: whole } of text.matchAll(
    /^(\d+) 0 obj\n([\s\S]*?)\n(stream|endobj)\n/gm,
  )) {
    const start = index + whole.length;
    const bytes = pdf.subarray(start, start + Number(dictionary.match(/\/Length (\d+)/)?.[1] ?? 0));
    const packed = dictionary.includes('/Filter /FlateDecode');
    const stream = kind === 'stream' ? (packed ? inflateSync(bytes) : bytes) : Buffer.alloc(0);
    objects.set(id, { dictionary, stream });
  }
  return objects;
}

function refOf(dictionary: string, key: string): string | undefined {
  return dictionary.match(new RegExp(`/${key} (\\d+) 0 R`))?.[1];
}

/** Draws a document to its end, without a thread. */
export function drawWhole({ stream, parts }: Drawing): Promise<Buffer> {
  const pdf = buffer(stream);
  while (!parts.next().done);
  return pdf;
}

/** Maps glyph numbers to characters. */
function readGlyphs(table: string): Map<number, string> {
  const glyphs = new Map<number, string>();
  for (const [, from = '', list = ''] of table.matchAll(/<([0-9a-f]+)> <[0-9a-f]+> \[([^\]]*)\]/g)) {
    for (const [place, [, hex = '']] of [...list.matchAll(/<([0-9a-f ]*)>/g)].entries()) {
      const units = hex.split(' ').map((unit) => Number.parseInt(unit, 16));
      glyphs.set(Number.parseInt(from, 16) + place, String.fromCharCode(...units));
    }
  }
  return glyphs;
}

function readLines(content: string, fonts: Map<string, Map<number, string>>): string[] {
  return [...content.matchAll(/BT\n([\s\S]*?)ET/g)].map(([, block = '']) => {
    const glyphs = fonts.get(block.match(/\/(F\d+) [\d.]+ Tf/)?.[1] ?? '');
    const digits = [...block.matchAll(/<([0-9a-f]*)>/g)].map(([, hex]) => hex).join('');
    return (digits.match(/.{4}/g) ?? [])
      .map((glyph) => glyphs?.get(Number.parseInt(glyph, 16)) ?? '?')
      .join('');
  });
}
