/** The one error shape, whatever goes wrong with a request: its route, method, headers, encoding or body. */
import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type ErrorCode, errorKinds } from '../../src/runtime/errors.ts';
import { assertError, assertProblem, send, sendBytes } from '../support/openapi/openapi-answers.ts';
import {
  isSuccess,
  type Operation,
  readOperations,
  smallestRequest,
  webhookSettings,
} from '../support/openapi/openapi-operations.ts';
import { makeThings, thingsFor } from '../support/openapi/openapi-things.ts';
import { type Service, startService } from '../support/service/service.ts';

const vaults = '/api-v1/platform/vaults';

let service: Service;
let operations: Operation[];
/** A value for every path parameter. */
let values: Record<string, string>;

before(async () => {
  // Without loops no delivery is under way when the test wants to try it again.
  service = await startService({ env: webhookSettings, runLoops: false });
  operations = await readOperations(service);
  values = await makeThings(service);
});
after(() => service.close());

test('an unknown route is 404 with the usual error body, for any method, with or without a key', async () => {
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
    for (const path of ['/api-v1', '/api-v1/', '/api-v1/platform', '/api-v1/platform/nothing', '/x/y']) {
      const keys = [service.key, null];
      const answers = await Promise.all(keys.map((key) => service.call(method, path, { key })));
      for (const answer of answers) assertError(answer, 'resource_not_found');
    }
  }
});

test('another method on a known path is 405 with exactly the allowed methods', async () => {
  const tried = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND MKCOL PURGE SEARCH QUERY'.split(' ');
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const here = operations.filter((operation) => operation.path === path);
    const taken = here.map(({ method }) => method);
    if (taken.includes('GET')) taken.push('HEAD');
    const [, url] = smallestRequest(here[0] as Operation, values);
    const tries = tried
      .filter((one) => !taken.includes(one))
      .map(async (method) => {
        const answer = await send(service.url, { method, path: url, headers: { 'x-api-key': service.key } });
        if (method === 'HEAD') assert.equal(answer.text, '');
        else assertError(answer, 'method_not_allowed');
        assert.equal(answer.status, 405, `${method} ${url}`);
        assert.deepEqual(answer.headers.get('allow')?.split(', ').sort(), taken.sort(), `${method} ${url}`);
      });
    await Promise.all(tries);
  }
});

test('HEAD answers as GET does, without a body', async () => {
  for (const path of [vaults, `${vaults}/${values.vaultAddress}`, '/healthz']) {
    const head = await service.call('HEAD', path);
    assert.equal(head.status, 200);
    assert.equal(head.text, '');
  }
  assert.equal((await service.call('HEAD', vaults, { key: null })).status, 401);
});

test('a body that is not JSON is 400 and the message says so', async () => {
  for (const body of ['{', 'name=x', '{"name":"x"', "{'name':'x'}", '{"name":"x"}}', 'NaN', '{"a":01}']) {
    assertError(await service.call('POST', vaults, { body }), 'invalid_request', /not valid JSON/);
  }
});

test('a body that is JSON but not an object is 400', async () => {
  for (const body of ['null', 'true', '1', '"x"', '[]', '[{"name":"x"}]']) {
    assertError(
      await service.call('POST', vaults, { body }),
      'invalid_request',
      /^The body must be an object/,
    );
  }
});

test('a body with another or no media type is 415', async () => {
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'nonsense',
    '*/*',
  ]) {
    const answer = await service.call('POST', vaults, {
      body: '{"name":"x"}',
      headers: { 'content-type': type },
    });
    assertError(answer, 'unsupported_media_type', /application\/json/);
  }
  const untyped = {
    method: 'POST',
    path: vaults,
    headers: { 'x-api-key': service.key },
    body: '{"name":"x"}',
  };
  assertError(await send(service.url, untyped), 'unsupported_media_type');
});

test('the media type may carry a charset and any case', async () => {
  for (const type of [
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json;charset="utf-8"',
  ]) {
    const answer = await service.call('POST', vaults, {
      body: '{"name":"é"}',
      headers: { 'content-type': type },
    });
    assert.equal(answer.json.name, 'é', answer.text);
  }
});

test('a charset other than UTF-8 is 415, and a duplicate name is 400, on any route', async () => {
  for (const charset of ['iso-8859-1', 'utf-16', '"us-ascii"']) {
    const headers = { 'content-type': `application/json; charset=${charset}` };
    const answer = await service.call('POST', vaults, { body: '{"name":"x"}', headers });
    assertError(answer, 'unsupported_media_type', /UTF-8/);
  }
  assertError(
    await service.call('POST', vaults, { body: '{"name":"x","name":"y"}' }),
    'invalid_request',
    /twice/,
  );
});

test('a browser that requests an unknown address gets a page', async () => {
  const path = '/no/<script>where';
  const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  const answer = await send(service.url, { method: 'GET', path, headers });
  assert.equal(answer.status, 404);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/html/);
  assert.match(answer.text, /Page not found[\s\S]*href="\/"/);
  assert.doesNotMatch(answer.text, /<script/);
  assertError(await send(service.url, { method: 'POST', path, headers }), 'resource_not_found');
});

test('does not read the body of a request to an unknown path', async () => {
  const bytes =
    'POST /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n';
  assertError(await sendBytes(service.url, bytes), 'resource_not_found');
});

test('a compressed body is 415 and the message names the encoding', async () => {
  for (const [encoding, body] of [
    ['gzip', gzipSync('{"name":"x"}')],
    ['br', Buffer.from([0x0b, 0x00, 0x80, 0x58, 0x03])],
    ['identity, gzip', gzipSync('{"name":"x"}')],
  ] as const) {
    const answer = await service.call('POST', vaults, { body, headers: { 'content-encoding': encoding } });
    assertError(answer, 'unsupported_media_type', new RegExp(encoding));
  }
});

test('a body over the limit is 413, declared or not', async () => {
  const fields = `Host: a\r\nx-api-key: ${service.key}\r\nContent-Type: application/json`;
  const announced = `POST ${vaults} HTTP/1.1\r\n${fields}\r\nContent-Length: 65537\r\n\r\n{`;
  assertError(await sendBytes(service.url, announced), 'payload_too_large', /65536/);

  const body = JSON.stringify({ name: 'x'.repeat(1024 * 1024) });
  const headers = { 'x-api-key': service.key, 'content-type': 'application/json' };
  const chunks = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from(body));
      controller.close();
    },
  });
  const streamed = await fetch(service.url + vaults, {
    method: 'POST',
    headers,
    body: chunks,
    duplex: 'half',
  });
  const text = await streamed.text();
  assertError(
    { status: streamed.status, headers: streamed.headers, text, json: JSON.parse(text) },
    'payload_too_large',
  );
});

test('a body that is not UTF-8 is 400', async () => {
  const bytes = [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]];
  for (const wrong of bytes) {
    const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from(wrong), Buffer.from('"}')]);
    assertError(await service.call('POST', vaults, { body }), 'invalid_request', /UTF-8/);
  }
  const utf16 = Buffer.from('{"name":"x"}', 'utf16le');
  assertError(await service.call('POST', vaults, { body: utf16 }), 'invalid_request');
});

test('a path that cannot be decoded is 400', async () => {
  for (const path of ['/%', '/%zz', `${vaults}/%ff`, `${vaults}/%c0%af`, `${vaults}/%ed%a0%80/deactivate`]) {
    assertError(await send(service.url, { method: 'GET', path }), 'invalid_request');
  }
});

test('ignores everything after a number sign in the path, even if it cannot be decoded', async () => {
  const of = (method: string, target: string) =>
    sendBytes(service.url, `${method} ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  assertError(await of('GET', '/nothing#%zz'), 'resource_not_found');
  assertError(await of('DELETE', '/healthz#x'), 'method_not_allowed');
  assert.equal((await of('GET', '/healthz#%zz')).status, 200);
});

test('a path parameter that is far too long is 400', async () => {
  const path = `${vaults}/${'a'.repeat(5000)}`;
  const headers = { 'x-api-key': service.key };
  assertError(await send(service.url, { method: 'GET', path, headers }), 'invalid_request');
});

test('answers anything that is not HTTP with 400 and the usual error body, and closes', async () => {
  const host = 'Host: a\r\nConnection: close';
  for (const bytes of [
    'nonsense\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00',
    'NOSUCH / HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nno colon\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nHost: a\r\nx: a\0b\r\n\r\n',
    `POST ${vaults} HTTP/1.1\r\n${host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `POST ${vaults} HTTP/1.1\r\n${host}\r\nContent-Length: x\r\n\r\n`,
    // HTTP/1.1 requires Host; node answers this one itself unless told not to.
    'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n',
  ]) {
    const answer = await sendBytes(service.url, bytes);
    assert.equal(answer.status, 400, JSON.stringify(bytes));
    assertError(answer, 'invalid_request');
  }
});

test('a request that arrives too slowly is 408, be it its headers or its body', async (t) => {
  const server = service.app.server.http.server as Server & { connectionsCheckingInterval: number };
  const { requestTimeout, headersTimeout, connectionsCheckingInterval } = server;
  // Node.js begins to look for late requests when it listens.
  const look = (times: object) => Object.assign(server, times).emit('listening');
  t.after(() => look({ requestTimeout, headersTimeout, connectionsCheckingInterval }));
  look({ requestTimeout: 300, headersTimeout: 300, connectionsCheckingInterval: 50 });
  const head = `POST ${vaults} HTTP/1.1\r\nHost: a\r\nx-api-key: ${service.key}\r\nContent-Type: application/json\r\nContent-`;
  for (const bytes of [head, `${head}Length: 20\r\n\r\n{"name":`]) {
    assertError(await sendBytes(service.url, bytes), 'request_timeout', /did not arrive in time/);
  }
});

test('serves an icon to browsers, and a robots.txt that allows the documents alone', async () => {
  for (const path of ['/favicon.ico', '/favicon.svg']) {
    const icon = await send(service.url, { method: 'GET', path });
    assert.equal(icon.headers.get('content-type'), 'image/svg+xml');
  }
  const robots = await send(service.url, { method: 'GET', path: '/robots.txt' });
  assert.equal(robots.text, 'User-agent: *\nDisallow: /\nAllow: /docs/\n');
});

test('headers that are too large are 431 and the message says so', async () => {
  const answer = await sendBytes(
    service.url,
    `GET /healthz HTTP/1.1\r\nHost: a\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`,
  );
  assertError(answer, 'headers_too_large', /headers are too large/);
});

test('never answers an unknown expectation with a bare 417', async () => {
  const bytes = 'GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: magic\r\n\r\n';
  assertError(await sendBytes(service.url, bytes), 'resource_not_found');
});

test('a client that accepts problem+json gets the same four members in that form', async () => {
  const headers = { accept: 'application/problem+json, application/json;q=0.5' };
  const cases: [ErrorCode, string, string, object][] = [
    ['resource_not_found', 'GET', '/nothing', {}],
    ['unauthorized', 'GET', vaults, { key: null }],
    ['method_not_allowed', 'DELETE', vaults, {}],
    ['invalid_request', 'POST', vaults, { body: '{' }],
    ['invalid_address', 'GET', `${vaults}/0x1`, {}],
    ['invalid_request', 'GET', '/%ff', {}],
  ];
  for (const [code, method, path, options] of cases) {
    assertProblem(await service.call(method, path, { ...options, headers }), code);
  }
  const success = await service.call('GET', vaults, { headers });
  assert.match(success.headers.get('content-type') ?? '', /^application\/json/);
});

test('docUrl opens a page of this service with an entry for every code', async () => {
  const { json } = await service.call('GET', '/nothing');
  const page = new URL(json.docUrl);
  assert.equal(page.origin, service.url);
  const { status, headers, text } = await service.call('GET', page.pathname, { key: null });
  assert.equal(status, 200);
  assert.match(headers.get('content-type') ?? '', /^text\/html/);
  for (const code of Object.keys(errorKinds)) assert.match(text, new RegExp(` id="${code}"`));
});

test('every route answers with and without its trailing slash', async () => {
  for (const operation of operations) {
    const call = async (end: string) => {
      const things = await thingsFor(service, operation, values);
      const [method, path, options] = smallestRequest(operation, things);
      const [bare = '', query = ''] = path.split(/(?=\?)/);
      // The service holds the key of the worker.
      const key = operation.name.endsWith('/signoffs/') ? await service.onBehalfKey() : service.key;
      return service.call(method, bare.replace(/\/?$/, end) + query, { key, ...options });
    };
    const without = await call('');
    const slashed = await call('/');
    assert.ok(isSuccess(operation, without.status, without.text), `${operation.name}: ${without.text}`);
    assert.equal(slashed.status, without.status, operation.name);
  }
  for (const path of ['/openapi.json', '/docs/errors']) {
    assert.equal((await service.call('GET', path)).status, 200);
    assert.equal((await service.call('GET', `${path}/`)).status, 200);
  }
});

test('echoes a usable X-Request-Id, creates one otherwise, and sends it with every answer', async () => {
  const given = 'Order-66.retry_2';
  for (const path of [vaults, '/nothing', '/healthz', `${vaults}/0x1`, '/%ff']) {
    const answer = await service.call('GET', path, { headers: { 'x-request-id': given } });
    assert.equal(answer.headers.get('x-request-id'), given, path);
  }
  const made = new Set<string | null>();
  for (const unusable of [undefined, 'a b', 'é', 'x'.repeat(65), '{}']) {
    const headers: Record<string, string> = unusable === undefined ? {} : { 'x-request-id': unusable };
    const answer = await service.call('GET', vaults, { headers });
    assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
    made.add(answer.headers.get('x-request-id'));
  }
  assert.equal(made.size, 5);
});

test('every answer forbids sniffing and storing', async () => {
  for (const path of [vaults, '/nothing', `${vaults}/0x1`, '/%ff']) {
    const { headers } = await service.call('GET', path);
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
    assert.equal(headers.get('cache-control'), 'no-store', path);
  }
});
