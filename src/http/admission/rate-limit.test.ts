/** Requests are counted per caller and per network of strangers, and neither makes room for the other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyReply } from 'fastify';
import { createRateLimiter } from './rate-limit.ts';

const reply = { header() {} } as unknown as FastifyReply;
const passed = { code: 'rate_limit_exceeded' };

test('however many addresses strangers have, the window of a key stays', () => {
  const limiter = createRateLimiter({ requests: 2, windowSeconds: 60 }, () => 0);
  for (let round = 0; round < 2; round += 1) limiter.count('key_1', reply);
  for (let place = 0; place < 20_000; place += 1) {
    limiter.countAddress(`10.${place >> 16}.${(place >> 8) & 255}.${place & 255}`, reply);
  }
  assert.throws(() => limiter.count('key_1', reply), passed);
});

test('nor do other keys take its place', () => {
  const limiter = createRateLimiter({ requests: 1, windowSeconds: 60 }, () => 0);
  for (let place = 0; place < 20_000; place += 1) limiter.count(`key_${place}`, reply);
  assert.throws(() => limiter.count('key_0', reply), passed);
});

test('an address is no key, whatever it looks like, and a network of IPv6 is one address', () => {
  const limiter = createRateLimiter({ requests: 1, windowSeconds: 60 }, () => 0);
  limiter.countAddress('key_1', reply);
  limiter.count('key_1', reply);
  limiter.countAddress('2001:db8::1', reply);
  assert.throws(() => limiter.countAddress('2001:db8::2', reply), passed);
});

test('windows that ended are forgotten', () => {
  let now = 0;
  const limiter = createRateLimiter({ requests: 1, windowSeconds: 60 }, () => now);
  limiter.count('key_1', reply);
  now = 60_000;
  limiter.count('key_1', reply);
  assert.throws(() => limiter.count('key_1', reply), passed);
});
