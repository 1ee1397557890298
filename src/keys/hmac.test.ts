/** HMAC-SHA-256 against the one of Node.js. */
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createHmacSha256 } from './hmac.ts';

const messages = ['', 'a', 'Grüße, 世界, 🔏', 'x'.repeat(55), 'x'.repeat(64), '\u{1F50F}'.repeat(100_000)];

test('matches node:crypto for every length of key and message', () => {
  for (const length of [0, 1, 32, 63, 64, 65, 200]) {
    const key = randomBytes(length);
    const hmac = createHmacSha256(key);
    for (const message of messages) {
      const expected = createHmac('sha256', key).update(message).digest();
      const what = `${length} bytes of key, ${message.length} characters`;
      assert.equal(hmac(message, 'hex'), expected.toString('hex'), what);
      assert.equal(hmac(message, 'base64'), expected.toString('base64'), what);
    }
  }
});
