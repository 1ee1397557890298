/** Text of evidence: UTF-8, and nothing taken away. Two verifiers must not read two texts from the same bytes. */

/** Throws for bytes that are not UTF-8. A byte order mark stays, so that JSON after one is refused. */
export function utf8Text(bytes: Uint8Array | ArrayBuffer): string {
  return decoder.decode(bytes);
}

/** The same, in pieces: `end` throws if the last character is cut off. */
export function createUtf8Reader(): { read(piece: Uint8Array): string; end(): string } {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return { read: (piece) => decoder.decode(piece, { stream: true }), end: () => decoder.decode() };
}

/** `ignoreBOM` means: leave it in the text. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
