/**
 * Detects connections that were cut silently, by a firewall or a machine that is gone: otherwise a statement would wait
 * for its answer for a quarter of an hour or more, or for ever.
 */
import type { Socket } from 'node:net';
import pg from 'pg';

/** For statements with a time-out on the server: a connection that is silent for longer is dead. */
export function endIfSilent(client: pg.Client, silenceMs: number): void {
  const stream = streamOf(client);
  stream.setTimeout(silenceMs).on('timeout', () => {
    if (waits(client)) endAsSilent(stream, silenceMs);
  });
}

export interface CutWatch {
  /** For a second connection, to ask the server about the first one. */
  connection(): pg.ClientConfig;
  silenceMs?: number;
}

/**
 * For statements that may take hours; call it once the client is connected. After each period of silence it asks the
 * server on another connection. If the statement is still running, that explains the silence. If twice in a row the
 * server waits for us while we wait for it, its answer was lost.
 */
export function endIfCut(client: pg.Client, { connection, silenceMs = 30_000 }: CutWatch): void {
  const stream = streamOf(client);
  let doubts = 0;
  let seen = -1;
  const look = async () => {
    const moved = stream.bytesRead + stream.bytesWritten;
    // Data that has arrived but is not read yet, for example because the disk is slow, is not silence.
    const isOurTurn = !waits(client) || stream.readableLength > 0;
    if (isOurTurn || moved !== seen) doubts = 0;
    seen = moved;
    if (!isOurTurn && !(await isAtWork(client, connection()))) doubts += 1;
    if (stream.destroyed) return;
    if (doubts > 1) endAsSilent(stream, 2 * silenceMs);
    else stream.setTimeout(silenceMs);
  };
  stream.setTimeout(silenceMs).on('timeout', () => void look());
}

function waits(client: pg.Client): boolean {
  return !(client as unknown as { readyForQuery: boolean }).readyForQuery;
}

function streamOf(client: pg.Client): Socket {
  return client.connection.stream as Socket;
}

function endAsSilent(stream: Socket, silenceMs: number): void {
  const error = new Error(`the database has not answered for ${silenceMs} ms`);
  stream.destroy(Object.assign(error, { code: 'ETIMEDOUT' }));
}

/** False also when the server cannot be asked. */
async function isAtWork(client: pg.Client, config: pg.ClientConfig): Promise<boolean> {
  const { processID: pid } = client as unknown as { processID: number };
  const asking = new pg.Client({ ...config, connectionTimeoutMillis: 10_000, query_timeout: 10_000 });
  asking.on('error', () => {});
  try {
    await asking.connect();
    const { rowCount } = await asking.query(
      "select 1 from pg_stat_activity where pid = $1 and state = 'active' and wait_event_type is distinct from 'Client'",
      [pid],
    );
    return rowCount === 1;
  } catch {
    return false;
  } finally {
    asking.connection.stream.destroy();
  }
}
