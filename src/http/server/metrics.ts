/** The metrics for Prometheus: requests, loops, database connections and the process itself. */
import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';
import { histogram, labelledGauge } from '../../metrics/metric.ts';
import type { LoopHealth } from '../../runtime/loop.ts';

export interface Metrics {
  contentType: string;
  render(): Promise<string>;
  countRequests(app: FastifyInstance): void;
}

export interface MetricsDeps {
  pool: Pool;
  loopHealth(): LoopHealth[];
  /** Metrics of other parts, exposed with these. */
  also: Metric[];
}

/** A timer runs this often to measure how late it is; with the default of 10 ms, most wake-ups of an idle service were its. */
const lagSampleMs = 100;

export function createMetrics({ pool, loopHealth, also }: MetricsDeps): Metrics {
  const requests = histogram(
    'holdfast_http_request_duration_seconds',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  );
  const connections = labelledGauge('holdfast_database_connections', () => ({
    idle: pool.idleCount,
    busy: pool.totalCount - pool.idleCount,
    awaited: pool.waitingCount,
  }));
  const ofLoops = (figure: (loop: LoopHealth) => number) =>
    Object.fromEntries(loopHealth().map((loop) => [loop.name, figure(loop)]));
  const loopUp = labelledGauge('holdfast_loop_up', () =>
    ofLoops(({ state }) => (state === 'running' ? 1 : 0)),
  );
  const loopFailures = labelledGauge('holdfast_loop_failures', () => ofLoops(({ failures }) => failures));

  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: lagSampleMs });
  for (const metric of [requests as Metric, connections, loopUp, loopFailures, ...also])
    registry.registerMetric(metric);

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
