/** The TypeScript client checks webhooks that the service signed, and refuses everything else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyWebhook, WebhookVerificationError } from '../../clients/typescript/src/main.ts';
import { eventTypes } from '../../src/events/catalogue.ts';
import { sampleEventOf } from '../../src/events/sample-event.ts';
import { createSigner, newWebhookSecret } from '../../src/webhooks/exchange/signature.ts';

const secret = newWebhookSecret();

function signed(event: object, { ageSeconds = 0, previousSecrets = [] as string[] } = {}) {
  const body = JSON.stringify(event);
  const timestamp = Math.floor(Date.now() / 1000) - ageSeconds;
  const sign = createSigner({ serviceName: 'Acme', secret, previousSecrets });
  return { secret, headers: sign({ eventId: 'evt_1', body, timestamp }), body, serviceName: 'Acme' };
}

test('events of every type are read, by either signature', async () => {
  for (const type of eventTypes) {
    const event = sampleEventOf(type);
    assert.deepEqual(await verifyWebhook(signed(event)), event);
    assert.deepEqual(await verifyWebhook({ ...signed(event), scheme: 'sha256' }), event);
  }
  const event = await verifyWebhook(signed(sampleEventOf('vault.deactivated')));
  assert.ok(event.type === 'vault.deactivated');
  assert.match(event.data.vault_id, /^vlt_/);
});

test('takes bytes, and headers in any form', async () => {
  const request = signed({ id: 'evt_1', type: 'webhook.test', data: { endpoint_id: 'Grüße 漢字' } });
  const body = new TextEncoder().encode(request.body);
  const headers = new Headers(request.headers);
  const upper = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name.toUpperCase(), [value]]),
  );
  for (const given of [headers, upper]) {
    assert.equal((await verifyWebhook({ ...request, body, headers: given })).type, 'webhook.test');
  }
});

test('refuses what is changed, unsigned, old, or signed with another secret', async () => {
  const good = signed({ id: 'evt_1', type: 'vault.deactivated' });
  const { 'webhook-signature': _, ...without } = good.headers;
  const refused = [
    { ...good, body: `${good.body} ` },
    { ...good, secret: newWebhookSecret() },
    { ...good, headers: {} },
    { ...good, headers: without },
    { ...good, headers: { ...good.headers, 'webhook-signature': '' } },
    { ...good, headers: { ...good.headers, 'webhook-id': 'evt_2' } },
    { ...good, headers: { ...good.headers, 'webhook-timestamp': '1' } },
    signed({ id: 'evt_1', type: 'x' }, { ageSeconds: 310 }),
    signed({ id: 'evt_1', type: 'x' }, { ageSeconds: -310 }),
  ];
  for (const [place, request] of refused.entries()) {
    await assert.rejects(verifyWebhook(request), WebhookVerificationError, String(place));
  }
  const sha256 = { ...good, scheme: 'sha256' as const };
  await verifyWebhook(sha256);
  for (const change of [
    { body: '{}' },
    { serviceName: 'Other' },
    { headers: {} },
    { secret: newWebhookSecret() },
  ]) {
    await assert.rejects(verifyWebhook({ ...sha256, ...change }), WebhookVerificationError);
  }
  await assert.rejects(verifyWebhook({ ...good, secret: 'hook' }), TypeError);
  await assert.rejects(verifyWebhook(signed({ type: 'x' })), TypeError);
});

test('while a secret rotates, receivers with the old and with the new one accept', async () => {
  const old = newWebhookSecret();
  const request = signed(sampleEventOf('vault.deactivated'), { previousSecrets: [old] });
  await verifyWebhook({ ...request, secret: old });
  await verifyWebhook({ ...request, secret: [newWebhookSecret(), old] });
});
