/**
 * Connections that were cut without a word, by a firewall or a machine that is gone: what waits for an answer of theirs would
 * wait for a quarter of an hour and more, or for ever.
 */
import type { Socket } from 'node:net';
import pg from 'pg';

/** For statements that the server ends in time: one that is silent for longer is not there. */
export function endIfSilent(client: pg.Client, silenceMs: number): void {
  const stream = streamOf(client);
  stream.setTimeout(silenceMs).on('timeout', () => {
    if (waits(client)) endAsSilent(stream, silenceMs);
  });
}

export interface CutWatch {
  /** For a second connection, to ask what became of the first one. */
  connection(): pg.ClientConfig;
  silenceMs?: number;
}

/**
 * For statements that may take hours, to be called once the client is connected. Whenever nothing has come for a while, the
 * server is asked on another connection. It is at work, then that is why, or it waits for us as we do for it, and that
 * twice, then what it said was lost.
 */
export function endIfCut(client: pg.Client, { connection, silenceMs = 30_000 }: CutWatch): void {
  const stream = streamOf(client);
  let doubts = 0;
  let seen = -1;
  const look = async () => {
    const moved = stream.bytesRead + stream.bytesWritten;
    // What has come and is not taken yet, because the disk is slow, say, is nobody's silence.
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

/** False also where the server cannot be asked. */
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
