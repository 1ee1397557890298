/** Prometheus metrics of webhooks: outcomes are counted when they are saved, the backlog is read on each scrape. */
import type { Pool } from 'pg';
import type { Metric } from 'prom-client';
import { metricCatalogue } from '../../metrics/catalogue.ts';
import { counter, gauge, histogram, labelledGauge } from '../../metrics/metric.ts';
import { askOncePerScrape } from '../../metrics/scrape.ts';
import type { DeliveryResult } from './queue.ts';

export interface WebhookMetrics {
  all: Metric[];
  /** Called with saved results; `refused` of them came too late, because their claim was lost. */
  onWritten(results: DeliveryResult[], refused: number): void;
  /** Called with the number of claims of dead nodes that were released. */
  onGivenBack(count: number): void;
}

const outcomes = metricCatalogue.holdfast_webhook_deliveries_total.labels.outcome;

/** Bounds the work of a scrape: more open deliveries are reported as this many. */
const mostCounted = 100_000;

/** Expects the queue's pool, which never plans a sequential scan. */
export function createWebhookMetrics(pool: Pool): WebhookMetrics {
  const deliveries = counter('holdfast_webhook_deliveries_total');
  const durations = histogram(
    'holdfast_webhook_attempt_duration_seconds',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  );
  const refusedResults = counter('holdfast_webhook_refused_results_total');
  const givenBack = counter('holdfast_webhook_claims_given_back_total');
  const readCount = askOncePerScrape(() => readFiltered(pool));
  const filtered = counter('holdfast_webhook_filtered_events_total', readCount);
  for (const outcome of outcomes) deliveries.inc({ outcome }, 0);
  // Looking up a label takes longer than counting.
  const durationsOf = {
    succeeded: durations.labels('succeeded'),
    to_retry: durations.labels('to_retry'),
    failed: durations.labels('failed'),
    skipped: durations.labels('skipped'),
  };

  const backlog = askOncePerScrape(() => readBacklog(pool));
  const backlogGauges = [
    labelledGauge('holdfast_webhook_open_deliveries', async () => (await backlog())?.open),
    gauge('holdfast_webhook_oldest_due_seconds', async () => (await backlog())?.oldestDueSeconds),
    labelledGauge('holdfast_webhook_endpoints', async () => (await backlog())?.endpoints),
  ];

  return {
    all: [...([deliveries, durations, refusedResults, givenBack, filtered] as Metric[]), ...backlogGauges],
    onWritten(results, refused) {
      refusedResults.inc(refused);
      const counts = { succeeded: 0, to_retry: 0, failed: 0, skipped: 0 };
      for (const { status, attempt } of results) {
        // Returned untried by a node that stops: no outcome.
        if (status === 'pending' && attempt === null) continue;
        const outcome = status === 'pending' ? 'to_retry' : status;
        counts[outcome] += 1;
        if (attempt) durationsOf[outcome].observe(attempt.durationMs / 1000);
      }
      for (const outcome of outcomes) deliveries.inc({ outcome }, counts[outcome]);
    },
    onGivenBack: (count) => givenBack.inc(count),
  };
}

/** Counted where deliveries are made, by a sequence: it may count events of commits that failed. */
async function readFiltered(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'select case when is_called then last_value else 0 end::float8 as count from webhook_filtered_events',
  );
  return rows[0]?.count ?? 0;
}

interface Backlog {
  open: Record<'pending' | 'delivering', number>;
  oldestDueSeconds: number;
  endpoints: Record<'failing' | 'disabled_owner' | 'disabled_gone' | 'disabled_failing', number>;
}

/** Reads the queue only, so ended deliveries cost nothing. */
export const backlogText = `
select count(*) filter (where claim_id is null) as pending,
       count(*) filter (where claim_id is not null) as delivering,
       coalesce(extract(epoch from now() - min(next_attempt_at)
         filter (where claim_id is null and next_attempt_at <= now())), 0)::float8 as oldest_due
from (select claim_id, next_attempt_at from webhook_queue limit $1) as counted`;

async function readBacklog(pool: Pool): Promise<Backlog> {
  const [deliveries, endpoints] = await Promise.all([
    pool.query<{ pending: number; delivering: number; oldest_due: number }>({
      name: 'webhook-backlog',
      text: backlogText,
      values: [mostCounted],
    }),
    pool.query<Backlog['endpoints']>({
      name: 'webhook-endpoint-states',
      text: `select count(*) filter (where enabled and failing_since is not null) as failing,
                    count(*) filter (where disabled_reason = 'owner') as disabled_owner,
                    count(*) filter (where disabled_reason = 'gone') as disabled_gone,
                    count(*) filter (where disabled_reason = 'failing') as disabled_failing
             from webhook_endpoints where deleted_at is null`,
    }),
  ]);
  const [found] = deliveries.rows;
  const [states] = endpoints.rows;
  if (!found || !states) throw new Error('an aggregate without a row');
  const { pending, delivering, oldest_due } = found;
  return { open: { pending, delivering }, oldestDueSeconds: oldest_due, endpoints: states };
}
