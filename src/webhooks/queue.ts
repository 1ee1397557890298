/**
 * The delivery queue in SQL: claim what is due, complete it, give it back. Each statement serves many deliveries. A node
 * has one, which remembers whose turn it is and what it knows of the endpoints.
 */
import type { Pool } from 'pg';

export interface ClaimedDelivery {
  id: string;
  createdAt: Date;
  eventId: string;
  envelope: string;
  attemptCount: number;
  firstAttemptAt: Date | null;
  /** Where its row lies: finds it again without a look into an index. */
  rowAt: string;
  claimId: string;
  /** By this node's clock, just before it asked: the claim ends no sooner than a lease later. */
  claimedAt: number;
  endpoint: ClaimedEndpoint;
}

/** One object for all deliveries of an endpoint in the hands of a node, changed in place when the endpoint is. */
export interface ClaimedEndpoint {
  id: string;
  workspaceId: string;
  url: URL;
  enabled: boolean;
  rateLimit: number | null;
  failingSince: Date | null;
  previousSecretUntil: Date | null;
  revision: number;
}

export interface Attempt {
  number: number;
  at: string;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
  responseHeaders: Record<string, string>;
  responseBody: string;
}

export interface Result {
  delivery: ClaimedDelivery;
  status: 'pending' | 'succeeded' | 'failed' | 'skipped';
  /** Until the next attempt, of a pending one; null: it is due as it was before. */
  retryInMs: number | null;
  /** null when it was not tried: the endpoint is disabled, it waited for too long, or the node stops. */
  attempt: Attempt | null;
}

export interface ClaimRequest {
  claimId: string;
  nodeId: number;
  leaseMs: number;
  /** How many more each endpoint may have here; endpoints that are not named may have `usual`. */
  room: { endpointId: string; free: number }[];
  usual: number;
  /** Endpoints with deliveries that wait here: what has changed in them is looked up too. */
  waiting: string[];
  limit: number;
  /** No open delivery is older; keeps the days before out of it. */
  since: Date;
}

export interface Queue {
  claim(request: ClaimRequest): Promise<ClaimedDelivery[]>;
  /** Writes results down; those whose claim was lost meanwhile are refused. Returns how many were taken. */
  complete(results: Result[]): Promise<number>;
  /** The first moment of the oldest day that has open deliveries, or of today. */
  oldestOpenDay(): Promise<Date>;
}

/**
 * Endpoints with open deliveries are found by hopping through the index from one to the next, so that a backlog of one
 * costs the others nothing; each then gives as many as it has room for, first attempts before retries. The next claim
 * goes on behind the last endpoint, so that the first ones do not take all there is to give.
 */
const claimText = `
with recursive active (endpoint_id) as (
  (select endpoint_id from webhook_deliveries where open and created_at >= $4 and endpoint_id > $9
   and ($10 = '' or endpoint_id <= $10) order by endpoint_id limit 1)
  union all
  select next.endpoint_id from active cross join lateral (
    select d.endpoint_id from webhook_deliveries d
    where d.open and d.created_at >= $4 and d.endpoint_id > active.endpoint_id and ($10 = '' or d.endpoint_id <= $10)
    order by d.endpoint_id limit 1
  ) as next
), due as (
  select q.row_at, q.workspace_id, q.created_at, q.event_id
  from active
  left join unnest($1::text[], $2::integer[]) as room (endpoint_id, free) using (endpoint_id)
  cross join lateral (
    select d.ctid as row_at, workspace_id, created_at, event_id from webhook_deliveries d
    where d.endpoint_id = active.endpoint_id and d.open and d.created_at >= $4 and d.next_attempt_at <= now()
      and (d.claim_id is null or d.lease_until < now())
    order by d.retrying, d.next_attempt_at
    limit coalesce(room.free, $3)
    for update skip locked
  ) as q
  limit $5
)
update webhook_deliveries d
set status = 'delivering', claim_id = $6, claimed_by = $7, lease_until = now() + $8 * interval '1 millisecond'
from due
cross join lateral (
  select envelope from events e where e.workspace_id = due.workspace_id and e.id = due.event_id limit 1
) as event
where d.ctid = due.row_at and d.created_at = due.created_at and d.created_at >= $4
returning d.id, d.created_at, d.event_id, d.endpoint_id, d.attempt_count, d.first_attempt_at,
  d.ctid as row_at, event.envelope`;

const completeText = `
update webhook_deliveries d
set status = r.status, open = r.open, retrying = d.retrying or r.attempt is not null,
    next_attempt_at = case
      when not r.open then null
      when r.retry_in_ms is null then d.next_attempt_at
      else now() + r.retry_in_ms * interval '1 millisecond'
    end,
    attempt_count = d.attempt_count + (r.attempt is not null)::integer,
    first_attempt_at = coalesce(d.first_attempt_at, (r.attempt ->> 'at')::timestamptz),
    attempts = case when r.attempt is null then d.attempts else d.attempts || r.attempt end,
    claim_id = null, claimed_by = null, lease_until = null
from json_to_recordset($1) as r (
  row_at tid, id text, created_at timestamptz, claim_id text, status text, open boolean, retry_in_ms float8, attempt jsonb
)
where d.ctid = r.row_at and d.created_at = r.created_at and d.id = r.id and d.claim_id = r.claim_id
  and d.created_at between $2 and $3`;

interface ClaimRow {
  id: string;
  created_at: Date;
  event_id: string;
  endpoint_id: string;
  attempt_count: number;
  first_attempt_at: Date | null;
  row_at: string;
  envelope: string;
}

interface EndpointRow {
  id: string;
  workspace_id: string;
  url: string;
  enabled: boolean;
  rate_limit: number | null;
  failing_since: Date | null;
  previous_secret_until: Date | null;
  revision: number;
}

const dayMs = 24 * 60 * 60 * 1000;

export function createQueue(pool: Pool, { retentionDays }: { retentionDays: number }): Queue {
  /** The endpoint where the last claim had enough. */
  let after = '';

  /** Those with deliveries that wait here. */
  let endpoints = new Map<string, ClaimedEndpoint>();

  async function claimRows(request: ClaimRequest): Promise<ClaimRow[]> {
    const { claimId, nodeId, leaseMs, room, usual, limit, since } = request;
    const claimBetween = async (first: string, last: string, limit: number) => {
      const ids = room.map((one) => one.endpointId);
      const free = room.map((one) => one.free);
      const { rows } = await pool.query<ClaimRow>({
        name: 'webhook-claim',
        text: claimText,
        values: [ids, free, usual, since, limit, claimId, nodeId, leaseMs, first, last],
      });
      return rows;
    };
    const highest = (rows: ClaimRow[]) =>
      rows.reduce((most, { endpoint_id: id }) => (id > most ? id : most), '');
    const rows = await claimBetween(after, '', limit);
    if (rows.length === limit) {
      after = highest(rows);
      return rows;
    }
    // The round goes on with those from the start, up to where it began.
    const rest = after === '' ? [] : await claimBetween('', after, limit - rows.length);
    after = rest.length > 0 && rows.length + rest.length === limit ? highest(rest) : '';
    return [...rows, ...rest];
  }

  /** As they are now; deliveries claimed before see it too. */
  async function lookUp(ids: Set<string>): Promise<void> {
    if (ids.size === 0) return;
    const { rows } = await pool.query<EndpointRow>({
      name: 'webhook-endpoints',
      text: `select id, workspace_id, url, enabled and deleted_at is null as enabled, rate_limit, failing_since,
                    previous_secret_until, revision
             from webhook_endpoints where id = any($1::text[])`,
      values: [[...ids]],
    });
    endpoints = new Map(
      rows.map((row) => [row.id, Object.assign(endpoints.get(row.id) ?? {}, toEndpoint(row))]),
    );
  }

  /** Claims whose answer never came: what they hold would wait for the end of its lease. */
  const lost = new Set<string>();

  async function giveBackLost(): Promise<void> {
    if (lost.size === 0) return;
    await pool.query(
      `update webhook_deliveries set status = 'pending', claim_id = null, claimed_by = null, lease_until = null
       where open and claim_id = any($1::text[])`,
      [[...lost]],
    );
    lost.clear();
  }

  return {
    async claim(request) {
      const claimedAt = Date.now();
      await giveBackLost();
      try {
        const rows = request.limit > 0 ? await claimRows(request) : [];
        await lookUp(new Set([...request.waiting, ...rows.map((row) => row.endpoint_id)]));
        return rows.flatMap((row) => {
          const endpoint = endpoints.get(row.endpoint_id);
          return endpoint ? toDelivery(row, { claimId: request.claimId, claimedAt, endpoint }) : [];
        });
      } catch (error) {
        lost.add(request.claimId);
        throw error;
      }
    },

    async complete(results) {
      const rows = results.map(({ delivery, status, retryInMs, attempt }) => ({
        row_at: delivery.rowAt,
        id: delivery.id,
        created_at: delivery.createdAt,
        claim_id: delivery.claimId,
        status,
        open: status === 'pending',
        retry_in_ms: retryInMs,
        attempt,
      }));
      const times = results.map(({ delivery }) => delivery.createdAt.getTime());
      const { rowCount } = await pool.query({
        name: 'webhook-complete',
        text: completeText,
        // The times leave out the days that none of them is of, when it is planned.
        values: [JSON.stringify(rows), new Date(Math.min(...times)), new Date(Math.max(...times))],
      });
      return rowCount ?? 0;
    },

    async oldestOpenDay() {
      const today = new Date().setUTCHours(0, 0, 0, 0);
      // One look into the index of each day; retention may lag behind by a day.
      const { rows } = await pool.query<{ day: Date }>({
        name: 'webhook-oldest-day',
        text: `select day from generate_series($1::timestamptz, $2::timestamptz, interval '1 day') as day
               cross join lateral (
                 select 1 from webhook_deliveries
                 where open and created_at >= day and created_at < day + interval '1 day' limit 1
               ) as open
               order by day limit 1`,
        values: [new Date(today - (retentionDays + 1) * dayMs), new Date(today)],
      });
      return rows[0]?.day ?? new Date(today);
    },
  };
}

function toDelivery(
  row: ClaimRow,
  claim: Pick<ClaimedDelivery, 'claimId' | 'claimedAt' | 'endpoint'>,
): ClaimedDelivery {
  return {
    id: row.id,
    createdAt: row.created_at,
    eventId: row.event_id,
    envelope: row.envelope,
    attemptCount: row.attempt_count,
    firstAttemptAt: row.first_attempt_at,
    rowAt: row.row_at,
    ...claim,
  };
}

function toEndpoint(row: EndpointRow): ClaimedEndpoint {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    url: new URL(row.url),
    enabled: row.enabled,
    rateLimit: row.rate_limit,
    failingSince: row.failing_since,
    previousSecretUntil: row.previous_secret_until,
    revision: row.revision,
  };
}
