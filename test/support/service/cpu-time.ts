/** The CPU time of this thread, which other work of the machine does not add to. */

const never = new Int32Array(new SharedArrayBuffer(4));

/**
 * In milliseconds. The kernel brings the account of a running thread up to date with each tick, every 4 ms, and when the
 * thread stops running: so it stops for a moment, or what costs 2 ms would be counted as none or as 4.
 */
export function threadCpuMs(): number {
  Atomics.wait(never, 0, 0, 0.01);
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
