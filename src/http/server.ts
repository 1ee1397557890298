/** The Fastify shell: everything that holds for every route, and nothing about any one of them. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Blobs } from '../blobs/blobs.ts';
import type { Config } from '../config.ts';
import type { Db } from '../db/database.ts';
import { AppError } from '../errors.ts';
import type { Keyring } from '../keys/keyring.ts';
import { pause } from '../loop.ts';
import type { Api } from './api.ts';
import { type FindCaller, requireCallers } from './authentication.ts';
import { bodyBytes, limitOpenRoutes } from './body-limits.ts';
import { announceDeprecations } from './deprecation.ts';
import { errorPage } from './error-page.ts';
import { answerBrokenRequest, answerFrameworkError, pathOf, replyWithErrors } from './error-reply.ts';
import { labelEvidence } from './evidence.ts';
import { type Idempotency, useIdempotency } from './idempotency.ts';
import { acceptJsonBodies } from './json-body.ts';
import { watchMethods } from './method-not-allowed.ts';
import type { Metrics } from './metrics.ts';
import { describeApi } from './openapi.ts';
import { createRateLimiter } from './rate-limit.ts';
import { addReferencePage } from './reference-page.ts';
import { acceptUploads } from './uploads.ts';
import { useStrictValidation } from './validation.ts';

export interface ServerDeps {
  config: Config;
  log: Logger;
  version: string;
  db: Db;
  pool: Pool;
  keyring: Keyring;
  metrics: Metrics;
  blobs: Pick<Blobs, 'receive'>;
  findCaller: FindCaller;
  /** `uploads`: for routes that take files. */
  addRoutes(app: Api, shell: { idempotency: Idempotency; uploads: Api }): void;
}

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

export interface Server {
  http: FastifyInstance;
  /** Base of every link the service gives out; true once it listens. */
  publicUrl(): string;
}

export async function createServer(deps: ServerDeps): Promise<Server> {
  const { config, log } = deps;
  const publicUrl = (): string => config.publicUrl ?? derivedUrl(config, app);
  let isUploading = (_connection: object): boolean => false;
  const app: FastifyInstance = Fastify({
    ...(config.tls
      ? {
          https: {
            cert: readFileSync(config.tls.certFile),
            key: readFileSync(config.tls.keyFile),
            requireHostHeader: false,
            // Older clients than those that know these are few, and could be made to agree on something weak.
            minVersion: 'TLSv1.2' as const,
            ciphers: tlsCiphers,
          },
        }
      : { http: { requireHostHeader: false } }),
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger for each request costs more than the few lines it would write: the request's id is given with each.
    childLoggerFactory: (logger) => logger,
    trustProxy: toTrustFunction(config.trustProxy),
    bodyLimit: bodyBytes.usual,
    requestTimeout: 60_000,
    // A request that arrives on an open connection during shutdown is still answered, then the connection closes.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 512 },
    genReqId: ({ headers }) => {
      const given = headers['x-request-id'];
      return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
    },
    frameworkErrors: (error, request, reply) => {
      setHeaders(request, reply, config);
      answerFrameworkError(error, request, reply, publicUrl);
    },
    clientErrorHandler(error, socket) {
      // A file may take longer than a request does otherwise.
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isUploading(socket)) return;
      answerBrokenRequest(error, socket, publicUrl);
    },
  }) as unknown as FastifyInstance;

  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  useStrictValidation(app);
  limitOpenRoutes(app);
  acceptJsonBodies(app);
  addHeadersAndLog(app, config, log);
  closeConnectionsWhenStopping(app, config);
  deps.metrics.countRequests(app);
  announceDeprecations(app);
  requireCallers(app, {
    findCaller: deps.findCaller,
    limiter: createRateLimiter(config.rateLimit),
    publicUrl,
  });
  const idempotency = useIdempotency(app, deps);
  replyWithErrors(app, publicUrl, idempotency.rescue);

  const methods = watchMethods(app);
  await describeApi(app, { version: deps.version, publicUrl });
  labelEvidence(app, { embedded: config.chain.rpcUrls.length === 0 });
  const uploads = await acceptUploads(app, { ...deps, maxFileBytes: config.maxFileBytes, idempotency });
  isUploading = uploads.isRunning;
  const api: Api = app.withTypeProvider<TypeBoxTypeProvider>();
  errorPage(api);
  addReferencePage(app);
  deps.addRoutes(api, { idempotency, uploads: uploads.app });
  methods.close();
  return { http: app, publicUrl };
}

// Hooks that every request runs through call back: a promise each would cost some 30 µs per request together.
function addHeadersAndLog(app: FastifyInstance, config: Config, log: Logger): void {
  app.addHook('onRequest', (request, reply, done) => {
    setHeaders(request, reply, config);
    const lost = request.headers.host === undefined && request.raw.httpVersion === '1.1';
    done(lost ? new AppError('invalid_request', 'The Host header is missing.') : undefined);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const level = reply.statusCode >= 500 ? 'error' : reply.statusCode >= 400 ? 'info' : 'debug';
    if (!log.isLevelEnabled(level)) return done();
    // The query and the headers are left out: they are where secrets would be.
    request.log[level](
      {
        requestId: request.id,
        method: request.method,
        path: pathOf(request),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        caller: request.caller?.actor.id,
      },
      'request',
    );
    done();
  });
}

/** Requests under way when the stop begins get this long to be answered. */
const longestAnswerMs = 5_000;

interface Connection {
  /** Under way on it. */
  answers: number;
  /** Of what was read from it, what belongs to requests that were answered. */
  answeredBytes: number;
}

/** Connections that are idle when the stop begins are closed at once; those that are busy then, after their answer. */
function closeConnectionsWhenStopping(app: FastifyInstance, config: Config): void {
  let stopping = false;
  const connections = new Map<Socket, Connection>();
  const raw = new Set<Socket>();
  app.server.on(config.tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    connections.set(socket, { answers: 0, answeredBytes: 0 });
    socket.once('close', () => connections.delete(socket));
  });
  if (config.tls) {
    app.server.on('connection', (socket: Socket) => {
      raw.add(socket);
      socket.once('close', () => raw.delete(socket));
    });
  }
  app.server.on('request', ({ socket }, response) => {
    const connection = connections.get(socket);
    if (!connection) return;
    connection.answers += 1;
    response.once('close', () => {
      connection.answers -= 1;
      connection.answeredBytes = socket.bytesRead;
    });
  });
  // To node a connection is idle once the end of its answer was written, with most of that perhaps still on its way.
  app.server.closeIdleConnections = () => {
    for (const [socket, { answers, answeredBytes }] of connections)
      if (answers === 0 && answeredBytes > 0 && socket.bytesRead === answeredBytes) socket.destroy();
  };
  app.addHook('preClose', async () => {
    stopping = true;
    // A request that is on its way, but not read yet, would be lost with its connection: it gets a moment.
    await pause(200, new AbortController().signal);
    // Clients also connect ahead of need.
    for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy();
    const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
    // What has not sent the whole of its request or handshake by then never will.
    const cut = setTimeout(() => {
      for (const socket of [...connections.keys(), ...raw]) socket.destroy();
    }, longestAnswerMs);
    app.server.once('close', () => {
      clearInterval(sweep);
      clearTimeout(cut);
    });
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (stopping) reply.header('connection', 'close');
    done(null, payload);
  });
}

function setHeaders(request: FastifyRequest, reply: FastifyReply, config: Config): void {
  reply
    .header('x-request-id', request.id)
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store');
  if (config.tls) reply.header('strict-transport-security', 'max-age=31536000');
}

/** A number of proxies in front, counted from this service, or the proxies' addresses. */
function toTrustFunction(
  trust: Config['trustProxy'],
): false | string[] | ((address: string, hop: number) => boolean) {
  return typeof trust === 'number' ? (_address, hop) => hop < trust : trust;
}

/** Where the service can be reached when nobody said: the address it listens on. */
function derivedUrl(config: Config, app: FastifyInstance): string {
  const address = app.server.address();
  const port = address !== null && typeof address === 'object' ? address.port : config.port;
  const host = config.host === '0.0.0.0' || config.host === '::' ? 'localhost' : config.host;
  return `${config.tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
