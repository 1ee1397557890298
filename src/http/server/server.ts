/** The Fastify server: everything that applies to all routes, and nothing about a single one. */
import { randomUUID } from 'node:crypto';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Blobs } from '../../blobs/blobs.ts';
import type { Config } from '../../config/config.ts';
import type { Db } from '../../db/database.ts';
import type { Keyring } from '../../keys/keyring.ts';
import { AppError } from '../../runtime/errors.ts';
import { type FindCaller, requireCallers } from '../admission/authentication.ts';
import { createRateLimiter } from '../admission/rate-limit.ts';
import type { RequestBudget } from '../admission/request-budget.ts';
import type { Api } from '../api/api.ts';
import { announceApprovals } from '../api/approval-answer.ts';
import { announceDeprecations } from '../api/deprecation.ts';
import { errorPage } from '../api/error-page.ts';
import { answerBrokenRequest, answerFrameworkError, pathOf, replyWithErrors } from '../api/error-reply.ts';
import { labelEvidence } from '../api/evidence.ts';
import { type Idempotency, useIdempotency } from '../api/idempotency.ts';
import { acceptUploads, type StoredRoom } from '../api/uploads.ts';
import { useStrictValidation } from '../api/validation.ts';
import { bodyBytes, limitOpenRoutes } from '../bodies/body-limits.ts';
import { compressAnswers } from '../bodies/compression.ts';
import { acceptJsonBodies } from '../bodies/json-body.ts';
import { hearLateSenders } from '../bodies/late-senders.ts';
import { addReferencePage } from '../pages/reference-page.ts';
import { sitePages } from '../pages/site-pages.ts';
import { boundConnections, connectionLimits } from './connections.ts';
import { boundHttp2, secureOptions } from './http2.ts';
import { watchMethods } from './method-not-allowed.ts';
import type { Metrics } from './metrics.ts';
import { describeApi } from './openapi.ts';
import { closeConnectionsWhenStopping } from './stopping.ts';

export interface ServerDeps {
  config: Config;
  log: Logger;
  version: string;
  /** The section of the OpenAPI document that describes what webhook receivers are sent. */
  webhooks: object;
  db: Db;
  pool: Pool;
  keyring: Keyring;
  metrics: Metrics;
  blobs: Pick<Blobs, 'receive'>;
  findCaller: FindCaller;
  requestBudget: RequestBudget;
  storedRoom: StoredRoom;
  /** `uploads`: for routes that accept files. */
  addRoutes(app: Api, shell: { idempotency: Idempotency; uploads: Api }): void;
}

/** For a complete request to arrive; a file may take longer. */
const requestTimeoutMs = 60_000;
/** How long a connection may be idle. */
const keepAliveMs = 72_000;

export interface Server {
  http: FastifyInstance;
  /** Base of every link the service creates; correct once it listens. */
  publicUrl(): string;
}

export async function createServer(deps: ServerDeps): Promise<Server> {
  const { config, log } = deps;
  const publicUrl = (): string => config.publicUrl ?? derivedUrl(config, app);
  let isUploading = (_connection: object): boolean => false;
  const app: FastifyInstance = Fastify({
    ...serverKind(config),
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger per request costs more than the few lines it would write: each line gets the request's id instead.
    childLoggerFactory: (logger) => logger,
    trustProxy: toTrustFunction(config.trustProxy),
    bodyLimit: bodyBytes.usual,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
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
      // A file may take longer than other requests.
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isUploading(socket)) return;
      answerBrokenRequest(error, socket, publicUrl);
    },
  }) as unknown as FastifyInstance;

  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  useStrictValidation(app);
  limitOpenRoutes(app);
  acceptJsonBodies(app);
  addHeadersAndLog(app, config, log);
  hearLateSenders(app);
  boundConnections(app.server, { ...connectionLimits(), trustProxy: config.trustProxy, log });
  closeConnectionsWhenStopping(app, config);
  if (config.tls)
    boundHttp2(app, { requestTimeoutMs, keepAliveMs, isUploading: (line) => isUploading(line) });
  compressAnswers(app);
  deps.metrics.countRequests(app);
  announceDeprecations(app);
  announceApprovals(app);
  const countMiss = requireCallers(app, {
    findCaller: deps.findCaller,
    limiter: createRateLimiter(config.rateLimit),
    requestBudget: deps.requestBudget,
    publicUrl,
  });
  const idempotency = useIdempotency(app, deps);
  replyWithErrors(app, publicUrl, async (error, request, reply) => {
    countMiss(error, request, reply);
    return idempotency.rescue(error, request, reply);
  });

  const methods = watchMethods(app);
  await describeApi(app, { version: deps.version, publicUrl, webhooks: deps.webhooks });
  labelEvidence(app, { embedded: config.chain.rpcUrls.length === 0 });
  const uploads = await acceptUploads(app, { ...deps, maxFileBytes: config.maxFileBytes, idempotency });
  isUploading = uploads.isRunning;
  const api: Api = app.withTypeProvider<TypeBoxTypeProvider>();
  errorPage(api);
  addReferencePage(app, publicUrl);
  sitePages(api);
  deps.addRoutes(api, { idempotency, uploads: uploads.app });
  methods.close();
  return { http: app, publicUrl };
}

// Hooks that every request runs through use callbacks: with promises they would together cost some 30 µs per request.
function addHeadersAndLog(app: FastifyInstance, config: Config, log: Logger): void {
  app.addHook('onRequest', (request, reply, done) => {
    setHeaders(request, reply, config);
    const lost = request.headers.host === undefined && request.raw.httpVersion === '1.1';
    done(lost ? new AppError('invalid_request', 'The Host header is missing.') : undefined);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const level = reply.statusCode >= 500 ? 'error' : reply.statusCode >= 400 ? 'info' : 'debug';
    if (!log.isLevelEnabled(level)) return done();
    // Without query and headers, as these may contain secrets.
    request.log[level](
      {
        requestId: request.id,
        method: request.method,
        path: loggedPath(pathOf(request)),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        caller: request.caller?.actor.id,
      },
      'request',
    );
    done();
  });
}

/** Without the secret of a link to a page that needs no session. */
function loggedPath(path: string): string {
  return path.replace(/^\/(sign|portal|a)\/(?!assets\/)[^/]+/, '/$1/…');
}

/** With TLS, the client chooses HTTP/2 or HTTP/1.1. The framework's types allow only one kind of server at a time. */
function serverKind({ tls }: Config): FastifyServerOptions {
  const plain = { requireHostHeader: false };
  if (!tls) return { http: plain } as object;
  const https = { ...secureOptions(tls), ...plain };
  return { http2: true, https, http2SessionTimeout: keepAliveMs } as object;
}

function setHeaders(request: FastifyRequest, reply: FastifyReply, config: Config): void {
  reply
    .header('x-request-id', request.id)
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store');
  if (config.tls) reply.header('strict-transport-security', 'max-age=31536000');
}

/** The number of proxies in front, counted from this service, or their addresses. */
function toTrustFunction(
  trust: Config['trustProxy'],
): false | string[] | ((address: string, hop: number) => boolean) {
  return typeof trust === 'number' ? (_address, hop) => hop < trust : trust;
}

/** The default URL: the address that the service listens on. */
function derivedUrl(config: Config, app: FastifyInstance): string {
  const address = app.server.address();
  const port = address !== null && typeof address === 'object' ? address.port : config.port;
  const host = config.host === '0.0.0.0' || config.host === '::' ? 'localhost' : config.host;
  return `${config.tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
