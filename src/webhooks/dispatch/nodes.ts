/** Which nodes are alive: each holds an advisory lock on its id. The claims of a dead node are released at once. */
import pg from 'pg';

export interface Nodes {
  /** Registers this node, and registers it again after its connection was lost. */
  hold(): Promise<void>;
  /** Releases the claims of dead nodes; returns how many. */
  releaseDead(): Promise<number>;
  close(): Promise<void>;
}

/** First key of the advisory locks; the second is the node's id. */
const lockClass = 4_801_100;

/** Locks of living nodes. pg_locks also shows the server's other databases, where the same ids mean other nodes. */
const heldLocks = `
  select objid as id from pg_locks
  where locktype = 'advisory' and classid = $1 and objsubid = 2 and granted
    and database = (select oid from pg_database where datname = current_database())`;

export interface NodesDeps {
  connection(): pg.ClientConfig;
  pool: pg.Pool;
  onGivenBack?: (count: number) => void;
  /** If the database does not answer for this long, the connection is replaced. */
  answerMs?: number;
}

export function createNodes(
  nodeId: number,
  { connection, pool, onGivenBack = () => {}, answerMs = 10_000 }: NodesDeps,
): Nodes {
  let client: pg.Client | null = null;

  /** Nothing else uses this connection: without this query, a silently broken one would never be noticed. */
  async function isThere(held: pg.Client): Promise<boolean> {
    try {
      await held.query('select 1');
    } catch {
      if (client === held) client = null;
      // No graceful close, as there may be nobody to answer it.
      held.connection.stream.destroy();
    }
    return client === held;
  }

  return {
    async hold() {
      if (client && (await isThere(client))) return;
      const fresh = new pg.Client({
        connectionTimeoutMillis: 5_000,
        ...connection(),
        application_name: 'holdfast webhooks',
        keepAlive: true,
        query_timeout: answerMs,
      });
      const lost = () => {
        if (client === fresh) client = null;
      };
      fresh.on('error', lost).on('end', lost);
      try {
        await fresh.connect();
        // The server may keep a lost connection for a while. Until then this node counts as alive; the next call retries.
        const { rows } = await fresh.query<{ taken: boolean }>(
          'select pg_try_advisory_lock($1, $2) as taken',
          [lockClass, nodeId],
        );
        if (!rows[0]?.taken) return await fresh.end();
        await fresh.query('insert into webhook_nodes (id) values ($1) on conflict do nothing', [nodeId]);
      } catch (error) {
        fresh.connection.stream.destroy();
        throw error;
      }
      client = fresh;
    },
    async releaseDead() {
      // A single statement: a node that returns meanwhile is either still in the list, or inserts itself again.
      const { rowCount } = await pool.query(
        `with dead as (
           delete from webhook_nodes where id not in (${heldLocks}) returning id
         )
         update webhook_queue q set claim_id = null, claimed_by = null, lease_until = null
         from dead where q.claimed_by = dead.id`,
        [lockClass],
      );
      onGivenBack(rowCount ?? 0);
      return rowCount ?? 0;
    },
    async close() {
      const last = client;
      client = null;
      // Its row stays: the next node that checks releases its unfinished claims and removes the row.
      await last?.end().catch(() => {});
    },
  };
}

/** Whether any service is running that orders the feed and sends events. */
export async function isAnyNodeAlive(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query(`select 1 from webhook_nodes where id in (${heldLocks}) limit 1`, [
    lockClass,
  ]);
  return rows.length > 0;
}
