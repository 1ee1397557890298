/** Requests of commands that make or read many things over HTTP: each is tried until it is answered for good. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type Answer, type Attempts, messageOf, persist } from '../bulk/attempts.ts';
import { ImportStopped } from '../bulk/run.ts';
import { OperatorError } from '../runtime/errors.ts';
import { pause } from '../runtime/loop.ts';
import { type RequestOptions, request } from './connection.ts';
import type { Profile } from './profiles.ts';

export interface ServiceCalls {
  /** Throws ImportStopped when the service stays away. A body is made anew for each try. */
  call(path: string, options?: CallOptions): Promise<ReadAnswer>;
  /** Writes what a path answers to a file; `digest` is 0x and the SHA-256. A transfer that breaks off begins anew. */
  download(path: string, file: string): Promise<{ digest: string } | { refused: string }>;
}

export interface ReadAnswer extends Answer {
  nextCursor: string | null;
  archivedBefore: string | null;
}

export type CallOptions = Omit<RequestOptions, 'signal' | 'body'> & {
  body?: () => NonNullable<RequestOptions['body']>;
  /** Whether another try makes sense; without it always. */
  again?: () => boolean;
  /** Of one try; uploads have none, because they take as long as they take. */
  timeoutMs?: number;
};

const usualTimeoutMs = 120_000;

export interface CallsOptions {
  giveUpMs: number;
  stopping: AbortSignal;
  say(line: string): void;
}

export function createServiceCalls(
  connection: Profile,
  { giveUpMs, stopping, say }: CallsOptions,
): ServiceCalls {
  let trouble: string | null = null;
  const attempts: Attempts = {
    giveUpMs,
    stopping,
    now: Date.now,
    wait: (ms) => pause(ms, stopping),
    tell(now) {
      if (now !== null && trouble === null) say(`${now} Trying again.`);
      if (now === null && trouble !== null) say('The service is available again.');
      trouble = now;
    },
  };
  async function attempt(path: string, options: CallOptions): Promise<ReadAnswer> {
    const { body, timeoutMs = usualTimeoutMs, again: _, ...rest } = options;
    const aborter = new AbortController();
    const timer =
      timeoutMs === Number.POSITIVE_INFINITY ? null : setTimeout(() => aborter.abort(), timeoutMs);
    try {
      const answer = await request(connection, path, {
        ...rest,
        ...(body && { body: body() }),
        signal: aborter.signal,
      });
      return await read(answer);
    } finally {
      if (timer) clearTimeout(timer);
    }
  }
  async function fetchTo(path: string, file: string): Promise<Answer & { digest?: string }> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), usualTimeoutMs);
    try {
      const answer = await request(connection, path, { signal: silence.signal });
      if (answer.status !== 200 || !answer.body) return await read(answer);
      const hash = createHash('sha256');
      async function* pieces(from: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
        for await (const piece of from) {
          clearTimeout(timer);
          timer = setTimeout(() => silence.abort(), usualTimeoutMs);
          hash.update(piece);
          yield piece;
        }
      }
      await pipeline(answer.body, pieces, createWriteStream(file, { mode: 0o600 }));
      return { status: 200, retryAfter: null, body: null, digest: `0x${hash.digest('hex')}` };
    } finally {
      clearTimeout(timer);
    }
  }
  return {
    async download(path, file) {
      const answer = await persist(() => fetchTo(path, file), attempts);
      if (answer.status === 401) throw new ImportStopped(messageOf(answer));
      return answer.digest === undefined ? { refused: messageOf(answer) } : { digest: answer.digest };
    },
    call: (path, options = {}) =>
      persist(
        () =>
          attempt(path, options).catch((error) => {
            throw options.again?.() === false ? new ImportStopped('It cannot be sent again.') : error;
          }),
        attempts,
      ),
  };
}

/** Before an import: whether the key may make such things, by a request that is refused as empty. */
export async function requireScope({ call }: ServiceCalls, path: string): Promise<void> {
  const answer = await call(
    path,
    postJson(() => '{}'),
  );
  if (answer.status === 400) return;
  throw new OperatorError(answer.status < 300 ? `${path} accepted an empty request.` : messageOf(answer));
}

/** A key without the scope for vaults cannot ask. */
export async function requireActiveVault({ call }: ServiceCalls, address: string): Promise<void> {
  const answer = await call(`/platform/vaults/${encodeURIComponent(address)}`);
  if (answer.status === 403) return;
  if (answer.status !== 200) throw new OperatorError(messageOf(answer));
  const { status } = answer.body as { status?: unknown };
  if (status !== 'active') throw new OperatorError(`The vault ${address} is deactivated.`);
}

export function postJson(body: () => string, headers: Record<string, string> = {}): CallOptions {
  return { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } };
}

async function read(answer: Response): Promise<ReadAnswer> {
  const { status, headers } = answer;
  const body = jsonOrNull(await answer.text());
  return {
    ...{ status, body, retryAfter: headers.get('retry-after') },
    ...{ nextCursor: headers.get('x-next-cursor'), archivedBefore: headers.get('x-archived-before') },
  };
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
