/**
 * Releases the memory of processed pieces at once. Otherwise it waits for a garbage collection, which comes every few
 * dozen megabytes and covers the whole heap: an upload took twice the processor time.
 */

/** Only for pieces that nobody else reads. A piece that shares its buffer is left to the garbage collector. */
export function giveBack(piece: Uint8Array): void {
  const { buffer, byteLength } = piece;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
