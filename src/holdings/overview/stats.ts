/** Figures of a workspace: what was anchored and delivered over time, what waits now, and what needs attention. */
import { sql } from 'kysely';
import type { Address } from 'viem';
import { type AnchoredCounts, readAnchored } from '../../anchoring/leaves/anchored-hours.ts';
import { pendingLeaves } from '../../anchoring/leaves/pending-leaves.ts';
import type { Chain } from '../../chain/chain.ts';
import { forecastGas } from '../../chain/registry/gas-forecast.ts';
import type { ClocksState } from '../../clocks/clocks-state.ts';
import type { Db } from '../../db/database.ts';
import { type DeliveryCounts, readDeliveryCounts } from '../../webhooks/deliveries/delivery-hours.ts';

export interface Stats {
  bucketSeconds: number;
  /** In order and without gaps, including empty ones. */
  buckets: Bucket[];
  waiting: Waiting;
  chain: ChainState | null;
  clocks: ClocksState;
}

export interface Bucket {
  at: Date;
  anchored: number;
  /** From acceptance to confirmation of the anchor; null when nothing was confirmed. */
  anchorMsP50: number | null;
  anchorMsP95: number | null;
  delivered: number;
  failed: number;
  skipped: number;
}

export interface Waiting {
  /** Counted up to `mostCounted`. */
  anchors: number;
  deliveries: number;
  oldestDeliveryAt: Date | null;
  failingEndpoints: number;
  disabledEndpoints: number;
  /** Batches that need an operator: those with leaves of this workspace; for operators, all. */
  setAsideBatches: number;
}

export interface ChainState {
  chainId: number;
  /** Development evidence only. */
  embedded: boolean;
  indexedBlock: number | null;
  indexedAt: Date | null;
  /** This and the rest are known only on the leading node; null elsewhere, and while the chain is unavailable. */
  headBlock: number | null;
  /** Of the account that pays for all workspaces: null except for operators. */
  balanceWei: string | null;
  anchorsLeft: number | null;
}

export interface StatsQuery {
  from: Date;
  to: Date;
  /** Whether to include figures of the whole installation. */
  forOperator: boolean;
}

export interface StatsDeps {
  db: Db;
  /** Null on a node that has no open chain. */
  openChain(): Promise<Chain | null>;
  submitter(): Promise<{ address: Address }>;
  readClocks(): Promise<ClocksState>;
}

export type ReadStats = (workspaceId: string, query: StatsQuery) => Promise<Stats>;

const mostCounted = 100_000;
/** The overview of each tenant polls every few seconds; the chain node need not be asked as often. */
const headHoldsMs = 15_000;
const bucketChoicesSeconds = [60, 300, 900, 3_600, 10_800, 21_600, 86_400];
const bucketsWanted = 60;

export function createStats({ db, openChain, submitter, readClocks }: StatsDeps): ReadStats {
  const head = heldFor(headHoldsMs, () => readHead({ openChain, submitter }));
  return async (workspaceId, { from, to, forOperator }) => {
    const seconds = (to.getTime() - from.getTime()) / 1000;
    const bucketSeconds = bucketChoicesSeconds.find((choice) => seconds / choice <= bucketsWanted) ?? 86_400;
    const range = { workspaceId, from: floorTo(from, bucketSeconds), to, bucketSeconds };
    const [anchored, deliveries, waiting, chain, clocks] = await Promise.all([
      readAnchored(db, range),
      readDeliveryCounts(db, range),
      readWaiting(db, workspaceId, forOperator),
      readChain(db, forOperator ? head : async () => ({ ...(await head()), ...notTold })),
      readClocks(),
    ]);
    return { bucketSeconds, buckets: fill(range, anchored, deliveries), waiting, chain, clocks };
  };
}

interface BucketRange {
  from: Date;
  to: Date;
  workspaceId: string;
  bucketSeconds: number;
}

async function readWaiting(db: Db, workspaceId: string, forOperator: boolean): Promise<Waiting> {
  const { select: pending } = await pendingLeaves(db, mostCounted);
  const { rows } = await sql<{
    anchors: number;
    deliveries: number;
    oldest: Date | null;
    failing: number;
    disabled: number;
    aside: number;
  }>`
    select
      (select count(*) from (
        select workspace_id from (${pending}) as pending limit ${mostCounted}
      ) as pending where workspace_id = ${workspaceId}) as anchors,
      (select count(*) from (
        select 1 from webhook_queue where workspace_id = ${workspaceId} limit ${mostCounted}
      ) as open) as deliveries,
      (select min(created_at) from (
        select created_at from webhook_queue where workspace_id = ${workspaceId} limit ${mostCounted}
      ) as open) as oldest,
      (select count(*) from webhook_endpoints where workspace_id = ${workspaceId} and deleted_at is null
         and enabled and failing_since is not null) as failing,
      (select count(*) from webhook_endpoints where workspace_id = ${workspaceId} and deleted_at is null
         and not enabled and disabled_reason is distinct from 'owner') as disabled,
      (select count(*) from anchor_batches b where status = 'set_aside' and (${forOperator} or exists (
         select 1 from anchor_subtrees s where s.batch_id = b.id and s.workspace_id = ${workspaceId}
       ))) as aside`.execute(db);
  const [row] = rows;
  return {
    anchors: row?.anchors ?? 0,
    deliveries: row?.deliveries ?? 0,
    oldestDeliveryAt: row?.oldest ?? null,
    failingEndpoints: row?.failing ?? 0,
    disabledEndpoints: row?.disabled ?? 0,
    setAsideBatches: row?.aside ?? 0,
  };
}

/** Null if the chain was never opened. */
async function readChain(db: Db, head: () => Promise<Head>): Promise<ChainState | null> {
  const known = await db.selectFrom('chain').select(['chain_id', 'embedded']).executeTakeFirst();
  if (!known) return null;
  const newest = await db
    .selectFrom('chain_blocks')
    .select(['number', 'time_seconds'])
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return {
    chainId: known.chain_id,
    embedded: known.embedded,
    indexedBlock: newest?.number ?? null,
    indexedAt: newest ? new Date(newest.time_seconds * 1000) : null,
    ...(await head()),
  };
}

type Head = Pick<ChainState, 'headBlock' | 'balanceWei' | 'anchorsLeft'>;

const notTold = { balanceWei: null, anchorsLeft: null };

/** Caches the result for this long. */
function heldFor<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let held: { answer: Promise<T>; until: number } | null = null;
  return () => {
    if (held === null || performance.now() >= held.until)
      held = { answer: read(), until: performance.now() + ms };
    return held.answer;
  };
}

/** If the chain does not answer, its figures are null; the others are returned all the same. */
async function readHead({ openChain, submitter }: Pick<StatsDeps, 'openChain' | 'submitter'>): Promise<Head> {
  const none = { headBlock: null, balanceWei: null, anchorsLeft: null };
  try {
    const chain = await openChain();
    if (!chain) return none;
    const { address } = await submitter();
    const [head, forecast] = await Promise.all([chain.head(), forecastGas(chain.client, address)]);
    return { headBlock: head.number, ...forecast };
  } catch {
    return none;
  }
}

function fill(
  { from, to, bucketSeconds }: BucketRange,
  anchored: AnchoredCounts[],
  deliveries: DeliveryCounts[],
): Bucket[] {
  const anchoredAt = new Map(anchored.map((row) => [row.at.getTime(), row]));
  const deliveredAt = new Map(deliveries.map((row) => [row.at.getTime(), row]));
  const buckets: Bucket[] = [];
  for (let time = from.getTime(); time < to.getTime(); time += bucketSeconds * 1000) {
    const row = anchoredAt.get(time);
    const counts = deliveredAt.get(time);
    buckets.push({
      at: new Date(time),
      anchored: row?.anchored ?? 0,
      anchorMsP50: row?.p50 == null ? null : Math.round(row.p50),
      anchorMsP95: row?.p95 == null ? null : Math.round(row.p95),
      delivered: counts?.succeeded ?? 0,
      failed: counts?.failed ?? 0,
      skipped: counts?.skipped ?? 0,
    });
  }
  return buckets;
}

function floorTo(time: Date, seconds: number): Date {
  const step = seconds * 1000;
  return new Date(Math.floor(time.getTime() / step) * step);
}
