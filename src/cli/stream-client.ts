/** Follows the event stream of a service over HTTP: reconnects, and continues after the last event that was handled. */
import { OperatorError } from '../runtime/errors.ts';
import { pause } from '../runtime/loop.ts';
import { explainAnswer, request } from './connection.ts';
import type { Profile } from './profiles.ts';

export interface StreamOptions {
  connection: Profile;
  /** Only this type; undefined: all. */
  type?: string | undefined;
  sinceBeginning: boolean;
  say(line: string): void;
  /** Called once, when the service has told where the stream begins. */
  opened(): void;
  stopping: AbortSignal;
}

/** A service sends something at least every 15 s. */
const silentMs = 45_000;
const firstRetryMs = 1_000;
const mostRetryMs = 30_000;
/** Far more than an envelope has. */
const maxMessageChars = 4_000_000;

interface Message {
  id: string | undefined;
  data: string | undefined;
}

/** Yields envelopes, exactly as they were sent. Ends when stopped; throws when the service refuses, which waiting cannot mend. */
export async function* followStream(options: StreamOptions): AsyncGenerator<string> {
  const { say, stopping } = options;
  let cursor: string | undefined;
  let retryMs = firstRetryMs;
  let away = false;
  let opened = false;
  const isBack = () => {
    if (!opened) options.opened();
    opened = true;
    if (away) say('The service is available again.');
    away = false;
    retryMs = firstRetryMs;
  };
  while (!stopping.aborted) {
    let waitMs: number | undefined;
    try {
      if (cursor === undefined && options.sinceBeginning) {
        const first = await readOldest(options);
        isBack();
        if (first.data !== undefined) yield first.data;
        cursor = first.id;
      }
      for await (const { id, data } of openStream(options, cursor)) {
        isBack();
        if (data !== undefined) yield data;
        // After the event was handled: an interruption meanwhile repeats it instead of losing it.
        cursor = id ?? cursor;
      }
    } catch (error) {
      if (stopping.aborted) return;
      if (!(error instanceof Interrupted)) throw error;
      if (!away) say(`${error.message} Trying again.`);
      away = true;
      waitMs = error.retryAfterMs;
    }
    await pause(waitMs ?? retryMs, stopping);
    retryMs = Math.min(2 * retryMs, mostRetryMs);
  }
}

/** Passes by itself. */
class Interrupted extends Error {
  readonly retryAfterMs: number | undefined;
  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

async function readOldest({ connection, type, stopping }: StreamOptions): Promise<Message> {
  const answer = await ask(connection, `/platform/events?limit=1${ofType('&', type)}`, {
    signal: AbortSignal.any([stopping, AbortSignal.timeout(silentMs)]),
  });
  // The text between the brackets of an array of one is the envelope itself.
  const text = (await readWhole(answer)).slice(1, -1);
  return { id: answer.headers.get('x-next-cursor') ?? undefined, data: text || undefined };
}

const readWhole = (answer: Response) =>
  answer.text().catch((error) => {
    throw interruption(error);
  });

async function* openStream(
  { connection, type, stopping }: StreamOptions,
  cursor: string | undefined,
): AsyncGenerator<Message> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), silentMs);
  try {
    const answer = await ask(connection, `/platform/events/stream${ofType('?', type)}`, {
      signal: AbortSignal.any([stopping, silence.signal]),
      headers: cursor === undefined ? {} : { 'last-event-id': cursor },
    });
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of chunks(answer)) {
      clearTimeout(timer);
      text += decoder.decode(chunk, { stream: true });
      if (text.length > maxMessageChars) throw new OperatorError('The service sent what is no event stream.');
      const messages = text.split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages) yield parseMessage(message);
      // What handles an event may take its time: only waiting for the service counts.
      timer = setTimeout(() => silence.abort(), silentMs);
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

async function* chunks({ body }: Response): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body ?? []) yield chunk;
  } catch (error) {
    throw interruption(error);
  }
}

async function ask(
  connection: Profile,
  path: string,
  options: { signal: AbortSignal; headers?: Record<string, string> },
): Promise<Response> {
  const answer = await request(connection, path, options).catch((error) => {
    throw interruption(error);
  });
  if (answer.ok) return answer;
  const why = await explainAnswer(answer);
  if (answer.status < 500 && answer.status !== 429 && answer.status !== 408) throw new OperatorError(why);
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
  throw new Interrupted(why, seconds > 0 ? Math.min(seconds * 1_000, mostRetryMs) : undefined);
}

function interruption(error: unknown): Interrupted {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === 'AbortError' || name === 'TimeoutError')
    return new Interrupted('The service has sent nothing for 45 s.');
  return new Interrupted(`The service cannot be reached (${cause?.code ?? (cause?.message || message)}).`);
}

const ofType = (mark: '?' | '&', type: string | undefined) =>
  type === undefined ? '' : `${mark}type=${encodeURIComponent(type)}`;

/** https://html.spec.whatwg.org/multipage/server-sent-events.html, as far as the service uses it. */
function parseMessage(text: string): Message {
  const message: Message = { id: undefined, data: undefined };
  for (const line of text.split('\n')) {
    if (line.startsWith('id: ')) message.id = line.slice('id: '.length);
    if (line.startsWith('data: ')) message.data = line.slice('data: '.length);
  }
  return message;
}
