/** Reads an archive member by member, in the order written and with one piece in memory at a time. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gunzip, gunzipSync } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { OperatorError } from '../runtime/errors.ts';
import { backupFormat, damaged, formatMember, pieceBytes, requireFormat, smallBytes } from './format.ts';

export interface Member {
  name: string;
  /** The plain bytes, in pieces; read them before asking for the next member. The unread rest is skipped. */
  pieces: AsyncIterable<Buffer>;
}

interface Piece {
  member: string;
  bytes: Buffer;
}

const uncompressed = promisify(gunzip);
/** No entry of an archive is larger; one that claims to be is an attempt to exhaust the memory. */
const mostEntryBytes = 8 * pieceBytes;

/** `onBytes` receives the number of bytes read from the file. */
export async function* readArchive(
  file: string,
  onBytes: (bytes: number) => void = () => {},
  format: string = backupFormat,
): AsyncGenerator<Member> {
  const pieces = readPieces(file, onBytes);
  try {
    let next = await pieces.next();
    if (next.done || next.value.member !== formatMember) throw notOurs(file);
    requireFormat(next.value.bytes.toString('utf8'), format);
    next = await pieces.next();
    while (!next.done) {
      const { member } = next.value;
      const isSame = () => !next.done && next.value.member === member;
      yield {
        name: member,
        pieces: (async function* () {
          while (!next.done && next.value.member === member) {
            yield next.value.bytes;
            next = await pieces.next();
          }
        })(),
      };
      while (isSame()) next = await pieces.next();
    }
  } finally {
    await pieces.return(undefined);
  }
}

export async function archiveBytes(file: string): Promise<number> {
  const found = await stat(file).catch((cause) => {
    throw new OperatorError(`The archive ${file} cannot be read: ${cause.message}.`, { cause });
  });
  if (!found.isFile())
    throw new OperatorError(`${file} is not a file: give the archive that a backup created.`);
  return found.size;
}

async function* readPieces(file: string, onBytes: (bytes: number) => void): AsyncGenerator<Piece, void> {
  // The service also verifies what it wrote, and answers requests between one read and the next.
  const input = createReadStream(file, { highWaterMark: 256 * 1024 });
  input.on('data', (chunk) => onBytes(chunk.length));
  const entries = extract();
  let failure: unknown = null;
  const feeding = pipeline(input, entries).catch((error) => {
    failure = error;
  });
  let last = { member: '', number: 0 };
  let isFirst = true;
  try {
    for await (const entry of entries) {
      const { member, number, isCompressed } = placeOf(entry.header.name);
      const expected = member === last.member ? last.number + 1 : 1;
      if (number !== expected) throw damaged(`piece ${expected} of ${member} is out of place`);
      last = { member, number };
      isFirst = false;
      const bytes = await readEntry(entry);
      yield { member, bytes: isCompressed ? await expand(bytes, member) : bytes };
    }
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    if (isFirst) throw notOurs(file, error);
    throw damaged((error as Error).message.toLowerCase(), error);
  } finally {
    input.destroy();
    entries.destroy();
    await feeding;
  }
  if (failure) throw damaged((failure as Error).message.toLowerCase(), failure);
}

async function readEntry(entry: AsyncIterable<unknown> & { header: Header }): Promise<Buffer> {
  const { name, size, type } = entry.header;
  if (type !== 'file' || size > mostEntryBytes) throw damaged(`${name} does not belong in a backup`);
  const chunks: Buffer[] = [];
  for await (const chunk of entry) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function expand(bytes: Buffer, member: string): Promise<Buffer> {
  try {
    // RFC 1952, ISIZE; one that says too little fails here.
    if (bytes.readUInt32LE(bytes.length - 4) <= smallBytes)
      return gunzipSync(bytes, { maxOutputLength: smallBytes });
    return await uncompressed(bytes, { maxOutputLength: pieceBytes });
  } catch (error) {
    throw damaged(`a piece of ${member} cannot be decompressed`, error);
  }
}

/** `tables/records/000002.gz` is the second piece of `tables/records`; a name without a number is a short member. */
function placeOf(name: string): { member: string; number: number; isCompressed: boolean } {
  const [, member, number, suffix] = /^(.+)\/(\d{6,})(\.gz)?$/.exec(name) ?? [];
  if (member === undefined) return { member: name, number: 1, isCompressed: false };
  return { member, number: Number(number), isCompressed: suffix !== undefined };
}

function notOurs(file: string, cause?: unknown): OperatorError {
  return new OperatorError(`${file} is not a Holdfast backup, or its beginning is damaged.`, { cause });
}
