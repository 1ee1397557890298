/** A chosen file in pieces, so that it may be larger than memory, with progress reports. */

export async function* piecesOf(file: File, onProgress: (share: number) => void): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  let seen = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
      seen += value.length;
      onProgress(file.size === 0 ? 1 : seen / file.size);
    }
  } finally {
    await reader.cancel();
  }
}
