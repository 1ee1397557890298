/** The two signatures of a delivery, against independent implementations. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { createSigner, newWebhookSecret } from './signature.ts';

const bodies = [
  '{"id":"evt_1"}',
  JSON.stringify({
    text: 'Grüße, 世界, 🔏',
    escapes: '"\\\n\u2028</script>',
    large: '340282366920938463463374607431768211456',
  }),
  `{"number":12345678901234567890123456789.5e300,"deep":${'['.repeat(50)}${']'.repeat(50)}}`,
];

for (const body of bodies) {
  test(`both signatures verify independently: ${body.slice(0, 40)}`, () => {
    const secret = newWebhookSecret();
    const timestamp = Math.floor(Date.now() / 1000);
    const headers = createSigner({ serviceName: 'Service', secret, previousSecrets: [] })({
      eventId: 'evt_1',
      body,
      timestamp,
    });
    const expected = `sha256=${createHmac('sha256', secret).update(Buffer.from(body, 'utf8')).digest('hex')}`;
    assert.equal(headers['x-service-signature'], expected);
    assert.doesNotThrow(() => new Webhook(secret).verify(body, headers));
    assert.throws(() => new Webhook(secret).verify(`${body} `, headers));
    assert.throws(() => new Webhook(newWebhookSecret()).verify(body, headers));
  });
}

test('while a secret rotates, both sign the standard header, and only the new one signs the other', () => {
  const [secret, previousSecret] = [newWebhookSecret(), newWebhookSecret()];
  const timestamp = Math.floor(Date.now() / 1000);
  const headers = createSigner({ serviceName: 'Acme', secret, previousSecrets: [previousSecret] })({
    eventId: 'evt_1',
    body: '{}',
    timestamp,
  });
  assert.doesNotThrow(() => new Webhook(secret).verify('{}', headers));
  assert.doesNotThrow(() => new Webhook(previousSecret).verify('{}', headers));
  assert.equal(
    headers['x-acme-signature'],
    `sha256=${createHmac('sha256', secret).update('{}').digest('hex')}`,
  );
});

test('a secret is whsec_ followed by 32 random bytes', () => {
  assert.match(newWebhookSecret(), /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.notEqual(newWebhookSecret(), newWebhookSecret());
});
