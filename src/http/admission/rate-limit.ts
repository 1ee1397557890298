/** Counts requests per caller in fixed windows, on this node, and reports what is left in headers. */
import type { FastifyReply } from 'fastify';
import type { RateLimit } from '../../config/limit-settings.ts';
import { networkOf } from '../../runtime/client-network.ts';
import { AppError } from '../../runtime/errors.ts';

/** Both count one request and set the RateLimit headers; they throw when the limit is passed. */
export interface RateLimiter {
  /** By the id of whoever proved who they are: never text that a stranger could choose. */
  count(who: string, reply: FastifyReply): void;
  /** By the network of the address: for strangers. */
  countAddress(address: string, reply: FastifyReply): void;
}

export interface Window {
  endsAt: number;
  used: number;
}

export interface Windows {
  /** The open window, or a new one. */
  of(who: string): Window;
  /** The open window, if there is one. */
  present(who: string): Window | undefined;
}

/** The most windows of addresses in memory: beyond it, ended ones go first, then the oldest, so that they cannot fill it. */
const mostAddresses = 10_000;

/** `most`: without it no open window goes, which is for those of whom only so many exist. */
export function createWindows(
  windowSeconds: number,
  now: () => number,
  most = Number.POSITIVE_INFINITY,
): Windows {
  const windows = new Map<string, Window>();

  function present(who: string, at = now()): Window | undefined {
    const window = windows.get(who);
    return window && window.endsAt > at ? window : undefined;
  }

  return {
    present: (who) => present(who),
    of(who) {
      const at = now();
      const open = present(who, at);
      if (open) return open;
      // A map keeps insertion order, and all windows are equally long: the first one is the oldest.
      for (const [other, { endsAt }] of windows) {
        if (endsAt > at && windows.size < most) break;
        windows.delete(other);
      }
      windows.delete(who);
      const fresh = { endsAt: at + windowSeconds * 1000, used: 0 };
      windows.set(who, fresh);
      return fresh;
    },
  };
}

export function createRateLimiter(limit: RateLimit | null, now: () => number = Date.now): RateLimiter {
  if (!limit) return { count() {}, countAddress() {} };
  const { requests, windowSeconds } = limit;
  // Field syntax of draft-ietf-httpapi-ratelimit-headers.
  const policy = `"default";q=${requests};w=${windowSeconds}`;
  // Apart, so that however many addresses a stranger has, no caller's window is forgotten for one of them.
  const callers = createWindows(windowSeconds, now);
  const addresses = createWindows(windowSeconds, now, mostAddresses);

  function count(window: Window, reply: FastifyReply): void {
    window.used += 1;
    const secondsLeft = Math.max(1, Math.ceil((window.endsAt - now()) / 1000));
    reply.header('ratelimit-policy', policy);
    reply.header('ratelimit', `"default";r=${Math.max(0, requests - window.used)};t=${secondsLeft}`);
    if (window.used > requests) {
      throw new AppError(
        'rate_limit_exceeded',
        `More than ${requests} requests in ${windowSeconds} s. Try again in ${secondsLeft} s.`,
        { retryAfterSeconds: secondsLeft },
      );
    }
  }

  return {
    count: (who, reply) => count(callers.of(who), reply),
    countAddress: (address, reply) => count(addresses.of(networkOf(address)), reply),
  };
}
