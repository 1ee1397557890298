/** A pooler in front of the server must give each connection a session of its own. */
import pg from 'pg';
import { OperatorError } from '../../runtime/errors.ts';

/**
 * Throws if statements of one connection reach different sessions, as with PgBouncer's transaction mode. Leadership is a lock
 * of a session, changes are listened to by a session, and prepared statements belong to one.
 */
export async function refuseSharedSessions(connection: pg.ClientConfig): Promise<void> {
  const [one, other] = [clientOf(connection), clientOf(connection)];
  try {
    await one.connect();
    await other.connect();
    const own = await backendOf(one);
    // Whoever shares sessions gives the one that is idle to the next, and another one to the first as long as that is used.
    await other.query('begin');
    const taken = await backendOf(other);
    const again = await backendOf(one);
    if (taken === own || again !== own) throw shared();
  } catch (error) {
    // In PgBouncer's statement mode there is no transaction.
    if (/statement pooling/.test((error as Error).message)) throw shared();
    throw error;
  } finally {
    for (const client of [one, other]) client.connection.stream.destroy();
  }
}

function clientOf(connection: pg.ClientConfig): pg.Client {
  const client = new pg.Client({
    connectionTimeoutMillis: 10_000,
    query_timeout: 10_000,
    ...connection,
    application_name: 'holdfast',
  });
  client.on('error', () => {});
  return client;
}

async function backendOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return Number(rows[0]?.pid);
}

function shared(): OperatorError {
  return new OperatorError(
    'DATABASE_URL leads to a pooler that shares sessions between connections, which Holdfast cannot work with. Set the pooler to session mode (pool_mode = session in PgBouncer), or set DATABASE_URL to the server itself: each node keeps a small pool of its own.',
  );
}
