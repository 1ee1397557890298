/** How many bytes a page of a list may have: where rows are large it ends early, and the cursor goes on from there. */

/** What is parsed and written again for an answer costs the event loop some 10 ms per MiB. */
export const mostPageBytes = 2 * 1024 * 1024;

/** Rows that are fetched at once where they may be large. */
export const largeRowsAtOnce = 50;

/** Says of each row in turn whether the page still has room for it; the first one always has. */
export function createPageBudget(most = mostPageBytes): (bytes: number) => boolean {
  let used = 0;
  return (bytes) => {
    const fits = used === 0 || used + bytes <= most;
    used += bytes;
    return fits;
  };
}

/** As many of the rows as there is room for, at least one. */
export function takeWithin<Row>(rows: Row[], bytes: (row: Row) => number, most: number): Row[] {
  const hasRoom = createPageBudget(most);
  const end = rows.findIndex((row) => !hasRoom(bytes(row)));
  return end === -1 ? rows : rows.slice(0, end);
}

/** As JSON, about; `stored` is JSON that goes out with it as it lies, and is measured so. */
export function bytesOf(row: unknown, stored = ''): number {
  return Buffer.byteLength(JSON.stringify(row)) + Buffer.byteLength(stored);
}
