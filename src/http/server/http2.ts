/** HTTP/2 beside HTTP/1.1 where the service speaks TLS itself: its bounds, and requests that arrive too slowly. */
import { readFileSync } from 'node:fs';
import type { SecureServerOptions, ServerHttp2Session } from 'node:http2';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.ts';
import { AppError } from '../../runtime/errors.ts';
import { lateMessage } from '../api/error-reply.ts';
import { endsWithHeaders, isHttp2, lineOf } from '../bodies/line.ts';

/** TLS 1.3, and of 1.2 what has forward secrecy and authenticated encryption. */
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

/** Requests of one connection at a time; a client that opens more is refused those. */
export const mostStreams = 100;
/** What a sender may have on its way: with the 64 KB that HTTP/2 begins with, a file over a long line would crawl. */
const connectionWindowBytes = 1024 * 1024;

export function secureOptions({ certFile, keyFile }: NonNullable<Config['tls']>): SecureServerOptions {
  return {
    cert: readFileSync(certFile),
    key: readFileSync(keyFile),
    allowHTTP1: true,
    // Older clients than those that know these are few, and could be made to agree on something weak.
    minVersion: 'TLSv1.2',
    ciphers: tlsCiphers,
    settings: { maxConcurrentStreams: mostStreams, initialWindowSize: 256 * 1024, enablePush: false },
    // Against "rapid reset": Node.js ends a connection that cancels more than this. These are its own defaults, which are
    // relied on, and so written down; as those of frames that break the protocol (1000) and of streams refused (100).
    streamResetBurst: 1000,
    streamResetRate: 33,
    maxSessionInvalidFrames: 1000,
    maxSessionRejectedStreams: 100,
  };
}

export interface Http2Limits {
  /** For a whole request to arrive. */
  requestTimeoutMs: number;
  keepAliveMs: number;
  /** Whether a file is sent on this line, which may take longer. */
  isUploading(line: object): boolean;
}

/** Node.js times whole requests of HTTP/1 only, and the framework sets its times on servers of HTTP/1 only. */
export function boundHttp2(app: FastifyInstance, limits: Http2Limits): void {
  const { requestTimeoutMs, keepAliveMs, isUploading } = limits;
  app.server.requestTimeout = requestTimeoutMs;
  app.server.keepAliveTimeout = keepAliveMs;
  (app.server as unknown as NodeJS.EventEmitter).on('session', (session: ServerHttp2Session) => {
    session.setLocalWindowSize(connectionWindowBytes);
    // A connection that breaks is told to its requests; without a listener it would end the process.
    session.on('error', () => {});
  });
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request;
    // Of a request that ended with its headers nobody reads the end; what is sent to it may take its time.
    if (!isHttp2(request) || raw.complete || endsWithHeaders(request)) return done();
    const line = lineOf(request);
    const timer = setInterval(() => {
      if (isUploading(line)) return;
      // The rest is not waited for after an answer: see late-senders.ts.
      if (reply.sent || reply.raw.headersSent) line.destroy();
      else reply.send(new AppError('request_timeout', lateMessage));
    }, requestTimeoutMs).unref();
    raw.once('end', () => clearInterval(timer)).once('close', () => clearInterval(timer));
    done();
  });
}
