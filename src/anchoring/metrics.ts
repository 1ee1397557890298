/** Prometheus metrics of anchoring: the backlog, the state of the sender and the indexer, and figures from the chain. */
import type { Metric } from 'prom-client';
import type { Address } from 'viem';
import type { Chain, Lead } from '../chain/chain.ts';
import type { SenderStatus } from '../chain/sender/sender.ts';
import type { Db } from '../db/database.ts';
import { metricCatalogue } from '../metrics/catalogue.ts';
import { counter, gauge, labelledGauge } from '../metrics/metric.ts';
import { askOncePerScrape } from '../metrics/scrape.ts';
import { readAnchoringStats, readChainStats } from './anchoring-stats.ts';

export interface ChainMetricsDeps {
  db: Db;
  lead(): Lead | null;
  /** What the sender of this node is currently waiting for. */
  senderStatus(): SenderStatus;
  submitter(): Promise<{ address: Address }>;
}

const reasons = metricCatalogue.holdfast_sender_waits_for.labels.reason;
type Reason = (typeof reasons)[number];

/** Figures of the chain itself come from the leading node; the others need no chain. */
export function createChainMetrics({ db, lead, senderStatus, submitter }: ChainMetricsDeps): Metric[] {
  const stored = askOncePerScrape(async () => ({
    ...(await readAnchoringStats(db)),
    ...(await readChainStats(db)),
  }));
  const seen = askOncePerScrape(async () => {
    const present = lead();
    if (!present) return null;
    const { chain } = present;
    const { address } = await submitter();
    const [head, balanceWei, ageSeconds] = await Promise.all([
      chain.head(),
      chain.client.getBalance({ address }),
      // The embedded chain makes no blocks while idle.
      chain.embedded ? null : headAge(chain),
    ]);
    const { confirmations } = chain;
    return { head: head.number, balanceWei: Number(balanceWei), confirmations, ageSeconds };
  });

  return [
    gauge('holdfast_chain_leads', () => (lead() ? 1 : 0)),
    gauge('holdfast_anchor_pending_leaves', async () => (await stored())?.pendingLeaves),
    gauge('holdfast_anchor_oldest_pending_seconds', async () => {
      const figures = await stored();
      return figures && (figures.oldestPendingSeconds ?? 0);
    }),
    gauge('holdfast_anchor_unannounced_leaves', async () => (await stored())?.unannouncedLeaves),
    labelledGauge('holdfast_anchor_batches', async () => (await stored())?.openBatches),
    labelledGauge('holdfast_sender_open_transactions', async () => (await stored())?.openTransactions),
    gauge('holdfast_sender_oldest_open_seconds', async () => {
      const figures = await stored();
      return figures && (figures.oldestOpenSeconds ?? 0);
    }),
    labelledGauge('holdfast_sender_waits_for', () => {
      if (!lead()) return null;
      const what = senderStatus().waiting?.what;
      return Object.fromEntries(reasons.map((reason) => [reason, reason === what ? 1 : 0])) as Record<
        Reason,
        number
      >;
    }),
    gauge('holdfast_sender_confirmations', async () => (await stored())?.confirmationsSoFar),
    gauge('holdfast_sender_confirmations_wanted', async () => (await seen())?.confirmations),
    gauge('holdfast_sender_balance_wei', async () => (await seen())?.balanceWei),
    gauge('holdfast_chain_head_block', async () => (await seen())?.head),
    gauge('holdfast_chain_head_age_seconds', async () => (await seen())?.ageSeconds),
    gauge('holdfast_chain_indexed_block', async () => (await stored())?.indexedBlock),
    gauge('holdfast_chain_lag_blocks', async () => {
      const [chain, figures] = await Promise.all([seen(), stored()]);
      if (!chain || !figures) return null;
      // The two numbers are not read at the same moment.
      return Math.max(0, chain.head - (figures.indexedBlock ?? -1));
    }),
    counter('holdfast_chain_reorgs_total', async () => (await stored())?.reorgs) as Metric,
  ];
}

/** The only sign of a chain whose nodes all stand still: they respond, and nothing is left to index. */
async function headAge({ client }: Chain): Promise<number> {
  const { timestamp } = await client.getBlock({ blockTag: 'latest' });
  return Math.max(0, Date.now() / 1000 - Number(timestamp));
}
