/** The text of a proof or a history: a JSON file as it is, or the proof attached to a PDF certificate. */
import { utf8Text } from '../../src/proof/utf8.ts';

/** Proofs have some kilobytes, certificates some hundreds; anything that unpacks to more is not ours. */
const maxBytes = 32 * 1024 * 1024;

export function isPdf(start: string): boolean {
  return start.startsWith('%PDF-');
}

/** Throws a TypeError when the file is not text. */
export async function documentTextOf(file: File): Promise<string> {
  if (file.size > maxBytes) throw new Error(`${file.name} is too large to be a proof.`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (!isPdf(latin1(bytes.subarray(0, 8)))) return utf8Text(bytes);
  const proofs: string[] = [];
  for await (const text of attachmentsOf(bytes)) {
    if (/"holdfast\/(proof|history)@/.test(text)) proofs.push(text);
  }
  const [only, other] = proofs;
  // Which of them a reader would see depends on the reader.
  if (other !== undefined) {
    throw new Error(
      `${file.name} is a PDF with several proofs. Save the attached one that you mean, and choose that.`,
    );
  }
  if (only !== undefined) return only;
  throw new Error(
    `${file.name} is a PDF without a readable proof. If it is a certificate that another program has saved again, save the attached proof.json and choose that.`,
  );
}

/**
 * Embedded files in the form that certificates use: each an object of its own, with its length, plain or deflated, that the
 * list of attachments refers to. One that nothing refers to is not shown by any reader, and one that is written twice is two.
 */
async function* attachmentsOf(pdf: Uint8Array): AsyncGenerator<string> {
  const text = latin1(pdf);
  for (const { 0: whole, 1: number = '', 2: dictionary = '', index } of text.matchAll(
    /\b(\d+) 0 obj\s*<<((?:(?!endobj)[\s\S]){0,2000}?)>>\s*stream\r?\n/g,
  )) {
    if (!/\/Type\s*\/EmbeddedFile\b/.test(dictionary)) continue;
    if (!isAttached(text, number)) continue;
    const length = Number(/\/Length (\d+)(?! \d+ R)/.exec(dictionary)?.[1] ?? 0);
    const start = index + whole.length;
    const bytes = pdf.subarray(start, start + length);
    try {
      yield utf8Text(/\/FlateDecode\b/.test(dictionary) ? await inflate(bytes) : bytes);
    } catch {
      // Not text, so not the proof.
    }
  }
}

/** Whether a file specification names this object, which the file has once. */
function isAttached(text: string, number: string): boolean {
  const written = text.match(new RegExp(`\\b${number}\\s+\\d+\\s+obj\\b`, 'g')) ?? [];
  const isNamed = new RegExp(`/EF\\s*<<[^<>]{0,200}/U?F\\s+${number}\\s+0\\s+R\\b`).test(text);
  return written.length === 1 && isNamed;
}

async function inflate(bytes: Uint8Array): Promise<Uint8Array> {
  const packed = new Blob([bytes.slice()]).stream().pipeThrough(new DecompressionStream('deflate'));
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const part of packed) {
    size += part.length;
    if (size > maxBytes) throw new Error('an attachment is too large');
    parts.push(part);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** One character per byte, so that positions in the text are positions in the file. */
function latin1(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return text;
}
