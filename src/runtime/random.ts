/** Random bytes from the system's generator, drawn in bulk: a separate call for every few bytes costs 5 µs. */
import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(8192);
let used = pool.length;

/** At most 256 bytes; each byte of the pool is used once and wiped. */
export function smallRandomBytes(count: number): Buffer {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Buffer.from(pool.subarray(used, used + count));
  pool.fill(0, used, used + count);
  used += count;
  return bytes;
}
