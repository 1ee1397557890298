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

export function createNodes(
  nodeId: number,
  {
    connection,
    pool,
    onGivenBack = () => {},
  }: { connection(): pg.ClientConfig; pool: pg.Pool; onGivenBack?: (count: number) => void },
): Nodes {
  let client: pg.Client | null = null;
  return {
    async hold() {
      if (client) return;
      const fresh = new pg.Client({
        ...connection(),
        application_name: 'holdfast webhooks',
        keepAlive: true,
      });
      const lost = () => {
        if (client === fresh) client = null;
      };
      fresh.on('error', lost).on('end', lost);
      await fresh.connect();
      await fresh.query('select pg_advisory_lock($1, $2)', [lockClass, nodeId]);
      await fresh.query('insert into webhook_nodes (id) values ($1) on conflict do nothing', [nodeId]);
      client = fresh;
    },
    async releaseDead() {
      const { rows } = await pool.query<{ id: number }>(
        `select id from webhook_nodes n where not exists (
           select 1 from pg_locks l where l.locktype = 'advisory' and l.classid = $1 and l.objid = n.id and l.objsubid = 2
         )`,
        [lockClass],
      );
      if (rows.length === 0) return 0;
      const dead = rows.map(({ id }) => id);
      const { rowCount } = await pool.query(
        `update webhook_deliveries set status = 'pending', claim_id = null, claimed_by = null, lease_until = null
         where open and claimed_by = any($1::integer[])`,
        [dead],
      );
      await pool.query('delete from webhook_nodes where id = any($1::integer[])', [dead]);
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
  const { rows } = await pool.query(
    `select 1 from webhook_nodes n join pg_locks l
     on l.locktype = 'advisory' and l.classid = $1 and l.objid = n.id and l.objsubid = 2 limit 1`,
    [lockClass],
  );
  return rows.length > 0;
}
