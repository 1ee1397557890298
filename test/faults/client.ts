/** Sends one request of the load client and sorts its end: acknowledged, refused, unknown, or never sent. */

import type { Journal, Outcome } from './journal.ts';
import type { Random } from './random.ts';

export interface Call {
  method: string;
  path: string;
  body?: unknown;
  /** Sent instead of a body, made anew each time. */
  form?: () => FormData;
  headers?: Record<string, string>;
  /** After this the client gives up waiting, and does not know. */
  patienceMs?: number;
}

export interface Ended {
  outcome: Outcome;
  status: number | null;
  headers: Headers;
  bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  json: any;
}

export type Client = (call: Call) => Promise<Ended>;

const base = '/api-v1';
const usualPatienceMs = 2_500;
/** Of the oracle, which asks once: long enough for anything that is answered at all. */
export const oraclePatienceMs = 90_000;

/** The other two are of a proxy before the nodes; the service itself never gives them. */
const unavailable = [502, 503, 504];

export interface ClientDeps {
  /** Where it may be sent now; none: nobody listens. */
  targets(): string[];
  key: string;
  journal: Journal;
  random: Random;
  /** Once aborted, nobody gets an answer any more: whoever still asks is left waiting, and keeps nothing alive. */
  signal: AbortSignal;
}

export function createClient({ targets, key, journal, random, signal }: ClientDeps): Client {
  async function send(call: Call): Promise<Ended> {
    const { method, path, body, form, headers, patienceMs = usualPatienceMs } = call;
    const urls = targets();
    const nothing = { status: null, headers: new Headers(), bytes: Buffer.alloc(0), json: null };
    if (urls.length === 0) return { outcome: 'unsent', ...nothing };
    try {
      const answer = await fetch(random.pick(urls) + base + path, {
        method,
        headers: {
          'x-api-key': key,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(form && { body: form() }),
        signal: AbortSignal.timeout(patienceMs),
      });
      const bytes = Buffer.from(await answer.arrayBuffer());
      const { status } = answer;
      const isJson = /json/.test(answer.headers.get('content-type') ?? '');
      if (status >= 500 && !(unavailable.includes(status) && Number(answer.headers.get('retry-after')) > 0))
        journal.complaints.push(`${method} ${path} was answered ${status}: ${bytes}`);
      return {
        outcome: status < 300 ? 'acknowledged' : status < 500 ? 'refused' : 'unavailable',
        status,
        headers: answer.headers,
        bytes,
        json: isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : null,
      };
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as { code?: string };
      return { outcome: code === 'ECONNREFUSED' ? 'unsent' : 'unknown', ...nothing };
    }
  }

  return async (call) => {
    const ended = await send(call);
    if (signal.aborted) return new Promise(() => {});
    journal.requests[ended.outcome] += 1;
    return ended;
  };
}
