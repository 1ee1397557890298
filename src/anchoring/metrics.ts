/** What Prometheus reads about anchoring: what waits, how the sender and the indexer fare, and what the chain says. */
import { Counter, Gauge, type Metric } from 'prom-client';
import type { Address } from 'viem';
import type { Chain, Lead } from '../chain/chain.ts';
import type { SenderStatus } from '../chain/sender/sender.ts';
import type { Db } from '../db/database.ts';
import { askOncePerScrape } from '../runtime/scrape.ts';
import { readAnchoringStats, readChainStats } from './anchoring-stats.ts';

export interface ChainMetricsDeps {
  db: Db;
  lead(): Lead | null;
  /** What keeps the sender of this node from being heard. */
  senderStatus(): SenderStatus;
  submitter(): Promise<{ address: Address }>;
}

const reasons = ['funds', 'fees', 'nonce', 'refused'] as const;

/** Labels are few and fixed. Figures of the chain itself come from the node that leads; the others need no chain. */
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
      chain.embedded ? null : headAge(chain),
    ]);
    const { confirmations } = chain;
    return { head: head.number, balanceWei: Number(balanceWei), confirmations, ageSeconds };
  });

  /** A gauge without labels, left out while its figure is not known. */
  function single(name: string, help: string, read: () => Promise<number | null | undefined>): Metric {
    return new Gauge({
      name,
      help,
      registers: [],
      async collect() {
        this.remove();
        const value = await read();
        if (typeof value === 'number') this.set(value);
      },
    }) as Metric;
  }

  function byStatus(
    name: string,
    help: string,
    read: () => Promise<Record<string, number> | undefined>,
  ): Metric {
    return new Gauge({
      name,
      help,
      labelNames: ['status'] as const,
      registers: [],
      async collect() {
        this.reset();
        for (const [status, count] of Object.entries((await read()) ?? {})) this.set({ status }, count);
      },
    }) as Metric;
  }

  const waiting = new Gauge({
    name: 'holdfast_sender_waits_for',
    help: '1 for what keeps the transaction with the lowest nonce from being mined; of the node that leads',
    labelNames: ['reason'] as const,
    registers: [],
    collect() {
      this.reset();
      if (!lead()) return;
      const what = senderStatus().waiting?.what;
      for (const reason of reasons) this.set({ reason }, reason === what ? 1 : 0);
    },
  });
  const reorgs = new Counter({
    name: 'holdfast_chain_reorgs_total',
    help: 'Reorganisations of the chain that the indexer has followed',
    registers: [],
    async collect() {
      const figures = await stored();
      if (!figures) return;
      this.reset();
      this.inc(figures.reorgs);
    },
  });

  return [
    single('holdfast_chain_leads', '1 on the node that works on the chain, else 0', async () =>
      lead() ? 1 : 0,
    ),
    single(
      'holdfast_anchor_pending_leaves',
      'Versions that wait for a batch, counted up to 100000',
      async () => (await stored())?.pendingLeaves,
    ),
    single(
      'holdfast_anchor_oldest_pending_seconds',
      'How long the oldest of these has been waiting; 0 when none does',
      async () => {
        const figures = await stored();
        return figures && (figures.oldestPendingSeconds ?? 0);
      },
    ),
    single(
      'holdfast_anchor_unannounced_leaves',
      'Confirmed versions that no event tells of yet',
      async () => (await stored())?.unannouncedLeaves,
    ),
    byStatus(
      'holdfast_anchor_batches',
      'Batches that are not final yet, and those set aside',
      async () => (await stored())?.openBatches,
    ),
    byStatus(
      'holdfast_sender_open_transactions',
      'Transactions of this installation that are not confirmed yet',
      async () => (await stored())?.openTransactions,
    ),
    single(
      'holdfast_sender_oldest_open_seconds',
      'Age of the oldest of these; 0 when there is none',
      async () => {
        const figures = await stored();
        return figures && (figures.oldestOpenSeconds ?? 0);
      },
    ),
    waiting as Metric,
    single(
      'holdfast_sender_confirmations',
      'Blocks, its own included, on the oldest transaction that is mined and not confirmed; absent when none is',
      async () => (await stored())?.confirmationsSoFar,
    ),
    single(
      'holdfast_sender_confirmations_wanted',
      'Blocks after which a transaction counts as confirmed; of the node that leads',
      async () => (await seen())?.confirmations,
    ),
    single(
      'holdfast_sender_balance_wei',
      'What the account has that anchors are sent from; of the node that leads',
      async () => (await seen())?.balanceWei,
    ),
    single(
      'holdfast_chain_head_block',
      'Number of the newest block of the chain; of the node that leads',
      async () => (await seen())?.head,
    ),
    single(
      'holdfast_chain_head_age_seconds',
      'How old the newest block of the chain is, by the clock of this machine; of the node that leads, and not of the embedded chain, which rests when there is nothing to do',
      async () => (await seen())?.ageSeconds,
    ),
    single(
      'holdfast_chain_indexed_block',
      'Number of the newest block that is indexed',
      async () => (await stored())?.indexedBlock,
    ),
    single(
      'holdfast_chain_lag_blocks',
      'Blocks of the chain that are not indexed yet; of the node that leads',
      async () => {
        const [chain, figures] = await Promise.all([seen(), stored()]);
        if (!chain || !figures) return null;
        // The two are not read at the same moment.
        return Math.max(0, chain.head - (figures.indexedBlock ?? -1));
      },
    ),
    reorgs as Metric,
  ];
}

/** Of a chain whose nodes all stand still, nothing else tells: they answer, and nothing is left to index. */
async function headAge({ client }: Chain): Promise<number> {
  const { timestamp } = await client.getBlock({ blockTag: 'latest' });
  return Math.max(0, Date.now() / 1000 - Number(timestamp));
}
