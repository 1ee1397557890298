/** What Prometheus reads: requests, loops, database connections and the process itself. */
import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import { collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import type { LoopHealth } from '../../runtime/loop.ts';

export interface Metrics {
  contentType: string;
  render(): Promise<string>;
  countRequests(app: FastifyInstance): void;
}

export interface MetricsDeps {
  pool: Pool;
  loopHealth(): LoopHealth[];
  /** Metrics of other parts, to be shown with these. */
  also: Metric[];
}

export function createMetrics({ pool, loopHealth, also }: MetricsDeps): Metrics {
  const registry = new Registry();
  const registers = [registry];
  for (const metric of also) registry.registerMetric(metric);
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'holdfast_http_request_duration_seconds',
    help: 'Time from the arrival of a request to its last byte',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  });
  new Gauge({
    name: 'holdfast_database_connections',
    help: 'Connections of the pool by state',
    labelNames: ['state'] as const,
    registers,
    collect() {
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
      this.set({ state: 'awaited' }, pool.waitingCount);
    },
  });
  new Gauge({
    name: 'holdfast_loop_up',
    help: '1 while a background loop runs well, 0 while it is stuck or backing off',
    labelNames: ['loop'] as const,
    registers,
    collect() {
      for (const { name, state } of loopHealth()) this.set({ loop: name }, state === 'running' ? 1 : 0);
    },
  });
  new Gauge({
    name: 'holdfast_loop_failures',
    help: 'Failures of a background loop since the start',
    labelNames: ['loop'] as const,
    registers,
    collect() {
      for (const { name, failures } of loopHealth()) this.set({ loop: name }, failures);
    },
  });

  return {
    contentType: registry.contentType,
    render: () => registry.metrics(),
    countRequests(app) {
      app.addHook('onResponse', (request, reply, done) => {
        const route = request.routeOptions.url ?? 'unknown';
        requests.observe(
          { method: request.method, route, status: reply.statusCode },
          reply.elapsedTime / 1000,
        );
        done();
      });
    },
  };
}
