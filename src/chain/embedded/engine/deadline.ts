/**
 * Ends what takes too long, between two steps that may take long themselves: a precompiled contract, or a read of the state.
 * Other steps are bounded by their gas.
 */

export class TookTooLong extends Error {
  override name = 'TookTooLong';
}

export interface Deadline {
  /** From now on. */
  set(ms: number): void;
  /** Throws TookTooLong when it is over. */
  check(): void;
}

export function createDeadline(ms: number): Deadline {
  let at = performance.now() + ms;
  return {
    set(ms) {
      at = performance.now() + ms;
    },
    check() {
      if (performance.now() > at) throw new TookTooLong('execution took too long');
    },
  };
}
