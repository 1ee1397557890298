/** HTTP/2 besides HTTP/1.1 when the service terminates TLS itself: its limits, and the time-out for slow requests. */
import { readFileSync } from 'node:fs';
import type { SecureServerOptions, ServerHttp2Session } from 'node:http2';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.ts';
import { AppError } from '../../runtime/errors.ts';
import { lateMessage } from '../api/error-reply.ts';
import { endsWithHeaders, isHttp2, lineOf } from '../bodies/line.ts';

/** TLS 1.3, and those of TLS 1.2 with forward secrecy and authenticated encryption. */
const tlsCiphers = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':');

/** Concurrent requests per connection; further ones are refused. */
export const mostStreams = 100;
/** Bytes a sender may have in flight: with HTTP/2's default of 64 KB, uploads over a long-distance line would crawl. */
const connectionWindowBytes = 1024 * 1024;

export function secureOptions({ certFile, keyFile }: NonNullable<Config['tls']>): SecureServerOptions {
  return {
    cert: readFileSync(certFile),
    key: readFileSync(keyFile),
    allowHTTP1: true,
    // Few clients are older than this, and they could be made to agree on something weak.
    minVersion: 'TLSv1.2',
    ciphers: tlsCiphers,
    settings: { maxConcurrentStreams: mostStreams, initialWindowSize: 256 * 1024, enablePush: false },
    // Against "rapid reset": Node.js ends a connection that cancels more streams than this. These are its defaults,
    // written down because we rely on them; so are those for invalid frames (1000) and refused streams (100).
    streamResetBurst: 1000,
    streamResetRate: 33,
    maxSessionInvalidFrames: 1000,
    maxSessionRejectedStreams: 100,
  };
}

export interface Http2Limits {
  /** For a complete request to arrive. */
  requestTimeoutMs: number;
  keepAliveMs: number;
  /** Whether a file is being uploaded on this line, which may take longer. */
  isUploading(line: object): boolean;
}

/** Node.js limits the time of complete requests in HTTP/1 only, as does the framework with its time-outs. */
export function boundHttp2(app: FastifyInstance, limits: Http2Limits): void {
  const { requestTimeoutMs, keepAliveMs, isUploading } = limits;
  app.server.requestTimeout = requestTimeoutMs;
  app.server.keepAliveTimeout = keepAliveMs;
  (app.server as unknown as NodeJS.EventEmitter).on('session', (session: ServerHttp2Session) => {
    session.setLocalWindowSize(connectionWindowBytes);
    // The requests of a broken connection get the error; without a listener it would end the process.
    session.on('error', () => {});
  });
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request;
    // If a request ends with its headers, nobody reads its end; sending the answer may take its time.
    if (!isHttp2(request) || raw.complete || endsWithHeaders(request)) return done();
    const line = lineOf(request);
    const timer = setInterval(() => {
      if (isUploading(line)) return;
      // After an answer the rest is not awaited: see late-senders.ts.
      if (reply.sent || reply.raw.headersSent) line.destroy();
      else reply.send(new AppError('request_timeout', lateMessage));
    }, requestTimeoutMs).unref();
    raw.once('end', () => clearInterval(timer)).once('close', () => clearInterval(timer));
    done();
  });
}
