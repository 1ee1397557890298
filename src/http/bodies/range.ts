/** Range requests, RFC 9110 section 14: which bytes are requested, and the headers that describe them. */
import type { ByteRange } from '../../blobs/blob-store.ts';

export interface RangeHeaders {
  range?: string | undefined;
  'if-range'?: string | undefined;
}

/**
 * `whole` for no range, a malformed one, several ranges, or a part of another version; `none` when it covers no byte of
 * the content, which is 416. `size` and `etag` describe the whole content.
 */
export function rangeOf(
  headers: RangeHeaders,
  { size, etag }: { size: number; etag: string },
): ByteRange | 'whole' | 'none' {
  const asked = parse(headers.range);
  // There is no Last-Modified, so a date cannot match, and a weak tag never does.
  if (asked === null || (headers['if-range'] !== undefined && headers['if-range'].trim() !== etag))
    return 'whole';
  const { first, last } = asked;
  if (first === null) {
    // Empty content has no last byte that Content-Range could name.
    if (size === 0) return 'whole';
    if (last === 0) return 'none';
    return { start: Math.max(0, size - (last ?? 0)), end: size };
  }
  if (first >= size) return 'none';
  return { start: first, end: last === null ? size : Math.min(last + 1, size) };
}

/** The Content-Range of a part. */
export function contentRange({ start, end }: ByteRange, size: number): string {
  return `bytes ${start}-${end - 1}/${size}`;
}

/** Whether If-None-Match names the current content; here a weak tag counts like a strong one. */
export function isUnchanged(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}

/** `first` null: the `last` bytes; `last` null: up to the end. Null: ignore the header. */
function parse(range: string | undefined): { first: number | null; last: number | null } | null {
  const [, first = '', last = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(range ?? '') ?? [];
  if (first === '' && last === '') return null;
  const asked = { first: first === '' ? null : Number(first), last: last === '' ? null : Number(last) };
  return asked.first !== null && asked.last !== null && asked.last < asked.first ? null : asked;
}
