/** Counts requests per caller in fixed windows, on this node, and reports what is left in headers. */
import type { FastifyReply } from 'fastify';
import type { RateLimit } from '../../config/limit-settings.ts';
import { AppError } from '../../runtime/errors.ts';

export interface RateLimiter {
  /** Counts one request and sets the RateLimit headers; throws when the limit is passed. */
  count(who: string, reply: FastifyReply): void;
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

/** The most windows in memory: beyond it, ended ones go first, then the oldest, so that addresses cannot fill the memory. */
const mostWindows = 10_000;

export function createWindows(windowSeconds: number, now: () => number): Windows {
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
        if (endsAt > at && windows.size < mostWindows) break;
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
  if (!limit) return { count() {} };
  const { requests, windowSeconds } = limit;
  // Field syntax of draft-ietf-httpapi-ratelimit-headers.
  const policy = `"default";q=${requests};w=${windowSeconds}`;
  const windows = createWindows(windowSeconds, now);

  return {
    count(who, reply) {
      const window = windows.of(who);
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
    },
  };
}
