/** The CPU time of this thread, which excludes other work of the machine. */

const never = new Int32Array(new SharedArrayBuffer(4));

/**
 * In milliseconds. The kernel updates the account of a running thread with each tick, every 4 ms, and when the thread
 * stops running: so it pauses for a moment, or work of 2 ms would count as none or as 4.
 */
export function threadCpuMs(): number {
  Atomics.wait(never, 0, 0, 0.01);
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
