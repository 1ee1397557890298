/** Replays: send past events of a time range to an endpoint again, batch by batch, with lower priority than new events. */
import { sql } from 'kysely';
import { auditWrite } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import { typesOf } from '../../events/type-patterns.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import type { Wakeup } from '../../runtime/loop.ts';
import { skipWaiting } from '../deliveries/queue-admin.ts';
import { findEndpoint } from '../endpoints/endpoints.store.ts';
import {
  changeReplay,
  countEndedDeliveries,
  countEvents,
  countOpenDeliveries,
  enqueueEvents,
  findReplay,
  firstBound,
  type ReplayRow,
  type Selection,
  takeReplay,
} from './replays.store.ts';

/** How the last delivery of an event to the endpoint ended. */
export type ReplayedStatus = 'succeeded' | 'failed' | 'skipped';

export const replayedStatuses = ['succeeded', 'failed', 'skipped'] as const satisfies ReplayedStatus[];

export interface ReplayRange {
  from: Date;
  to: Date;
  /** Only events whose last delivery to the endpoint ended like this; if absent, all events, also those never sent to it. */
  status?: ReplayedStatus | undefined;
  /** Types and patterns; if absent, those that the endpoint subscribes to. */
  types?: string[] | undefined;
}

export interface Replay {
  id: string;
  endpointId: string;
  /** paused: the endpoint is disabled. completed: every delivery has ended, successfully or not. */
  status: 'running' | 'paused' | 'completed' | 'cancelled';
  range: { from: Date; to: Date; status: string | null; types: string[] };
  /** Events to send. */
  total: number;
  /** Events that have their new delivery; the next three say how these ended. */
  enqueued: number;
  succeeded: number;
  failed: number;
  skipped: number;
  createdAt: Date;
  finishedAt: Date | null;
}

export interface Replays {
  /** How many events a replay would send. */
  count(workspaceId: string, endpointId: string, range: ReplayRange): Promise<number>;
  /** `also`: rows to commit with the replay. */
  start(
    caller: Caller,
    wanted: { endpointId: string; range: ReplayRange },
    also: (replay: Replay) => Write[],
  ): Promise<void>;
  get(workspaceId: string, id: string): Promise<Replay>;
  /** Deliveries not sent yet are kept as skipped. */
  cancel(caller: Caller, id: string): Promise<void>;
  /** Gives every running replay its next batch of deliveries; false when none is running. */
  advance(): Promise<boolean>;
}

export interface ReplaysDeps {
  db: Db;
  /** Wakes the loop that calls `advance`. */
  wakeup: Pick<Wakeup, 'wake'>;
  deliveryWakeup: Pick<Wakeup, 'wake'>;
}

const batchesPerSecond = 5;
export const batchRestMs = 1000 / batchesPerSecond;
/** For an endpoint without a rate limit of its own. */
const usualPerSecond = 1000;
/** The most open deliveries per replay: a slow receiver slows its replay down instead of building up a backlog. */
const mostOpen = 1000;

export function createReplays({ db, wakeup, deliveryWakeup }: ReplaysDeps): Replays {
  async function select(
    workspaceId: string,
    endpointId: string,
    { from, to, status, types }: ReplayRange,
  ): Promise<{ enabled: boolean; selection: Selection }> {
    if (from >= to) throw new AppError('invalid_date_range', 'from must be earlier than to.');
    const endpoint = await findEndpoint(db, { workspaceId, id: endpointId });
    return {
      enabled: endpoint.enabled,
      selection: {
        workspace_id: workspaceId,
        endpoint_id: endpointId,
        from_time: from,
        to_time: to,
        status: status ?? null,
        types: typesOf(types ?? endpoint.event_types),
        filter_path: endpoint.filter_path,
      },
    };
  }

  /** Commits one batch together with the replay's progress. True when it created deliveries. */
  function advanceOne(workspaceId: string, id: string): Promise<boolean> {
    return db.transaction().execute(async (db) => {
      const replay = await takeReplay(db, workspaceId, id);
      if (!replay) return false;
      const endpoint = await db
        .selectFrom('webhook_endpoints')
        .select(['enabled', 'deleted_at', 'rate_limit'])
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', replay.endpoint_id)
        // A change that disables the endpoint waits for this batch, and then skips it with the rest.
        .forShare()
        .executeTakeFirst();
      if (!endpoint || endpoint.deleted_at) {
        await changeReplay(db, replay, { state: 'cancelled', finished_at: new Date() });
        return false;
      }
      if (!endpoint.enabled) return false;
      const open = await countOpenDeliveries(db, id);
      const perBatch = Math.ceil((endpoint.rate_limit ?? usualPerSecond) / batchesPerSecond);
      const limit = Math.min(perBatch, mostOpen - open);
      if (limit <= 0) return false;
      const { count, lastEventId } = await enqueueEvents(db, replay, limit);
      if (count === 0 && open === 0) {
        // Fewer than counted if some were sent in another way meanwhile.
        await changeReplay(db, replay, {
          state: 'completed',
          total: replay.enqueued,
          finished_at: new Date(),
        });
        return false;
      }
      await changeReplay(db, replay, {
        enqueued: replay.enqueued + count,
        last_event_id: lastEventId,
        next_batch_at: sql<Date>`now() + ${batchRestMs} * interval '1 millisecond'`,
      });
      return count > 0;
    });
  }

  return {
    async count(workspaceId, endpointId, range) {
      const { selection } = await select(workspaceId, endpointId, range);
      return countEvents(db, selection);
    },

    async start(caller, { endpointId, range }, also) {
      const { workspaceId } = caller;
      const now = new Date();
      // Events from now on are sent anyway.
      const to = range.to > now && range.from < now ? now : range.to;
      const { selection, enabled } = await select(workspaceId, endpointId, { ...range, to });
      if (!enabled) throw new AppError('conflict', 'The endpoint is disabled. Enable it first.');
      const row: NewReplay = {
        ...selection,
        id: newId('rpl'),
        state: 'running',
        last_event_id: firstBound(selection),
        total: await countEvents(db, selection),
        enqueued: 0,
        created_at: now,
        finished_at: null,
      };
      const details = { replayId: row.id, total: row.total };
      await db
        .transaction()
        .execute((db) =>
          insertAll(db, [
            { table: 'webhook_replays', row },
            auditWrite(caller, { action: 'webhook_endpoint.replay', targetId: endpointId, details }),
            ...also(toReplay(row, { enabled, ended: { succeeded: 0, failed: 0, skipped: 0 } })),
          ]),
        );
      wakeup.wake();
    },

    async get(workspaceId, id) {
      const row = await findReplay(db, { workspaceId, id });
      if (!row) throw notFound(id);
      const endpoint = await db
        .selectFrom('webhook_endpoints')
        .select('enabled')
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', row.endpoint_id)
        .executeTakeFirst();
      return toReplay(row, {
        enabled: endpoint?.enabled ?? false,
        ended: await countEndedDeliveries(db, id),
      });
    },

    cancel: (caller, id) =>
      db.transaction().execute(async (db) => {
        const replay = await findReplay(db, { workspaceId: caller.workspaceId, id, lock: true });
        if (!replay) throw notFound(id);
        if (replay.state !== 'running') return;
        await changeReplay(db, replay, { state: 'cancelled', finished_at: new Date() });
        await skipWaiting(db, 'replay_id', id);
        const details = { replayId: id };
        await insertAll(db, [
          auditWrite(caller, {
            action: 'webhook_endpoint.cancel_replay',
            targetId: replay.endpoint_id,
            details,
          }),
        ]);
      }),

    async advance() {
      const running = await db
        .selectFrom('webhook_replays')
        .select(['workspace_id', 'id'])
        .where('state', '=', 'running')
        .orderBy('created_at')
        .execute();
      const faults: unknown[] = [];
      for (const { workspace_id, id } of running) {
        try {
          if (await advanceOne(workspace_id, id)) deliveryWakeup.wake();
        } catch (error) {
          // The other replays still advance.
          faults.push(error);
        }
      }
      if (faults.length > 0) throw faults[0];
      return running.length > 0;
    },
  };
}

/** The database sets when the first batch is due. */
type NewReplay = Omit<ReplayRow, 'next_batch_at'>;

function toReplay(
  row: NewReplay,
  { enabled, ended }: { enabled: boolean; ended: Pick<Replay, 'succeeded' | 'failed' | 'skipped'> },
): Replay {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    status: row.state === 'running' && !enabled ? 'paused' : row.state,
    range: { from: row.from_time, to: row.to_time, status: row.status, types: row.types },
    total: row.total,
    enqueued: row.enqueued,
    ...ended,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  };
}

function notFound(id: string): AppError {
  return new AppError('resource_not_found', `There is no replay ${id}.`);
}
