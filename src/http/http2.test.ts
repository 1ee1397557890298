import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import fastify, { type FastifyInstance } from 'fastify';
import { boundHttp2 } from './http2.ts';

test('a request that never ends is closed, and an answer that takes long is not', async () => {
  const app = fastify({ http2: true });
  let answer: Http2ServerResponse | undefined;
  app.get('/long', (_request, reply) => {
    reply.hijack();
    answer = reply.raw;
    answer.write('begun, ');
  });
  app.post('/late', async () => 'never');
  boundHttp2(app as unknown as FastifyInstance, {
    requestTimeoutMs: 50,
    keepAliveMs: 10_000,
    isUploading: () => false,
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const session = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
  try {
    const long = session.request({ ':path': '/long' });
    let text = '';
    long.setEncoding('utf8').on('data', (part) => (text += part));
    await once(long, 'response');
    // Each of these has the time of the first one behind it.
    for (let turn = 0; turn < 3; turn += 1) {
      const late = session.request({
        ':path': '/late',
        ':method': 'POST',
        'content-type': 'application/json',
      });
      late.on('error', () => {}).resume();
      late.write('{');
      await once(late, 'close');
    }
    assert.equal(long.closed, false);
    answer?.end('ended');
    await once(long, 'end');
    assert.equal(text, 'begun, ended');
  } finally {
    session.destroy();
    await app.close();
  }
});
