/** SHA-256 in pieces, in WebAssembly. Load it on demand, so that users who only read do not wait for it. */
import { createSHA256 } from 'hash-wasm';

export interface PiecewiseHash {
  add(bytes: Uint8Array): void;
  /** Hex, as `sha256sum` prints it. */
  end(): string;
}

export async function startHash(): Promise<PiecewiseHash> {
  const hasher = await createSHA256();
  return {
    add(bytes) {
      hasher.update(bytes);
    },
    end: () => hasher.digest('hex'),
  };
}
