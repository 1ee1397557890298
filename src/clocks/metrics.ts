/** Prometheus metrics of the clocks beside the chain. */
import type { Metric } from 'prom-client';
import {
  countPendingOts,
  countUncheckedOts,
  readClockStats,
  readLastTokens,
} from '../anchoring/evidence/clock-stats.ts';
import type { Db } from '../db/database.ts';
import { counter, gauge, labelledGauge } from '../metrics/metric.ts';
import { askOncePerScrape } from '../metrics/scrape.ts';
import { nameOfAuthority } from './stamping.ts';

export interface ClockMetrics {
  all: Metric[];
  onAnswer(authority: string, outcome: 'stored' | 'failed'): void;
  onComplete(): void;
}

export interface ClockMetricsDeps {
  db: Db;
  /** URLs of the configured authorities. */
  authorities: readonly string[];
  /** Whether calendars are configured. */
  hasCalendars: boolean;
}

export function createClockMetrics({ db, authorities, hasCalendars }: ClockMetricsDeps): ClockMetrics {
  const tokens = counter('holdfast_timestamp_tokens_total');
  const failures = counter('holdfast_timestamp_failures_total');
  const completed = counter('holdfast_opentimestamps_completed_total');
  for (const url of authorities) {
    tokens.inc({ authority: nameOfAuthority(url) }, 0);
    failures.inc({ authority: nameOfAuthority(url) }, 0);
  }
  const stored = askOncePerScrape(() => readClockStats(db));
  return {
    all: [
      tokens as Metric,
      failures as Metric,
      completed as Metric,
      labelledGauge('holdfast_timestamp_last_token_seconds', async () => {
        const last = await readLastTokens(db, authorities).catch(() => []);
        return Object.fromEntries(
          last.map(({ authority, ageSeconds }) => [nameOfAuthority(authority), ageSeconds]),
        );
      }),
      gauge('holdfast_timestamp_unstamped_batches', async () =>
        authorities.length === 0 ? null : (await stored())?.unstampedBatches,
      ),
      gauge('holdfast_timestamp_first_certificate_end_seconds', async () => {
        const end = (await stored())?.firstEnd;
        return end ? end.getTime() / 1000 : null;
      }),
      gauge('holdfast_opentimestamps_pending', () =>
        hasCalendars ? countPendingOts(db).catch(() => null) : null,
      ),
      gauge('holdfast_opentimestamps_unchecked', () =>
        hasCalendars ? countUncheckedOts(db).catch(() => null) : null,
      ),
    ],
    onAnswer: (authority, outcome) => (outcome === 'stored' ? tokens : failures).inc({ authority }),
    onComplete: () => completed.inc(),
  };
}
