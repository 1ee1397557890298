/** Routes for operators: liveness, readiness, and metrics for Prometheus. */

import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { StoreState } from '../../blobs/marker.ts';
import { AppError } from '../../runtime/errors.ts';
import { isLoopback } from '../../runtime/host-address.ts';
import type { LoopHealth } from '../../runtime/loop.ts';
import { like, named } from '../../runtime/schemas.ts';
import type { Api } from '../api/api.ts';
import type { Metrics } from './metrics.ts';

export interface OperationsDeps {
  /** Rejects when the database does not answer. */
  pingDatabase(): Promise<void>;
  lookAtStore(): Promise<StoreState>;
  loopHealth(): LoopHealth[];
  metrics: Metrics;
  metricsToken: string | null;
}

const Ready = named(
  { title: 'Readiness', description: 'Whether the service is ready, and what it is waiting for' },
  Type.Object({
    ready: Type.Boolean({ examples: [true] }),
    database: Type.String({ enum: ['up', 'away'] }),
    blobs: Type.String({
      enum: ['up', 'away', 'foreign'],
      description: '`foreign`: this node has another blob store than the installation',
    }),
    loops: Type.Record(Type.String(), Type.String(), {
      description: 'State of each background loop on this node',
      examples: [{ 'anchor-batcher': 'running', indexer: 'running' }],
    }),
  }),
);

export function operationsRoutes(app: Api, deps: OperationsDeps): void {
  app.get(
    '/healthz',
    {
      schema: {
        operationId: 'getLiveness',
        summary: 'Check that the process is alive',
        description: 'Checks nothing else. Use it to decide whether to restart a process that hangs.',
        tags: ['operations'],
        response: {
          200: Type.Object({ status: Type.Literal('ok') }, { description: 'The process is alive' }),
        },
      },
    },
    async () => ({ status: 'ok' as const }),
  );

  app.get(
    '/readyz',
    {
      schema: {
        operationId: 'getReadiness',
        summary: 'Check that the service is ready',
        description:
          '503 while the database is unavailable, while this node has another blob store than the installation, or while a background loop that requests depend on is stuck. An unreachable chain does not make the service unready: accepted requests stay pending. Nor does an unreachable blob store: only the bytes of files need it.',
        tags: ['operations'],
        response: { 200: Ready, 503: like(Ready, { ready: false, database: 'away' }) },
      },
    },
    async (_request, reply) => {
      const loops = deps.loopHealth();
      const database = await deps.pingDatabase().then(
        () => 'up',
        () => 'away',
      );
      const blobs = await deps.lookAtStore();
      const ready =
        database === 'up' &&
        blobs !== 'foreign' &&
        loops.every(({ state, dispensable }) => state !== 'stuck' || dispensable);
      if (!ready) reply.header('retry-after', '2');
      return reply.code(ready ? 200 : 503).send({
        ready,
        database,
        blobs,
        loops: Object.fromEntries(loops.map(({ name, state }) => [name, state])),
      });
    },
  );

  app.get(
    '/metrics',
    {
      schema: {
        operationId: 'getMetrics',
        summary: 'Get metrics in Prometheus text format',
        description:
          'Open to everyone on loopback, by its address or as localhost. Elsewhere send `Authorization: Bearer` with the token set as HOLDFAST_METRICS_TOKEN.',
        tags: ['operations'],
        response: {
          200: { description: 'All metrics', content: { 'text/plain': { schema: Type.String() } } },
        },
      },
    },
    async (request, reply) => {
      if (!comesFromHere(request) && !hasToken(request, deps.metricsToken)) {
        throw new AppError(
          'unauthorized',
          'Metrics are available on loopback, or with "Authorization: Bearer" and the token set as HOLDFAST_METRICS_TOKEN.',
        );
      }
      return reply.type(deps.metrics.contentType).send(await deps.metrics.render());
    },
  );
}

/**
 * A forwarded request comes from elsewhere, even if the proxy itself runs on this machine. So does one that was sent to another
 * name: a page that a browser here has open can have its own name resolve to this machine, and read the answer.
 */
function comesFromHere(request: FastifyRequest): boolean {
  const passedOn = request.headers['x-forwarded-for'] ?? request.headers.forwarded ?? request.headers.via;
  const asked = request.headers.host ?? String(request.headers[':authority'] ?? '');
  const host = asked.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  const { ip = '' } = request as { ip?: string };
  return passedOn === undefined && isLoopback(host.toLowerCase()) && isLoopback(ip.replace(/^::ffff:/, ''));
}

function hasToken(request: FastifyRequest, token: string | null): boolean {
  if (token === null) return false;
  const given = Buffer.from(request.headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
