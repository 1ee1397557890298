/** What a key may not do: grant more than it has, outlive itself, or read an answer that was not for it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Fastify from 'fastify';
import { announceDeprecations } from '../src/http/deprecation.ts';
import { type Service, startService } from './service.ts';

const keys = '/api-v1/platform/api-keys';

let service: Service;
before(async () => {
  service = await startService({ runLoops: false });
});
after(() => service.close());

test('the answer to the making of a key is repeated to its maker and to nobody else', async () => {
  const headers = { 'idempotency-key': 'once' };
  const made = await service.call('POST', keys, { body: { name: 'all' }, headers });
  assert.equal(made.status, 201);
  const again = await service.call('POST', keys, { body: { name: 'all' }, headers });
  assert.equal(again.text, made.text);
  const narrow = await service.makeKey({ scopes: ['keys:write'] });
  const other = await service.call('POST', keys, { key: narrow, body: { name: 'all' }, headers });
  assert.equal(other.status, 422);
  assert.doesNotMatch(other.text, /hf_live_/);
});

test('a key that expires cannot make one that lasts longer', async () => {
  const expiresAt = new Date(Date.now() + 3_600_000);
  const expiring = await service.makeKey({ expiresAt });
  const make = (body: object) => service.call('POST', keys, { key: expiring, body: { name: 'x', ...body } });
  assert.equal((await make({})).status, 403);
  assert.equal((await make({ expiresAt: new Date(expiresAt.getTime() + 1000).toISOString() })).status, 403);
  assert.equal((await make({ expiresAt: expiresAt.toISOString() })).status, 201);
});

test('a route that goes away says since when, until when and where to read on, beside its other links', async () => {
  const app = Fastify();
  announceDeprecations(app);
  const config = {
    deprecated: { since: '2026-01-01', sunset: '2027-01-01', guide: 'https://example.org/move' },
  };
  app.get('/old', { config }, async (_request, reply) => {
    reply.header('link', '</old?cursor=x>; rel="next"');
    return {};
  });
  const { headers } = await app.inject('/old');
  assert.equal(headers.deprecation, '@1767225600');
  assert.equal(headers.sunset, 'Fri, 01 Jan 2027 00:00:00 GMT');
  assert.equal(headers.link, '</old?cursor=x>; rel="next", <https://example.org/move>; rel="deprecation"');
  await app.close();
});
