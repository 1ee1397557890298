/** Calls the public API, with the session cookie and in the chosen workspace. */
import { askToConfirm } from './confirmation.ts';
import { sessionEnded } from './session-end.ts';
import { chosenWorkspace } from './workspace.ts';

/** An error response, with the message of the service. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly docUrl: string | null;
  /** As the service said it. */
  readonly retryAfter: string | null;

  constructor(
    status: number,
    { message, errorCode, docUrl }: Partial<ErrorBody>,
    retryAfter: string | null = null,
  ) {
    super(message ?? `The service answered with status ${status}.`);
    this.name = 'ApiError';
    this.status = status;
    this.code = errorCode ?? 'unknown';
    this.docUrl = docUrl ?? null;
    this.retryAfter = retryAfter;
  }
}

interface ErrorBody {
  message: string;
  errorCode: string;
  docUrl: string;
}

export interface CallOptions {
  /** Sent as JSON, except FormData and Blob, which are sent as they are. */
  body?: unknown;
  query?: Record<string, string | number | undefined>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** `path` below /api-v1. */
export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const { json } = await callWhole<T>(method, path, options);
  return json;
}

export interface Page<T> {
  items: T[];
  /** Cursor of the next page; null on the last page. */
  next: string | null;
}

export async function callPage<T>(path: string, options: CallOptions = {}): Promise<Page<T>> {
  const { json, response } = await callWhole<T[]>('GET', path, options);
  return { items: json, next: response.headers.get('x-next-cursor') };
}

/** If the change needs a fresh proof of who is there, asks for it in place and sends the same request again. */
export async function callWhole<T>(
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<{ json: T; response: Response }> {
  return confirming(() => callOnce<T>(method, path, options));
}

/** A change that needs a fresh proof of who is there: asks for it in place, and sends the same request again. */
export async function confirming<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'step_up_required') throw error;
    if (!(await askToConfirm())) throw error;
    return send();
  }
}

async function callOnce<T>(
  method: string,
  path: string,
  { body, query = {}, headers = {}, signal }: CallOptions,
): Promise<{ json: T; response: Response }> {
  const asIs = body instanceof FormData || body instanceof Blob;
  const response = await fetch(apiUrl(path, query), {
    method,
    credentials: 'same-origin',
    headers: {
      accept: 'application/json',
      ...workspaceHeaders(),
      ...(body !== undefined && !asIs && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: asIs ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw unreachable();
  });
  const text = await response.text();
  const json = parse(text);
  if (!response.ok) throw refusal(response.status, json, response.headers.get('retry-after'));
  return { json: json as T, response };
}

/** The error for a refused request; without a session, the user is asked to sign in again. */
export function refusal(status: number, json: unknown, retryAfter: string | null = null): ApiError {
  if (status !== 401) return new ApiError(status, (json ?? {}) as Partial<ErrorBody>, retryAfter);
  sessionEnded();
  return new ApiError(status, {
    message: 'Your session has ended. Sign in again, then try again.',
    errorCode: 'unauthorized',
  });
}

export function apiUrl(path: string, query: CallOptions['query'] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `/api-v1${path}${search === '' ? '' : `?${search}`}`;
}

export function workspaceHeaders(): Record<string, string> {
  const workspace = chosenWorkspace();
  return workspace === null ? {} : { 'x-workspace-id': workspace };
}

/** Routes below /auth: signing in and related steps. */
export function callAuth<T>(path: string, body: unknown = {}): Promise<T> {
  return confirming(() => callAuthOnce<T>(path, body));
}

async function callAuthOnce<T>(path: string, body: unknown): Promise<T> {
  const response = await fetch(`/auth/${path}`, {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => {
    throw unreachable();
  });
  const json = parse(await response.text());
  if (!response.ok) throw new ApiError(response.status, (json ?? {}) as Partial<ErrorBody>);
  return json as T;
}

function unreachable(): ApiError {
  return new ApiError(0, {
    message: 'The service is not responding. Check that it is running.',
    errorCode: 'unreachable',
  });
}

function parse(text: string): unknown {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
