/**
 * The journal of an import: a file of JSON Lines that only grows. Its first line says of which import it is; each other one is
 * on the disk before what it tells of is relied on. A last line that a kill cut off is dropped.
 */
import { type FileHandle, open } from 'node:fs/promises';
import type { Journal, JournalState, Made } from '../bulk/run.ts';
import { OperatorError } from '../runtime/errors.ts';

export interface ImportIdentity {
  url: string;
  /** SHA-256 of the input; for a folder its path. */
  input: string;
  /** What is made of it. */
  plan: string;
}

export interface JournalFile extends Journal {
  /** What was made of this part of the input before; null: nothing. */
  madeOf(part: string): Promise<Made | null>;
  close(): Promise<void>;
}

const format = 'holdfast/import@1';
const readBytes = 256 * 1024;

interface Line {
  key: string;
  state: JournalState['state'];
  /** Path of a file. */
  part?: string;
  at?: number;
  ids?: string[];
}

/** Where a line about a request that made something is, so that its ids need not be in memory. */
interface Known {
  state: JournalState['state'];
  at: number;
  place: { begin: number; length: number };
}

export async function openJournal(path: string, identity: ImportIdentity): Promise<JournalFile> {
  const file = await openFile(path);
  try {
    return await begin(file, path, identity);
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'a+', 0o600);
  } catch (cause) {
    const { message } = cause as Error;
    throw new OperatorError(
      `The journal of the import cannot be written: ${message}. Name another folder with --state.`,
      { cause },
    );
  }
}

async function begin(file: FileHandle, path: string, identity: ImportIdentity): Promise<JournalFile> {
  const known = new Map<string, Known>();
  const parts = new Map<string, string>();
  let size = 0;
  let difference: string | null = null;
  for await (const { line, begin, length } of wholeLines(file)) {
    if (begin === 0) difference = differenceOf(line, path, identity);
    else {
      const { key, state, at = 0, part } = parse(line, path);
      known.set(key, { state, at, place: { begin, length } });
      if (part !== undefined && state === 'made') parts.set(part, key);
    }
    size = begin + length + 1;
  }
  // Of an import of which nothing was sent, nothing has to be remembered.
  if (known.size === 0) size = 0;
  else if (difference !== null) throw otherImport(path, difference);
  await file.truncate(size);

  let queue: { text: string; done(): void; failed(error: unknown): void }[] = [];
  let writing: Promise<void> | null = null;
  /** What is noted meanwhile goes to the disk together. */
  async function write(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      try {
        await file.appendFile(batch.map(({ text }) => text).join(''));
        await file.datasync();
        for (const { done } of batch) done();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    writing = null;
  }
  function append(line: object): Promise<{ begin: number; length: number }> {
    const text = `${JSON.stringify(line)}\n`;
    const place = { begin: size, length: Buffer.byteLength(text) - 1 };
    size += place.length + 1;
    const { promise, resolve, reject } = Promise.withResolvers<{ begin: number; length: number }>();
    queue.push({ text, done: () => resolve(place), failed: reject });
    writing ??= write();
    return promise;
  }

  async function idsAt({ begin, length }: Known['place']): Promise<string[]> {
    const { buffer } = await file.read({ buffer: Buffer.alloc(length), position: begin });
    return parse(buffer.toString(), path).ids ?? [];
  }

  if (size === 0) await append({ format, ...identity });
  return {
    async find(key) {
      const found = known.get(key);
      if (!found) return null;
      if (found.state === 'made') return { state: 'made', ids: await idsAt(found.place) };
      return found.state === 'sent' ? { state: 'sent', at: found.at } : { state: 'split' };
    },
    async note(key, state, part) {
      const at = state.state === 'sent' ? state.at : 0;
      const place = await append({ key, ...state, ...(part !== undefined && { part }) });
      if (part !== undefined && state.state === 'made') parts.set(part, key);
      known.set(key, { state: state.state, at, place });
    },
    async madeOf(part) {
      const key = parts.get(part);
      const found = key === undefined ? undefined : known.get(key);
      return key === undefined || !found ? null : { key, ids: await idsAt(found.place) };
    },
    async close() {
      await writing;
      await file.close();
    },
  };
}

/** Null: it is the same. */
function differenceOf(line: string, path: string, identity: ImportIdentity): string | null {
  let begun: Partial<ImportIdentity & { format: string }> = {};
  try {
    begun = JSON.parse(line);
  } catch {
    // Refused below.
  }
  if (begun.format !== format) throw new OperatorError(`${path} is no journal of an import.`);
  if (begun.url !== identity.url) return `it was sent to ${begun.url}`;
  if (begun.plan !== identity.plan) return 'it had another vault, mapping or other options';
  return begun.input === identity.input ? null : 'the input had another content';
}

function otherImport(path: string, difference: string): OperatorError {
  return new OperatorError(
    `The journal ${path} is of another import: ${difference}. To import again what was imported then, name another folder with --state.`,
  );
}

function parse(line: string, path: string): Line {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new OperatorError(`The journal ${path} is damaged.`, { cause });
  }
}

async function* wholeLines(
  file: FileHandle,
): AsyncGenerator<{ line: string; begin: number; length: number }> {
  let rest = Buffer.alloc(0);
  let begin = 0;
  for (let position = 0; ; ) {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(readBytes), position });
    if (bytesRead === 0) return;
    position += bytesRead;
    rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      yield { line: rest.toString('utf8', 0, end), begin, length: end };
      begin += end + 1;
      rest = rest.subarray(end + 1);
    }
  }
}
