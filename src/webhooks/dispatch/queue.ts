/**
 * The delivery queue in SQL: claims due deliveries, completes them, releases them. Each statement serves many deliveries.
 * Each node has one queue object, which remembers where the next claim continues and the endpoints it has read.
 */
import type { Pool } from 'pg';
import { type ElementType, encodeArray } from '../../db/arrays.ts';
import { type Attempt, mostAttempts, writeFirstAttempt } from '../deliveries/attempts.ts';
import { failingTooLong } from '../endpoints/endpoints.store.ts';
import { claimText, nextDueText, wakeText } from './claim-statement.ts';
import { createLowWater } from './low-water.ts';

export interface ClaimedDelivery {
  id: string;
  createdAt: Date;
  eventId: string;
  envelope: string;
  attemptCount: number;
  /** How many of these were requested by hand. */
  manualCount: number;
  /** This attempt was requested by hand; the schedule continues unchanged after it. */
  byHand: boolean;
  firstAttemptAt: Date | null;
  /** How long it has waited for this service in total while it was due. */
  lateMs: number;
  /** What it is about, if the endpoint gets its deliveries in order. */
  resource: string | null;
  /** The ctid of its row in the queue, which finds the row without an index scan. */
  rowAt: string;
  claimId: string;
  /** By this node's clock, just before the claim: the claim lasts at least one lease from then on. */
  claimedAt: number;
  endpoint: ClaimedEndpoint;
}

/** One object shared by all deliveries of an endpoint on this node; updated in place when the endpoint changes. */
export interface ClaimedEndpoint {
  id: string;
  workspaceId: string;
  url: URL;
  enabled: boolean;
  rateLimit: number | null;
  failingSince: Date | null;
  /** A failure was saved within the last hour. */
  failureNoted: boolean;
  failingTooLong: boolean;
  revision: number;
}

export interface DeliveryResult {
  delivery: ClaimedDelivery;
  status: 'pending' | 'succeeded' | 'failed' | 'skipped';
  /** Time until the next attempt of a pending delivery; null: its due time does not change. */
  retryInMs: number | null;
  /** The new total of the time it waited for this service; if absent, it does not change. */
  lateMs?: number;
  /** null when there was no attempt: the endpoint is disabled, the delivery waited too long, or the node stops. */
  attempt: Attempt | null;
}

/** As much of a result as is written down. */
interface SavedResult extends Omit<DeliveryResult, 'delivery'> {
  delivery: Pick<ClaimedDelivery, 'id' | 'createdAt' | 'rowAt' | 'claimId'>;
}

export interface ClaimRequest {
  claimId: string;
  nodeId: number;
  leaseMs: number;
  /** How many more deliveries each endpoint may get; endpoints not listed may get `usual`. */
  room: { endpointId: string; free: number }[];
  usual: number;
  /** Workspaces whose endpoints get none. */
  fullWorkspaces: string[];
  /** Endpoints with deliveries waiting on this node: they are read again too. */
  waiting: string[];
  limit: number;
}

export interface Queue {
  claim(request: ClaimRequest): Promise<ClaimedDelivery[]>;
  /** Whether the last claim stopped before the end of the list of endpoints. */
  isMidRound(): boolean;
  /** The time until the first delivery is due; 0 if one is due or being sent, null if there is none. */
  nextDueMs(): Promise<number | null>;
  /** Saves results, and refuses those whose claim was lost meanwhile. Returns how many were accepted. */
  complete(results: DeliveryResult[]): Promise<number>;
}

const wokenAtOnce = 1000;
/** Bounds the duration of a claim, however many endpoints have deliveries due; the next claim continues from there. */
const usualMostEndpoints = 1000;

/** Changes the queue first, and the log only for deliveries whose claim still holds. */
const completeText = `
with result as (
  select row_at::tid, id, claim_id, status, retry_in_ms * interval '1 millisecond' as retry_in, late_ms,
         attempted_at, first_attempt, later_attempt
  from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::float8[], $8::float8[], $9::timestamptz[],
              $10::text[], $11::jsonb[])
    as r (row_at, id, claim_id, status, retry_in_ms, late_ms, attempted_at, first_attempt, later_attempt)
), ended as (
  delete from webhook_queue q using result r
  where r.status <> 'pending' and q.ctid = r.row_at and q.delivery_id = r.id and q.claim_id = r.claim_id
  returning q.workspace_id, q.delivery_id, q.created_at, r.status, r.first_attempt, r.later_attempt
), waiting as (
  update webhook_queue q
  set retrying = q.retrying or r.attempted_at is not null,
      next_attempt_at = case when q.resume_at is not null and r.attempted_at is not null
        then greatest(q.resume_at, now() + r.retry_in) else coalesce(now() + r.retry_in, q.next_attempt_at) end,
      asleep = case when q.resume_at is not null and r.attempted_at is not null
        then greatest(q.resume_at, now() + r.retry_in) > now() else coalesce(r.retry_in > interval '0', false) end,
      resume_at = case when r.attempted_at is null then q.resume_at end,
      manual_count = q.manual_count + (q.resume_at is not null and r.attempted_at is not null)::integer,
      late_ms = coalesce(r.late_ms, q.late_ms),
      attempt_count = q.attempt_count + (r.attempted_at is not null)::integer,
      first_attempt_at = coalesce(q.first_attempt_at, r.attempted_at),
      claim_id = null, claimed_by = null, lease_until = null
  from result r
  where r.status = 'pending' and q.ctid = r.row_at and q.delivery_id = r.id and q.claim_id = r.claim_id
  returning q.workspace_id, q.delivery_id, q.created_at, r.status, r.first_attempt, r.later_attempt
)
update webhook_deliveries d
set status = r.status,
    attempt_count = d.attempt_count + (r.first_attempt is not null or r.later_attempt is not null)::integer,
    first_attempt = coalesce(r.first_attempt, d.first_attempt),
    attempts = case when r.later_attempt is null then d.attempts
                    when d.attempt_count >= ${mostAttempts}
                      then (d.attempts - (d.first_attempt is null)::integer) || r.later_attempt
                    else d.attempts || r.later_attempt end
from (select * from ended union all select * from waiting) as r
where d.workspace_id = r.workspace_id and d.id = r.delivery_id and d.created_at = r.created_at
  and d.created_at between $1 and $2`;

/** The row without `row_at` has only the last endpoint that the claim looked at, and whether it came from the start. */
interface FoundRow extends Omit<ClaimRow, 'row_at'> {
  row_at: string | null;
  wrapped: boolean | null;
}

interface ClaimRow {
  workspace_id: string;
  delivery_id: string;
  created_at: Date;
  event_id: string;
  endpoint_id: string;
  attempt_count: number;
  manual_count: number;
  first_attempt_at: Date | null;
  by_hand: boolean;
  late_ms: number;
  resource: string | null;
  row_at: string;
}

interface EventRow {
  workspace_id: string;
  event_id: string;
  envelope: string;
}

interface EndpointRow {
  id: string;
  workspace_id: string;
  url: string;
  enabled: boolean;
  rate_limit: number | null;
  failing_since: Date | null;
  failure_noted: boolean;
  failing_too_long: boolean;
  revision: number;
}

export function createQueue(pool: Pool, mostEndpoints = usualMostEndpoints): Queue {
  const lowWater = createLowWater({ pool, mostEndpoints });
  /** The endpoint after which the next claim continues. */
  let after = '';
  let midRound = false;

  /** Endpoints of deliveries that this node holds. */
  let endpoints = new Map<string, ClaimedEndpoint>();

  async function claimRows(request: ClaimRequest): Promise<ClaimRow[]> {
    const { claimId, nodeId, leaseMs, room, usual, fullWorkspaces, limit } = request;
    const mark = await lowWater.find();
    const free = JSON.stringify(Object.fromEntries(room.map((one) => [one.endpointId, one.free])));
    await pool.query({ name: 'webhook-wake', text: wakeText, values: [wokenAtOnce, mark] });
    const { rows } = await pool.query<FoundRow>({
      name: 'webhook-claim',
      text: claimText,
      values: [free, usual, limit, claimId, nodeId, leaseMs, after, fullWorkspaces, mostEndpoints, mark],
    });
    const stopped = rows.find((row) => row.row_at === null);
    const claimed = rows.filter((row): row is FoundRow & ClaimRow => row.row_at !== null);
    midRound = stopped?.wrapped === false;
    if (stopped) after = stopped.endpoint_id;
    else after = claimed.length === limit ? (claimed.at(-1)?.endpoint_id ?? '') : '';
    return claimed;
  }

  /** Reads the endpoints again; deliveries claimed earlier see the change too. */
  async function lookUp(ids: Set<string>): Promise<Map<string, ClaimedEndpoint>> {
    if (ids.size === 0) return endpoints;
    const { rows } = await pool.query<EndpointRow>({
      name: 'webhook-endpoints',
      text: `select id, workspace_id, url, enabled and deleted_at is null as enabled, rate_limit, failing_since,
                    coalesce(last_failure_at > now() - interval '1 hour', false) as failure_noted,
                    coalesce(${failingTooLong}, false) as failing_too_long,
                    revision
             from webhook_endpoints where id = any($1::text[])`,
      values: [[...ids]],
    });
    endpoints = new Map(
      rows.map((row) => {
        const known = endpoints.get(row.id);
        const read = toEndpoint(row, known);
        // It answered 410 to this node, and this query began before that was saved.
        if (known && !known.enabled && known.revision === read.revision) read.enabled = false;
        return [row.id, Object.assign(known ?? {}, read)];
      }),
    );
    return endpoints;
  }

  /** Reads each envelope once, however many endpoints it goes to. */
  async function readEnvelopes(claimed: ClaimRow[]): Promise<Map<string, string>> {
    const wanted = [...new Map(claimed.map((row) => [eventKey(row), row])).values()];
    if (wanted.length === 0) return new Map();
    const { rows } = await pool.query<EventRow>({
      name: 'webhook-envelopes',
      text: `select workspace_id, id as event_id, envelope
             from unnest($1::text[], $2::text[]) as wanted (workspace_id, id) join events e using (workspace_id, id)`,
      values: [wanted.map((row) => row.workspace_id), wanted.map((row) => row.event_id)],
    });
    return new Map(rows.map((row) => [eventKey(row), row.envelope]));
  }

  /** Claims that failed in an unknown state: their deliveries would wait until the lease ends. */
  const lost = new Set<string>();

  async function giveBackLost(): Promise<void> {
    if (lost.size === 0) return;
    await pool.query(
      `update webhook_queue set claim_id = null, claimed_by = null, lease_until = null
       where claim_id = any($1::text[])`,
      [[...lost]],
    );
    lost.clear();
  }

  async function writeDown(results: SavedResult[]): Promise<number> {
    const column = (type: ElementType, of: (result: SavedResult) => unknown) =>
      encodeArray(type, results.map(of));
    const times = results.map(({ delivery }) => delivery.createdAt.getTime());
    const { rowCount } = await pool.query({
      name: 'webhook-complete',
      text: completeText,
      values: [
        // The range of times lets the planner skip partitions of other days.
        new Date(Math.min(...times)),
        new Date(Math.max(...times)),
        column('text', ({ delivery }) => delivery.rowAt),
        column('text', ({ delivery }) => delivery.id),
        column('text', ({ delivery }) => delivery.claimId),
        column('text', ({ status }) => status),
        column('float', ({ retryInMs }) => retryInMs),
        column('float', ({ lateMs }) => lateMs),
        column('timestamptz', ({ status, attempt }) => (status === 'pending' ? attempt?.at : null)),
        column('text', ({ attempt }) => (attempt?.number === 1 ? writeFirstAttempt(attempt) : null)),
        column('jsonb', ({ attempt }) => (attempt?.number === 1 ? null : attempt)),
      ],
    });
    return rowCount ?? 0;
  }

  /** The event or the endpoint is missing for good: without this, these deliveries would be claimed again and again. */
  async function failLacking(rows: ClaimRow[], claimId: string): Promise<void> {
    await writeDown(
      rows.map(({ row_at: rowAt, delivery_id: id, created_at: createdAt }) => ({
        delivery: { rowAt, id, claimId, createdAt },
        status: 'failed',
        retryInMs: null,
        attempt: null,
      })),
    );
  }

  return {
    async claim(request) {
      const claimedAt = Date.now();
      await giveBackLost();
      try {
        const rows = request.limit > 0 ? await claimRows(request) : [];
        const [envelopes, present] = await Promise.all([
          readEnvelopes(rows),
          lookUp(new Set([...request.waiting, ...rows.map((row) => row.endpoint_id)])),
        ]);
        const lacking: ClaimRow[] = [];
        const claimed = rows.flatMap((row) => {
          const endpoint = present.get(row.endpoint_id);
          const envelope = envelopes.get(eventKey(row));
          if (endpoint && envelope !== undefined)
            return toDelivery(row, { claimId: request.claimId, claimedAt, endpoint, envelope });
          lacking.push(row);
          return [];
        });
        if (lacking.length > 0) await failLacking(lacking, request.claimId);
        return claimed;
      } catch (error) {
        lost.add(request.claimId);
        throw error;
      }
    },

    isMidRound: () => midRound,

    async nextDueMs() {
      const { rows } = await pool.query<{ due_in_ms: number | null }>({
        name: 'webhook-next-due',
        text: nextDueText,
        values: [await lowWater.find()],
      });
      return rows[0]?.due_in_ms ?? null;
    },

    complete: writeDown,
  };
}

/** The id alone is not unique: another workspace may have the same. */
function eventKey({ workspace_id, event_id }: Pick<EventRow, 'workspace_id' | 'event_id'>): string {
  return `${workspace_id} ${event_id}`;
}

function toDelivery(
  row: ClaimRow,
  claim: Pick<ClaimedDelivery, 'claimId' | 'claimedAt' | 'endpoint' | 'envelope'>,
): ClaimedDelivery {
  return {
    id: row.delivery_id,
    createdAt: row.created_at,
    eventId: row.event_id,
    attemptCount: row.attempt_count,
    manualCount: row.manual_count,
    byHand: row.by_hand,
    lateMs: row.late_ms,
    firstAttemptAt: row.first_attempt_at,
    rowAt: row.row_at,
    resource: row.resource,
    ...claim,
  };
}

/** Keeps the parsed URL while it does not change. */
function toEndpoint(row: EndpointRow, known: ClaimedEndpoint | undefined): ClaimedEndpoint {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    url: known?.url.href === row.url ? known.url : new URL(row.url),
    enabled: row.enabled,
    rateLimit: row.rate_limit,
    failingSince: row.failing_since,
    failureNoted: row.failure_noted,
    failingTooLong: row.failing_too_long,
    revision: row.revision,
  };
}
