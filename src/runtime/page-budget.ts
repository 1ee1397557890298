/** Limits the bytes of a page of a list: with large rows the page ends early, and the cursor continues from there. */

/** Parsing and serialising an answer costs the event loop some 10 ms per MiB. */
export const mostPageBytes = 2 * 1024 * 1024;

/** Rows fetched at a time where they may be large. */
export const largeRowsAtOnce = 50;

/** Returns a function that tells for each row in turn whether the page has room for it; the first row always fits. */
export function createPageBudget(most = mostPageBytes): (bytes: number) => boolean {
  let used = 0;
  return (bytes) => {
    const fits = used === 0 || used + bytes <= most;
    used += bytes;
    return fits;
  };
}

/** The leading rows that fit, at least one. */
export function takeWithin<Row>(rows: Row[], bytes: (row: Row) => number, most: number): Row[] {
  const hasRoom = createPageBudget(most);
  const end = rows.findIndex((row) => !hasRoom(bytes(row)));
  return end === -1 ? rows : rows.slice(0, end);
}

/** Approximate size as JSON; `stored` is JSON text that is sent with it unparsed. */
export function bytesOf(row: unknown, stored = ''): number {
  return Buffer.byteLength(JSON.stringify(row)) + Buffer.byteLength(stored);
}
