/** Which nodes are alive: each holds an advisory lock under its id; what a dead one had claimed is given back at once. */
import pg from 'pg';

export interface Nodes {
  /** Makes this node known, and known again after the connection was lost. */
  hold(): Promise<void>;
  /** Gives back the claims of nodes that are gone; returns how many. */
  releaseDead(): Promise<number>;
  close(): Promise<void>;
}

/** First half of the advisory locks; the second is the node's id. */
const lockClass = 4_801_100;

/** Locks of living nodes; the server shows those of its other databases too, where the same ids mean other nodes. */
const heldLocks = `
  select objid as id from pg_locks
  where locktype = 'advisory' and classid = $1 and objsubid = 2 and granted
    and database = (select oid from pg_database where datname = current_database())`;

export interface NodesDeps {
  connection(): pg.ClientConfig;
  pool: pg.Pool;
  onGivenBack?: (count: number) => void;
  /** A database that does not answer for so long is given up, and connected to anew. */
  answerMs?: number;
}

export function createNodes(
  nodeId: number,
  { connection, pool, onGivenBack = () => {}, answerMs = 10_000 }: NodesDeps,
): Nodes {
  let client: pg.Client | null = null;

  /** Nothing else is ever asked on it: without this, one that was cut without a word would never be missed. */
  async function isThere(held: pg.Client): Promise<boolean> {
    try {
      await held.query('select 1');
    } catch {
      if (client === held) client = null;
      // Without a farewell, which nobody might answer.
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
        // A lost connection may live on in the server for a while. This node counts as alive until then, and asks again.
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
      // One statement: a node that comes back meanwhile is either still in the list, or enters it anew.
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
      // Its row stays: the next node to look gives back what this one could not finish, and removes it.
      await last?.end().catch(() => {});
    },
  };
}

/** Whether any service runs that places events in the feed and sends them. */
export async function isAnyNodeAlive(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query(`select 1 from webhook_nodes where id in (${heldLocks}) limit 1`, [
    lockClass,
  ]);
  return rows.length > 0;
}
