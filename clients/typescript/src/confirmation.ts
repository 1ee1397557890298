/** Waits until something is confirmed on the chain. */
import { pause } from './retry.ts';

export interface WaitOptions {
  /** By default ten minutes. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** Confirmed things have an anchor, and a proof can be had. */
const confirmed = ['confirmed', 'finalized'];
const firstPauseMs = 200;
const longestPauseMs = 5_000;
const usualTimeoutMs = 10 * 60_000;

/** Not confirmed in time. It is not lost: ask again later. */
export class ConfirmationTimeoutError extends Error {
  override readonly name = 'ConfirmationTimeoutError';
  /** The status it had in the end. */
  readonly status: string;

  constructor(status: string) {
    super(`It was not confirmed in time: its status is ${status}.`);
    this.status = status;
  }
}

/** Reads it until its status is confirmed or finalized, and returns it as it is then. */
export async function untilConfirmed<Thing extends { status: string }>(
  read: () => Promise<Thing>,
  { timeoutMs = usualTimeoutMs, signal }: WaitOptions,
): Promise<Thing> {
  const deadline = Date.now() + timeoutMs;
  let ms = firstPauseMs;
  while (true) {
    const thing = await read();
    if (confirmed.includes(thing.status)) return thing;
    const left = deadline - Date.now();
    if (left <= 0) throw new ConfirmationTimeoutError(thing.status);
    await pause(Math.min(ms, left), signal);
    ms = Math.min(longestPauseMs, ms * 1.5);
  }
}
