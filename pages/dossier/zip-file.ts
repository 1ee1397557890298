/**
 * Reads a ZIP archive in the browser: the directory at its end, and each file as a stream, whatever the size of the archive.
 */
import type { DossierFiles } from '../../src/maintenance/dossier-check/dossier-files.ts';
import { utf8Text } from '../../src/proof/utf8.ts';

interface Listed {
  method: number;
  packedSize: number;
  size: number;
  offset: number;
}

/** Throws with a readable message when this page cannot read the archive. */
export async function openZip(file: Blob): Promise<DossierFiles> {
  const entries = await readDirectory(file);
  return {
    names: () => [...entries.keys()],
    open(path) {
      const entry = entries.get(path);
      return entry ? readEntry(file, entry) : null;
    },
  };
}

/** Size of the record at the very end, and of the longest comment that can follow it. */
const endBytes = 22;
const mostComment = 0xffff;
/** Far more than a dossier has, and small enough for memory. */
const mostDirectoryBytes = 256 * 1024 * 1024;

async function readDirectory(file: Blob): Promise<Map<string, Listed>> {
  const tailStart = Math.max(0, file.size - endBytes - mostComment);
  const tail = await viewOf(file, tailStart, file.size);
  let at = tail.byteLength - endBytes;
  while (at >= 0 && tail.getUint32(at, true) !== 0x06054b50) at -= 1;
  if (at < 0) throw new Error('This ZIP archive is incomplete: its end is missing. Download it again.');
  let count = tail.getUint16(at + 10, true);
  let size = tail.getUint32(at + 12, true);
  let offset = tail.getUint32(at + 16, true);
  // ZIP64: another record has the values that do not fit into this one.
  if (at >= 20 && tail.getUint32(at - 20, true) === 0x07064b50) {
    const place = number64(tail, at - 20 + 8);
    const wide = await viewOf(file, place, place + 56);
    if (wide.getUint32(0, true) !== 0x06064b50)
      throw new Error('The list of the archive’s files is damaged.');
    count = number64(wide, 32);
    size = number64(wide, 40);
    offset = number64(wide, 48);
  }
  if (size > mostDirectoryBytes) throw new Error('The archive has more files than a dossier.');
  return listOf(await viewOf(file, offset, offset + size), count);
}

function listOf(list: DataView, count: number): Map<string, Listed> {
  const entries = new Map<string, Listed>();
  let at = 0;
  for (let place = 0; place < count; place += 1) {
    if (list.getUint32(at, true) !== 0x02014b50)
      throw new Error('The list of the archive’s files is damaged.');
    const nameLength = list.getUint16(at + 28, true);
    const extraLength = list.getUint16(at + 30, true);
    const name = nameIn(new Uint8Array(list.buffer, list.byteOffset + at + 46, nameLength));
    if (entries.has(name)) throw new Error(`The archive has ${name} twice.`);
    const entry = {
      method: list.getUint16(at + 10, true),
      packedSize: list.getUint32(at + 20, true),
      size: list.getUint32(at + 24, true),
      offset: list.getUint32(at + 42, true),
    };
    widen(entry, list, { from: at + 46 + nameLength, to: at + 46 + nameLength + extraLength });
    entries.set(name, entry);
    at += 46 + nameLength + extraLength + list.getUint16(at + 32, true);
  }
  return entries;
}

/** Two names must not become one when they are read. */
function nameIn(bytes: Uint8Array): string {
  try {
    return utf8Text(bytes);
  } catch {
    throw new Error('The archive has a file whose name is not text in UTF-8.');
  }
}

/** Values that are 0xffffffff in the entry are in its extra field, in this order. */
function widen(entry: Listed, list: DataView, { from, to }: { from: number; to: number }): void {
  for (let at = from; at + 4 <= to; at += 4 + list.getUint16(at + 2, true)) {
    if (list.getUint16(at, true) !== 1) continue;
    let field = at + 4;
    for (const name of ['size', 'packedSize', 'offset'] as const) {
      if (entry[name] !== 0xffffffff) continue;
      entry[name] = number64(list, field);
      field += 8;
    }
  }
}

async function* readEntry(
  file: Blob,
  { method, packedSize, size, offset }: Listed,
): AsyncGenerator<Uint8Array> {
  const head = await viewOf(file, offset, offset + 30);
  if (head.getUint32(0, true) !== 0x04034b50) throw new Error('it is not where the archive says');
  const start = offset + 30 + head.getUint16(26, true) + head.getUint16(28, true);
  const packed = file.slice(start, start + packedSize).stream();
  if (method !== 0 && method !== 8)
    throw new Error('it is compressed in a way that this page does not support');
  const bytes = method === 0 ? packed : packed.pipeThrough(new DecompressionStream('deflate-raw'));
  const reader = bytes.getReader();
  let seen = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      seen += value.length;
      if (seen > size) throw new Error('it is larger than the archive says');
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
  if (seen !== size) throw new Error('it is smaller than the archive says');
}

async function viewOf(file: Blob, from: number, to: number): Promise<DataView> {
  const bytes = await file.slice(from, to).arrayBuffer();
  if (bytes.byteLength !== to - from) throw new Error('The archive is incomplete. Download it again.');
  return new DataView(bytes);
}

function number64(view: DataView, at: number): number {
  const value = Number(view.getBigUint64(at, true));
  if (!Number.isSafeInteger(value)) throw new Error('The archive refers to a position beyond its end.');
  return value;
}
