/** Counts requests per caller in fixed windows, on this node, and tells the caller what is left. */
import type { FastifyReply } from 'fastify';
import type { RateLimit } from '../config.ts';
import { AppError } from '../errors.ts';

export interface RateLimiter {
  /** Counts one request and sets the RateLimit headers; throws when the limit is passed. */
  count(who: string, reply: FastifyReply): void;
}

interface Window {
  endsAt: number;
  used: number;
}

/** Above this many callers in one window the finished windows are swept, so that addresses cannot fill the memory. */
const sweepAbove = 10_000;

export function createRateLimiter(limit: RateLimit | null, now: () => number = Date.now): RateLimiter {
  if (!limit) return { count() {} };
  const { requests, windowSeconds } = limit;
  // Field syntax of draft-ietf-httpapi-ratelimit-headers.
  const policy = `"default";q=${requests};w=${windowSeconds}`;
  const windows = new Map<string, Window>();

  function windowOf(who: string, at: number): Window {
    const present = windows.get(who);
    if (present && present.endsAt > at) return present;
    if (windows.size >= sweepAbove) {
      for (const [other, { endsAt }] of windows) if (endsAt <= at) windows.delete(other);
    }
    const fresh = { endsAt: at + windowSeconds * 1000, used: 0 };
    windows.set(who, fresh);
    return fresh;
  }

  return {
    count(who, reply) {
      const at = now();
      const window = windowOf(who, at);
      window.used += 1;
      const secondsLeft = Math.ceil((window.endsAt - at) / 1000);
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
