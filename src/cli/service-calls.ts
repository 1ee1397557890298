/** Requests of commands that make or read many things over HTTP: each is tried until it is answered for good. */
import { type Answer, type Attempts, codeOf, messageOf, persist } from '../bulk/attempts.ts';
import { ImportStopped } from '../bulk/run.ts';
import { OperatorError } from '../runtime/errors.ts';
import { pause } from '../runtime/loop.ts';
import { type RequestOptions, request } from './connection.ts';
import type { Profile } from './profiles.ts';

export interface ServiceCalls {
  url: string;
  /** Throws ImportStopped when the service stays away. A body is made anew for each try. */
  call(path: string, options?: CallOptions): Promise<Answer>;
}

export type CallOptions = Omit<RequestOptions, 'signal' | 'body'> & {
  body?: () => NonNullable<RequestOptions['body']>;
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
  async function attempt(path: string, options: CallOptions): Promise<Answer> {
    const { body, timeoutMs = usualTimeoutMs, ...rest } = options;
    const aborter = new AbortController();
    const timer =
      timeoutMs === Number.POSITIVE_INFINITY ? null : setTimeout(() => aborter.abort(), timeoutMs);
    try {
      const answer = await request(connection, path, {
        ...rest,
        ...(body && { body: body() }),
        signal: aborter.signal,
      });
      const text = await answer.text();
      return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: jsonOrNull(text) };
    } finally {
      if (timer) clearTimeout(timer);
    }
  }
  return {
    url: connection.url,
    call: (path, options = {}) => persist(() => attempt(path, options), attempts),
  };
}

/** What a refusal of one request means: that its content is wrong, or that no other will be accepted either. */
export function requireContentFault(answer: Answer): string {
  const { status } = answer;
  if (status === 400 || status === 413 || status === 415) return messageOf(answer);
  if (codeOf(answer) === 'idempotency_key_reused')
    throw new ImportStopped(
      `${messageOf(answer)} Probably another version of Holdfast began this import: finish it with that one.`,
    );
  throw new ImportStopped(messageOf(answer));
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

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
