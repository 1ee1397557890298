/** The load generator: autocannon in a process of its own, the same one for both sides of a comparison. */
import { startChild } from './child.ts';

export interface Load {
  url: string;
  connections: number;
  seconds: number;
  /** Requests in a second; null: each goes out when the one before it was answered. */
  perSecond?: number | null;
  /** Dealt out to the connections; each goes round its own share, one request at a time. */
  requests: LoadRequest[];
  /** Replaces `[<id>]` in headers by an id that was never used before. */
  freshIds?: boolean;
  /** Replaces `[<address>]` in bodies by a random address. */
  freshAddresses?: boolean;
}

export interface LoadRequest {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** A POST of JSON; `idempotent` gives each a key of its own. Peers get one too, so that both sides cost the same here. */
export function jsonPost(
  path: string,
  { headers = {}, body, idempotent }: { headers?: Record<string, string>; body: object; idempotent: boolean },
): LoadRequest {
  return {
    method: 'POST',
    path,
    headers: {
      'content-type': 'application/json',
      ...headers,
      ...(idempotent && { 'idempotency-key': '[<id>]' }),
    },
    body: JSON.stringify(body),
  };
}

export interface LoadResult {
  seconds: number;
  /** With those that were under way at the end. */
  sent: number;
  /** Answers with a 2xx status. */
  succeeded: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Answers with another status, by status. */
  otherAnswers: Record<string, number>;
  /** Connections that failed or timed out, and requests that were lost with them. */
  errors: number;
}

export interface LoadGenerator {
  pid: number;
  run(load: Load): Promise<LoadResult>;
  stop(): Promise<void>;
}

export async function startLoadGenerator(): Promise<LoadGenerator> {
  const child = startChild<Load, LoadResult>(new URL('./load.process.ts', import.meta.url));
  return {
    pid: child.pid,
    run: (load) => child.ask(load, load.seconds * 1000 + 20_000),
    stop: child.stop,
  };
}
