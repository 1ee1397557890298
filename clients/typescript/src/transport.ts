/** Sends operations: fills in path, query and body, makes the idempotency key, and tries again after failures. */
import { ConnectionError, HoldfastError } from './holdfast-error.ts';
import type { CallOptions, Operation } from './operation-types.ts';
import { readError } from './read-error.ts';
import { pause, pauseBefore } from './retry.ts';
import { createUpload, type FileToSend, randomHex, type Upload } from './upload.ts';

export interface ClientOptions {
  /** Such as https://holdfast.example.org. */
  baseUrl: string;
  apiKey?: string | undefined;
  /** Sent with every request. */
  headers?: Record<string, string>;
  /** How often to try again after a failure; by default 5. */
  retries?: number;
  /** For each attempt; by default 60 s. */
  timeoutMs?: number;
  /** Instead of the global one. */
  fetch?: typeof fetch;
}

export interface Answer {
  data: unknown;
  response: Response;
  /** Of the next page; null if there is none. */
  nextCursor: string | null;
}

export type Arguments = Record<string, unknown>;

export type Send = (operation: Operation, args?: Arguments, options?: CallOptions) => Promise<Answer>;

interface Prepared {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
  upload: Upload | null;
}

const usualRetries = 5;
const usualTimeoutMs = 60_000;

export function createTransport(client: ClientOptions): Send {
  const base = client.baseUrl.replace(/\/+$/, '');
  const fetcher = client.fetch ?? ((...args: Parameters<typeof fetch>) => fetch(...args));

  function prepare(operation: Operation, args: Arguments, options: CallOptions): Prepared {
    const { path, query, body } = distribute(operation, args);
    const { file, ...fields } = body;
    const upload =
      file === undefined
        ? null
        : createUpload(fields, file as FileToSend, { fetcher, onProgress: options.onProgress });
    const hasBody = operation.takesBody === true;
    const key = operation.takesKey ? (options.idempotencyKey ?? randomHex(16)) : null;
    return {
      url: `${base}${path}${query}`,
      method: operation.method,
      upload,
      body: hasBody && upload === null ? JSON.stringify(body) : null,
      headers: {
        ...(client.apiKey !== undefined && { 'x-api-key': client.apiKey }),
        ...(upload && { 'content-type': upload.contentType }),
        ...(hasBody && !upload && { 'content-type': 'application/json' }),
        ...(key !== null && { 'idempotency-key': key }),
        ...(options.ifMatch !== undefined && { 'if-match': options.ifMatch }),
        ...client.headers,
        ...options.headers,
      },
    };
  }

  /** One attempt. Its deadline covers the whole answer, except of downloads and uploads. */
  async function attempt(operation: Operation, prepared: Prepared, options: CallOptions): Promise<Answer> {
    const { url, method, headers, body, upload } = prepared;
    const isLong = operation.isRaw === true || upload !== null;
    const timeoutMs = options.timeoutMs ?? (isLong ? undefined : (client.timeoutMs ?? usualTimeoutMs));
    const signals = [options.signal, timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)];
    const given = signals.filter((signal) => signal !== undefined);
    const request: RequestInit = {
      method,
      headers,
      // A redirect to another host would be sent the API key.
      redirect: 'error',
      ...(given.length > 0 && { signal: AbortSignal.any(given) }),
    };
    const idempotencyKey = headers['idempotency-key'] ?? null;
    const opened = await upload?.open();
    const exchange = async (): Promise<Answer> => {
      const response = await (upload && opened
        ? upload.send(opened, url, request)
        : fetcher(url, { ...request, ...(body !== null && { body }) }));
      if (!response.ok && response.status !== 304) throw await readError(response, idempotencyKey);
      const data = operation.isRaw ? response : await readBody(response);
      return { data, response, nextCursor: response.headers.get('x-next-cursor') };
    };
    return exchange().catch((cause: unknown) => {
      if (cause instanceof HoldfastError) throw cause;
      if (options.signal?.aborted) throw options.signal.reason;
      throw new ConnectionError(reasonOf(cause, url), { cause, idempotencyKey });
    });
  }

  return async (operation, args = {}, options = {}) => {
    const prepared = prepare(operation, args, options);
    // Whether a service is ready is what these ask: an answer that says no is not asked again.
    const isAboutHealth = !operation.path.startsWith('/api-v1/');
    const retries = options.retries ?? (isAboutHealth ? 0 : (client.retries ?? usualRetries));
    const canSendAgain = prepared.upload?.isRepeatable !== false;
    const isRepeatable = operation.isRepeatable === true && options.ifMatch === undefined;
    for (let tried = 0; ; tried += 1) {
      try {
        const answer = await attempt(operation, prepared, options);
        options.onResponse?.(answer.response);
        return answer;
      } catch (error) {
        const ms = canSendAgain && tried < retries ? pauseBefore(error, tried, isRepeatable) : null;
        if (ms === null) throw error;
        await pause(ms, options.signal);
      }
    }
  };
}

/** Each argument belongs into the path, the query or the body. */
function distribute({ method, path, query, takesBody }: Operation, args: Arguments) {
  const inPath = new Set(Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name));
  const search = new URLSearchParams();
  const body: Arguments = {};
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined || inPath.has(name)) continue;
    if (query.includes(name)) search.append(name, String(value));
    else if (takesBody) body[name] = value;
    else throw new TypeError(`${method} ${path} takes no ${name}.`);
  }
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = args[name];
    // An empty name would make the path that of another operation, and so would dots.
    if (value === undefined || value === null || /^\.{0,2}$/.test(String(value))) {
      throw new TypeError(`${method} ${path} needs ${name}.`);
    }
    return encodeURIComponent(String(value));
  });
  return { path: filled, query: search.size === 0 ? '' : `?${search}`, body };
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return undefined;
  return /json/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text;
}

/** What fetch throws differs from one runtime to the next, and says little. */
function reasonOf(cause: unknown, url: string): string {
  const { host } = new URL(url);
  const { name } = Object(cause) as { name?: string };
  if (name === 'TimeoutError') return `${host} did not answer in time.`;
  if (name === 'SyntaxError') return `${host} sent an answer that is not JSON.`;
  return `${host} cannot be reached, or the connection broke.`;
}
