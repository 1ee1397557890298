/** The delivery log: every attempt to send an event to an endpoint. Lists deliveries, reads them and retries them. */
import { type Selectable, sql } from 'kysely';
import { auditWrite } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { insertAll } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import type { Wakeup } from '../../runtime/loop.ts';
import { heldUntil } from '../ordering/lines.store.ts';
import { type Attempt, toAttempts } from './attempts.ts';
import { countAgain } from './delivery-hours.ts';
import { putInAgain } from './queue-admin.ts';

export type DeliveryStatus = 'pending' | 'delivering' | 'succeeded' | 'failed' | 'skipped';

export const deliveryStatuses = [
  'pending',
  'delivering',
  'succeeded',
  'failed',
  'skipped',
] as const satisfies DeliveryStatus[];

export interface Delivery {
  id: string;
  eventId: string;
  endpointId: string;
  type: string;
  status: DeliveryStatus;
  createdAt: Date;
  nextAttemptAt: Date | null;
  attemptCount: number;
  /** The replay that created it; null if the event itself did. */
  replayId: string | null;
}

export interface WholeDelivery extends Delivery {
  /** The exact text that is sent. */
  envelope: string;
  attempts: Attempt[];
}

export interface DeliveryQuery {
  endpointId?: string | undefined;
  eventId?: string | undefined;
  status?: DeliveryStatus | undefined;
  type?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  /** Id after which the page begins. */
  before: string | undefined;
  limit: number;
}

export interface DeliveryPage {
  items: Delivery[];
  /** Id after which the next page begins; null on the last page. */
  next: string | null;
}

export interface Deliveries {
  /** Newest first. When matches are rare, a page may have fewer items than `limit`, or none, although more follow. */
  list(workspaceId: string, query: DeliveryQuery): Promise<DeliveryPage>;
  get(workspaceId: string, id: string): Promise<WholeDelivery>;
  /** One more attempt, now. */
  retry(caller: Caller, id: string): Promise<Delivery>;
}

const heldUntilMs = Date.parse(heldUntil);

const columns = [
  'd.id',
  'd.event_id',
  'd.endpoint_id',
  'd.type',
  'd.status',
  'd.created_at',
  'd.attempt_count',
  'd.replay_id',
  'q.next_attempt_at',
  'q.claim_id',
] as const;

/** Deliveries searched per walk, and walks per page. A page that is still not full after that is returned as it is. */
export interface Bounds {
  walkLength: number;
  walksPerPage: number;
}

const usualBounds: Bounds = { walkLength: 5_000, walksPerPage: 4 };

export interface DeliveriesDeps {
  db: Db;
  wakeup: Pick<Wakeup, 'wake'>;
  bounds?: Bounds;
}

export function createDeliveries({ db, wakeup, bounds = usualBounds }: DeliveriesDeps): Deliveries {
  /** Joins the queue, for deliveries that are still in it. */
  const of = (db: Db, workspaceId: string) =>
    db
      .selectFrom('webhook_deliveries as d')
      .leftJoin('webhook_queue as q', (join) =>
        join.onRef('q.workspace_id', '=', 'd.workspace_id').onRef('q.delivery_id', '=', 'd.id'),
      )
      .where('d.workspace_id', '=', workspaceId);

  /** Applies only the filters that indexes and partitions support. */
  function ahead(workspaceId: string, { endpointId, eventId, from, to, before }: DeliveryQuery) {
    let select = of(db, workspaceId).orderBy('d.id', 'desc');
    if (endpointId !== undefined) select = select.where('d.endpoint_id', '=', endpointId);
    if (eventId !== undefined)
      select = select
        .where('d.id', 'in', deliveriesOf(workspaceId, eventId))
        .where('d.event_id', '=', eventId);
    if (from !== undefined) select = select.where('d.created_at', '>=', from);
    if (to !== undefined) select = select.where('d.created_at', '<', to);
    if (before !== undefined) select = select.where('d.id', '<', before);
    return select;
  }

  /** The id of the nth delivery from here; null when there are fewer. */
  async function nthOf(workspaceId: string, query: DeliveryQuery, n: number): Promise<string | null> {
    const row = await ahead(workspaceId, query)
      .select('d.id')
      .offset(n - 1)
      .limit(1)
      .executeTakeFirst();
    return row?.id ?? null;
  }

  /** Down to and including `last`, or without a lower bound if it is null. */
  async function listBetween(
    workspaceId: string,
    query: DeliveryQuery,
    { last, limit }: { last: string | null; limit: number },
  ): Promise<Delivery[]> {
    const { status, type } = query;
    let select = ahead(workspaceId, query).select(columns).limit(limit);
    if (last !== null) select = select.where('d.id', '>=', last);
    if (status === 'delivering') select = select.where('q.claim_id', 'is not', null);
    else if (status !== undefined) select = select.where('d.status', '=', status);
    if (status === 'pending') select = select.where('q.claim_id', 'is', null);
    if (type !== undefined) select = select.where('d.type', '=', type);
    return (await select.execute()).map(toDelivery);
  }

  return {
    async list(workspaceId, query) {
      const items: Delivery[] = [];
      let next = query.before ?? null;
      // Status and type are not indexed, as that would slow down every delivery. Scans the log instead, with a bound.
      for (let walks = 0; walks < bounds.walksPerPage; walks += 1) {
        const ahead = { ...query, before: next ?? undefined };
        const last = isSelective(query) ? await nthOf(workspaceId, ahead, bounds.walkLength) : null;
        const wanted = query.limit + 1 - items.length;
        items.push(...(await listBetween(workspaceId, ahead, { last, limit: wanted })));
        next = last;
        if (items.length > query.limit || last === null) break;
      }
      if (items.length <= query.limit) return { items, next };
      const page = items.slice(0, query.limit);
      return { items: page, next: page.at(-1)?.id ?? null };
    },

    async get(workspaceId, id) {
      const row = await of(db, workspaceId)
        .where('d.id', '=', id)
        .select([...columns, 'd.first_attempt', 'd.attempts', 'd.envelope'])
        .executeTakeFirst();
      if (!row) throw notFound(id);
      const event = await db
        .selectFrom('events')
        .select('envelope')
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', row.event_id)
        .executeTakeFirst();
      return {
        ...toDelivery(row),
        envelope: row.envelope ?? event?.envelope ?? '',
        attempts: toAttempts(row),
      };
    },

    async retry(caller, id) {
      let delivery: Delivery | null = null;
      // Another iteration is needed only when another request has enqueued the delivery meanwhile.
      for (let turns = 0; delivery === null && turns < 10; turns += 1)
        delivery = await db.transaction().execute((db) => putBack(db, caller, id));
      if (delivery === null)
        throw new AppError(
          'conflict',
          'The delivery is being retried by another request right now. Try again shortly.',
        );
      wakeup.wake();
      return delivery;
    },
  };

  /** Null when the delivery was enqueued between the two reads, as the locks would then be taken in the wrong order. */
  async function putBack(db: Db, caller: Caller, id: string): Promise<Delivery | null> {
    const inQueue = db
      .selectFrom('webhook_queue')
      .select('delivery_id')
      .where('workspace_id', '=', caller.workspaceId)
      .where('delivery_id', '=', id);
    // Locks the queue row before the log row, in the same order as writing a result does.
    const held = await inQueue.forUpdate().executeTakeFirst();
    const one = of(db, caller.workspaceId).where('d.id', '=', id).select(columns);
    const row = await one.forUpdate('d').executeTakeFirst();
    if (!row) throw notFound(id);
    if (!held && (await inQueue.executeTakeFirst())) return null;
    if (row.type === 'webhook.test')
      throw new AppError('conflict', 'A test event cannot be retried. Send a new one.');
    const { status } = toDelivery(row);
    if (row.next_attempt_at !== null && row.next_attempt_at.getTime() === heldUntilMs)
      throw new AppError(
        'conflict',
        'The delivery waits for an earlier one of the same resource. Retry that one instead.',
      );
    if (status === 'succeeded' || status === 'delivering')
      throw new AppError('conflict', `The delivery is ${status}, so there is nothing to retry.`);
    const endpoint = await db
      .selectFrom('webhook_endpoints')
      .select('enabled')
      .where('workspace_id', '=', caller.workspaceId)
      .where('id', '=', row.endpoint_id)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
    if (!endpoint?.enabled)
      throw new AppError('conflict', 'The endpoint is disabled or deleted. Enable it first.');
    await putInAgain(db, caller.workspaceId, id);
    await db
      .updateTable('webhook_deliveries')
      .set({ status: 'pending' })
      .where('workspace_id', '=', caller.workspaceId)
      .where('id', '=', id)
      .execute();
    await countAgain(db, caller.workspaceId, row.created_at);
    await insertAll(db, [auditWrite(caller, { action: 'webhook_delivery.retry', targetId: id })]);
    return toDelivery(await one.executeTakeFirstOrThrow());
  }
}

/** Ids that the deliveries of an event can have, all found by index: the first one to each endpoint, replays, and a test. */
function deliveriesOf(workspaceId: string, eventId: string) {
  return sql<string>`(
    select found.id from webhook_endpoints p cross join lateral (
      select first_delivery_id(${eventId}, p.id) as id
      union all
      select id from webhook_deliveries
      where endpoint_id = p.id and event_id = ${eventId} and replay_id is not null
    ) as found where p.workspace_id = ${workspaceId}
    union all
    select replace(${eventId}, 'evt_', 'dlv_')
  )`;
}

type Row = Pick<
  Selectable<Tables['webhook_deliveries']>,
  'id' | 'event_id' | 'endpoint_id' | 'type' | 'status' | 'created_at' | 'attempt_count' | 'replay_id'
> & { next_attempt_at: Date | null; claim_id: string | null };

function toDelivery(row: Row): Delivery {
  return {
    id: row.id,
    eventId: row.event_id,
    endpointId: row.endpoint_id,
    type: row.type,
    status: row.claim_id === null ? row.status : 'delivering',
    createdAt: row.created_at,
    nextAttemptAt: row.next_attempt_at?.getTime() === heldUntilMs ? null : row.next_attempt_at,
    attemptCount: row.attempt_count,
    replayId: row.replay_id,
  };
}

/** Whether the filters may match few of the rows found by index; an event has few deliveries anyway. */
function isSelective({ status, type, eventId }: DeliveryQuery): boolean {
  return eventId === undefined && (status !== undefined || type !== undefined);
}

function notFound(id: string): AppError {
  return new AppError('resource_not_found', `There is no delivery ${id}.`);
}
