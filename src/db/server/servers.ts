/** The servers of DATABASE_URL: one, or several that replicate each other, of which the one that takes writes is used. */
import pg from 'pg';
import { serverUrls } from '../../config/database-url.ts';
import { OperatorError } from '../../runtime/errors.ts';

export interface Servers {
  /** For the next connection: the server that took writes when they were last looked at. */
  connection(): pg.ClientConfig;
  /** A connection failed: looks at all servers again, so that a later one finds the new primary. */
  look(): void;
}

/** Throws if none can be used. */
export async function openServers(url: string): Promise<Servers> {
  const urls = serverUrls(url) ?? [url];
  let current = await findPrimary(urls);
  let looking = false;

  async function lookAgain(): Promise<void> {
    looking = true;
    try {
      current = await findPrimary([current, ...urls.filter((one) => one !== current)]);
    } catch {
      // While none takes writes, the old one stays: each failed connection to it leads here again.
    } finally {
      looking = false;
    }
  }

  return {
    connection: () => ({ connectionString: current }),
    look() {
      if (urls.length > 1 && !looking) void lookAgain();
    },
  };
}

/** How long a server may take to say what it is, while others may know already. */
const answerMs = 5_000;

/** The first in the order given, so that of two that take writes the same one is used again. */
async function findPrimary(urls: string[]): Promise<string> {
  const asked = urls.map((url) => isStandby(url).catch((error: Error) => error));
  const found = [];
  for (const [place, url] of urls.entries()) {
    const answer = await asked[place];
    if (answer === false) return url;
    found.push(answer);
  }
  const failure = found.find((answer) => answer instanceof Error);
  if (failure && found.length === 1) throw failure;
  const each = found.map(
    (answer, place) =>
      `${hostOf(urls[place] ?? '')} ${answer instanceof Error ? `cannot be used (${answer.message})` : 'is a standby'}`,
  );
  throw new OperatorError(
    `No database server takes writes: ${each.join('; ')}. Set DATABASE_URL to the primary, or name all servers, as postgres://USER:PASSWORD@HOST,HOST/DATABASE: the one that takes writes is found.`,
  );
}

async function isStandby(url: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
    application_name: 'holdfast',
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
    return rows[0]?.standby === true;
  } finally {
    client.connection.stream.destroy();
  }
}

function hostOf(url: string): string {
  const { hostname, port } = new URL(url);
  return port === '' ? hostname : `${hostname}:${port}`;
}
