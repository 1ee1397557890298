/** What a key may not do: grant more than it has, outlive itself, or read an answer that was not for it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Fastify from 'fastify';
import { announceDeprecations } from '../../src/http/api/deprecation.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Service, startService } from '../support/service/service.ts';

const keys = '/api-v1/platform/api-keys';

let service: Service;
before(async () => {
  service = await startService({ runLoops: false });
});
after(() => service.close());

test('repeats the answer with a new key to its creator, and to nobody else', async () => {
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

test('a key that expires cannot create one that lasts longer', async () => {
  const expiresAt = new Date(Date.now() + 3_600_000);
  const expiring = await service.makeKey({ expiresAt });
  const make = (body: object) => service.call('POST', keys, { key: expiring, body: { name: 'x', ...body } });
  assert.equal((await make({})).status, 403);
  assert.equal((await make({ expiresAt: new Date(expiresAt.getTime() + 1000).toISOString() })).status, 403);
  assert.equal((await make({ expiresAt: expiresAt.toISOString() })).status, 201);
});

test('limits the valid keys of a workspace, even if they are created concurrently', async () => {
  const key = await service.makeKey({ newWorkspace: true });
  const make = () => service.call('POST', keys, { key, body: { name: 'one more' } });
  const first = await make();
  const fill = `insert into api_keys (workspace_id, id, name, hint, secret_hash, scopes, expires_at, revoked_at, created_at)
    select k.workspace_id, 'key_fill' || $2 || n, 'fill', 'hf', sha256(($2 || n)::bytea), '{}', $3, $4, now()
    from api_keys k, generate_series(1, $5::integer) as n where k.id = $1`;
  // Those that nobody can use any more do not count.
  await service.sql(fill, [first.json.id, 'expired', '2020-01-01', null, 10]);
  await service.sql(fill, [first.json.id, 'revoked', null, '2020-01-01', 10]);
  await service.sql(fill, [first.json.id, 'valid', null, null, 995]);
  const answers = await Promise.all(Array.from({ length: 8 }, make));
  const refused = answers.filter(({ status }) => status !== 201);
  assert.equal(refused.length, 5);
  for (const answer of refused) {
    assertError(answer, 'budget_exceeded', /1,000 valid API keys .*Revoke one.*HOLDFAST_BUDGET_API_KEYS/);
    assert.equal(answer.headers.get('x-budget'), 'api_keys');
  }
  assert.equal((await service.call('DELETE', `${keys}/${first.json.id}`, { key })).status, 204);
  assert.equal((await make()).status, 201);
});

test('a deprecated route states since when, until when and a guide, beside its other links', async () => {
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
