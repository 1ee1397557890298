/** The files of a dossier as a check reads them: bounded texts and lines, hashes, and one way to parse JSON. */
import { createSHA256 } from 'hash-wasm';
import { recordDigest } from '../../proof/content.ts';
import { fromHex } from '../../proof/hex.ts';
import { createUtf8Reader } from '../../proof/utf8.ts';
import { parseJsonText } from '../../runtime/json-text.ts';

/** A ZIP archive, or the folder it was unpacked to. */
export interface DossierFiles {
  names(): string[];
  /** Null when the file does not exist. */
  open(path: string): AsyncIterable<Uint8Array> | null;
}

/** Far beyond what a service writes, and small enough for memory. */
const mostTextBytes = 256 * 1024 * 1024;
const mostLineLength = 64 * 1024 * 1024;

/** Throws when it is too large or not UTF-8. */
export async function bytesOf(content: AsyncIterable<Uint8Array>, most = mostTextBytes): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of content) {
    size += piece.length;
    if (size > most) throw new Error(`it has more than ${most / 1024 / 1024} MiB`);
    pieces.push(piece);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** Throws when a line is too long, or not UTF-8. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array> | null): AsyncGenerator<string> {
  if (bytes === null) return;
  const reader = createUtf8Reader();
  let rest = '';
  for await (const piece of bytes) {
    const lines = (rest + reader.read(piece)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > mostLineLength) throw new Error('it has a line that is too long');
    yield* lines;
  }
  rest += reader.end();
  if (rest !== '') yield rest;
}

/** Null when it is not usable JSON; `fault` is told why. */
export function parseLine<Line>(line: string, fault: (message: string) => void): Line | null {
  try {
    const value = parseJsonText(line);
    if (typeof value === 'object' && value !== null) return value as Line;
    throw new Error('it is not an object');
  } catch (error) {
    fault(`has a line that is not usable JSON: ${(error as Error).message}`);
    return null;
  }
}

/** `onPiece` is told of each piece's size. */
export async function hashOf(
  content: AsyncIterable<Uint8Array>,
  onPiece: (bytes: number) => Promise<void>,
): Promise<{ size: number; sha256: string }> {
  const hash = await createSHA256();
  let size = 0;
  for await (const piece of content) {
    hash.update(piece);
    size += piece.length;
    await onPiece(piece.length);
  }
  return { size, sha256: hash.digest('hex') };
}

/** Whether a document in its RFC 8785 form has this digest under this salt. */
export function hasDigest(salt: string, document: unknown, digest: string): boolean {
  try {
    return recordDigest(fromHex(salt), document) === digest;
  } catch {
    return false;
  }
}
