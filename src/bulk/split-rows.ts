/**
 * Cuts the bytes of an input into rows of text: lines, or rows of CSV, whose quoted fields may contain line breaks. Bytes come
 * in pieces of any size; at most one row is kept. A row that is too long or is not UTF-8 is a fault of that row alone.
 */

export type RawRow = {
  /** The line in which the row begins, counted from 1. */
  line: number;
  /** Bytes of the input up to the end of the row. */
  end: number;
} & ({ text: string } | { fault: string });

export interface RowSplitter {
  push(piece: Uint8Array): RawRow[];
  /** The rest, when no piece follows. */
  end(): RawRow[];
}

/** The input as a whole cannot be read. */
export class InputError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InputError';
  }
}

export interface SplitOptions {
  maxBytes: number;
  /** Of CSV; null: a quote means nothing, and every line is a row. */
  delimiter: string | null;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;

/** Where in a row of CSV a byte is. */
const fieldStart = 0;
const unquoted = 1;
const quoted = 2;
const afterQuote = 3;

/** Keeps a byte order mark: only the one at the beginning of the input is none of the text. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function createRowSplitter({ maxBytes, delimiter }: SplitOptions): RowSplitter {
  const separator = delimiter === null ? -1 : delimiter.charCodeAt(0);
  let head: Uint8Array | null = new Uint8Array(0);
  let pieces: Uint8Array[] = [];
  /** Bytes of the row so far, also of those that are not kept because it is too long. */
  let size = 0;
  let state = fieldStart;
  let line = 1;
  let rowLine = 1;
  let consumed = 0;

  function keep(piece: Uint8Array): void {
    size += piece.length;
    if (size > maxBytes) pieces = [];
    else if (piece.length > 0) pieces.push(piece);
  }

  function finish(): RawRow {
    const row: RawRow = { line: rowLine, end: consumed, ...contentOf(pieces, size, maxBytes) };
    pieces = [];
    size = 0;
    state = fieldStart;
    rowLine = line;
    return row;
  }

  function split(piece: Uint8Array): RawRow[] {
    const rows: RawRow[] = [];
    let begin = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at] as number;
      if (byte === lineFeed) {
        line += 1;
        if (state === quoted) continue;
        keep(piece.subarray(begin, at));
        consumed += at + 1 - begin;
        begin = at + 1;
        rows.push(finish());
      } else if (separator >= 0) state = next(state, byte, separator);
    }
    keep(piece.subarray(begin));
    consumed += piece.length - begin;
    return rows;
  }

  /** Without the byte order mark. */
  function splitFirst(begun: Uint8Array): RawRow[] {
    head = null;
    consumed = markLength(begun);
    return split(begun.subarray(consumed));
  }

  return {
    push(piece) {
      if (head === null) return split(piece);
      const begun = joined([head, piece]);
      if (begun.length < 3) {
        head = begun;
        return [];
      }
      return splitFirst(begun);
    },
    end() {
      const rows: RawRow[] = [];
      if (head !== null) rows.push(...splitFirst(head));
      if (state === quoted) {
        const fault = 'A quote is opened and never closed.';
        rows.push({ line: rowLine, end: consumed, fault });
      } else if (size > 0) rows.push(finish());
      return rows;
    },
  };
}

function next(state: number, byte: number, separator: number): number {
  if (state === quoted) return byte === quote ? afterQuote : quoted;
  if (byte === separator) return fieldStart;
  if (byte === quote && state !== unquoted) return quoted;
  return state === afterQuote && byte === carriageReturn ? afterQuote : unquoted;
}

/** Of the byte order mark at the beginning. */
function markLength(bytes: Uint8Array): number {
  const [first, second, third] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw new InputError('The input is UTF-16. Save it as UTF-8.');
  return first === 0xef && second === 0xbb && third === 0xbf ? 3 : 0;
}

function contentOf(
  pieces: Uint8Array[],
  size: number,
  maxBytes: number,
): { text: string } | { fault: string } {
  if (size > maxBytes)
    return { fault: `The row is too long: it has ${size} bytes, and may have ${maxBytes}.` };
  const bytes = pieces.length === 1 ? (pieces[0] as Uint8Array) : joined(pieces);
  const end = bytes.at(-1) === carriageReturn ? -1 : bytes.length;
  try {
    return { text: utf8.decode(bytes.subarray(0, end)) };
  } catch {
    return { fault: 'The row is not valid UTF-8.' };
  }
}

function joined(pieces: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
