/** When batches become visible as confirmed, seen from another connection, and what their way there consisted of. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { holdfastDatabase, type Postgres } from './postgres.ts';

export interface Confirmations {
  /** The process of PostgreSQL that answers here, whose work is not the service's. */
  backendPid: number;
  /** Waits until nothing is unconfirmed; returns when each of these subjects was seen as confirmed, since 1970. */
  seenAt(subjectIds: string[]): Promise<Map<string, number>>;
  /** Medians over the records of the batches that were watched, in milliseconds. */
  stretches(): Promise<Stretches>;
  stop(): Promise<void>;
}

export interface Stretches {
  batches: number;
  mostLeaves: number;
  acceptedToBatch: number;
  batchToBroadcast: number;
  broadcastToConfirmed: number;
}

const lookMs = 10;
const longestWaitMs = 60_000;

export async function watchConfirmations(postgres: Postgres): Promise<Confirmations> {
  const client = new pg.Client({ ...postgres.connection(holdfastDatabase), application_name: 'bench' });
  await client.connect();
  const { rows } = await client.query<{ last: string | null; leaf: string; pid: number }>(
    `select max(id) as last, (select coalesce(max(id), 0) from anchor_leaves) as leaf, pg_backend_pid() as pid
     from anchor_batches`,
  );
  const since = Number(rows[0]?.last ?? 0);
  const sinceLeaf = Number(rows[0]?.leaf ?? 0);
  const backendPid = rows[0]?.pid ?? 0;
  const seen = new Map<number, number>();
  const stopping = new AbortController();

  const watching = (async () => {
    while (!stopping.signal.aborted) {
      const { rows } = await client.query<{ id: string }>({
        name: 'confirmed',
        text: `select id from anchor_batches where id > $1 and status in ('confirmed', 'finalized') and id <> all ($2::bigint[])`,
        values: [since, [...seen.keys()]],
      });
      const at = performance.timeOrigin + performance.now();
      for (const { id } of rows) seen.set(Number(id), at);
      await sleep(lookMs);
    }
  })();
  watching.catch(() => {});

  async function waitForAll(): Promise<void> {
    for (const deadline = Date.now() + longestWaitMs; ; await sleep(100)) {
      await Promise.race([watching, null]);
      const {
        rows: [row],
      } = await client.query<{ pending: boolean; batches: number }>(
        `select exists (select 1 from placed_leaves where id > $2 and batch_id is null) as pending,
                (select count(*)::int from anchor_batches where id > $1) as batches`,
        [since, sinceLeaf],
      );
      if (row && !row.pending && row.batches === seen.size) return;
      if (Date.now() > deadline) throw new Error(`not all is confirmed: ${JSON.stringify(row)}`);
    }
  }

  return {
    backendPid,
    async seenAt(subjectIds) {
      await waitForAll();
      const { rows: found } = await client.query<{ subject: string; batch: string }>(
        'select subject_id as subject, batch_id as batch from placed_leaves where subject_id = any ($1)',
        [subjectIds],
      );
      return new Map(found.map(({ subject, batch }) => [subject, seen.get(Number(batch)) ?? Number.NaN]));
    },
    async stretches() {
      const { rows } = await client.query<Stretches>(
        `select count(distinct b.id)::int as batches, max(b.size) as "mostLeaves",
                ${median('b.created_at - l.created_at')} as "acceptedToBatch",
                ${median('a.first_broadcast_at - b.created_at')} as "batchToBroadcast",
                ${median('b.confirmed_at - a.first_broadcast_at')} as "broadcastToConfirmed"
         from anchor_batches b
         join placed_leaves l on l.batch_id = b.id and l.id > $2
         join outgoing_attempts a on a.transaction_id = b.outgoing_id and a.number = 1
         where b.id > $1`,
        [since, sinceLeaf],
      );
      if (!rows[0]) throw new Error('the batches were not counted');
      return rows[0];
    },
    async stop() {
      stopping.abort();
      await watching.catch(() => {});
      await client.end();
    },
  };
}

function median(interval: string): string {
  return `round(1000 * percentile_cont(0.5) within group (order by extract(epoch from ${interval})))::int`;
}
