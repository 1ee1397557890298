/** HTTP/2: the time-out of slow requests, and the limits of a connection. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import {
  connect,
  createSecureServer,
  type Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { connect as connectSecurely } from 'node:tls';
import fastify, { type FastifyInstance } from 'fastify';
import { makeSelfSigned } from '../../../test/support/clients/self-signed.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { replyWithErrors } from '../api/error-reply.ts';
import { boundHttp2, mostStreams, secureOptions } from './http2.ts';

test('a request that never ends gets 408 and is closed, but a slow answer is not cut off', async () => {
  const app = fastify({ http2: true });
  let answer: Http2ServerResponse | undefined;
  app.get('/long', (_request, reply) => {
    reply.hijack();
    answer = reply.raw;
    answer.write('begun, ');
  });
  app.post('/late', async () => 'never');
  replyWithErrors(
    app as unknown as FastifyInstance,
    () => 'https://a.example',
    async () => false,
  );
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
    // Each of these lasts a full time-out, while the first request stays open.
    for (let turn = 0; turn < 3; turn += 1) {
      const late = session.request({
        ':path': '/late',
        ':method': 'POST',
        'content-type': 'application/json',
      });
      late.write('{');
      const [[headers], body] = await Promise.all([
        once(late, 'response') as Promise<[IncomingHttpHeaders]>,
        json(late) as Promise<{ errorCode: string; message: string }>,
        once(late, 'close'),
      ]);
      assert.equal(headers[':status'], 408);
      assert.equal(body.errorCode, 'request_timeout');
      assert.match(body.message, /did not arrive in time/);
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

/** Builds a raw frame that no legitimate client would send. */
function frame(type: number, { flags = 0, stream = 0, payload = Buffer.alloc(0) }): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const [headersType, resetType, settingsType, pingType] = [1, 3, 4, 6];
const endHeaders = 4;
/** GET, http and / in the static header table. */
const whole = Buffer.from([0x82, 0x86, 0x84]);
const open = (stream: number, payload = whole) => frame(headersType, { flags: endHeaders, stream, payload });
const cancel = (stream: number) => frame(resetType, { stream, payload: Buffer.from([0, 0, 0, 8]) });
const opening = [Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(settingsType, {})];
/** The ids of this many client streams. */
const streams = (count: number) => Array.from({ length: count }, (_, place) => 2 * place + 1);

test('ends a connection with too many cancelled, broken or excess streams, and no other', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-http2-'));
  const [certFile, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
  const { cert, key } = makeSelfSigned('a');
  await writeFile(certFile, cert);
  await writeFile(keyFile, key);
  const server = createSecureServer(secureOptions({ certFile, keyFile }));
  server.on('stream', (stream) => stream.on('error', () => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  /** Whether the server ends a connection that sends these frames, `atATime` at a time. */
  async function isEnded(frames: Buffer[], atATime = frames.length): Promise<boolean> {
    const accepted = once(server, 'session') as Promise<[ServerHttp2Session]>;
    const socket = connectSecurely({ port, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
    let received = Buffer.alloc(0);
    socket
      .on('error', () => {})
      .on('data', (bytes: Buffer) => {
        received = Buffer.concat([received, bytes]);
      });
    try {
      await once(socket, 'secureConnect');
      socket.write(Buffer.concat(opening));
      const [session] = await accepted;
      session.on('error', () => {});
      const isOver = () => session.closed || session.destroyed;
      // The server's limits apply only once the client has acknowledged them.
      await waitUntil(() => received.length > 0);
      socket.write(frame(settingsType, { flags: 1 }));
      for (let sent = 0; sent < frames.length && !isOver(); sent += atATime) {
        const mark = Buffer.alloc(8, `ping${sent}`);
        const ping = frame(pingType, { payload: mark });
        socket.write(Buffer.concat([...frames.slice(sent, sent + atATime), ping]));
        await waitUntil(() => received.includes(mark) || isOver());
      }
      return isOver();
    } finally {
      socket.destroy();
    }
  }

  try {
    const cancelled = (count: number) => streams(count).flatMap((stream) => [open(stream), cancel(stream)]);
    assert.equal(await isEnded(cancelled(900), 100), false, 'a burst of 900');
    assert.equal(await isEnded(cancelled(1_500), 100), true, 'a burst of 1,500');
    const refused = (count: number) => streams(mostStreams + count).map((stream) => open(stream));
    assert.equal(await isEnded(refused(0)), false, 'as many as it may');
    assert.equal(await isEnded(refused(150)), true, '150 too many');
    // Without a path.
    const broken = (count: number) => streams(count).map((stream) => open(stream, whole.subarray(0, 2)));
    assert.equal(await isEnded(broken(50)), false, '50 that are broken');
    assert.equal(await isEnded(broken(1_500)), true, '1,500 that are broken');
  } finally {
    server.close();
    await rm(dir, { recursive: true });
  }
});
