/**
 * Memory of pieces that went by, freed at once. Else it waits for a collection, of which there is one for every few dozen
 * megabytes, each over the whole heap: an upload took twice the processor time.
 */

/** Only for pieces that nobody else looks at. What shares its memory with others is left to the collector. */
export function giveBack(piece: Uint8Array): void {
  const { buffer, byteLength } = piece;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
