/** Calls of the API with the token of the link; it never is in an address, and no cookie is sent. */
import type { components } from '../../clients/typescript/src/openapi-types.ts';

export type Schemas = components['schemas'];

/** Says in a sentence what is wrong; `offline` if the service was not reached. */
export class CallError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(message: string, { status, code }: { status: number; code: string }) {
    super(message);
    this.name = 'CallError';
    this.status = status;
    this.code = code;
  }
}

/** Networks in hangars often hang. */
const usualTimeoutMs = 20_000;

/** `path` below /api-v1. */
export async function call<T>(path: string, body: object, timeoutMs = usualTimeoutMs): Promise<T> {
  const response = await callFor(path, body, timeoutMs);
  return (await response.json().catch(() => {
    throw unreached();
  })) as T;
}

/** Throws for answers that are not a success. */
export async function callFor(path: string, body: object, timeoutMs = usualTimeoutMs): Promise<Response> {
  const response = await fetch(`/api-v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(() => {
    throw unreached();
  });
  if (response.ok) return response;
  const json = await response.json().catch(() => ({}));
  const { message, errorCode } = json as { message?: string; errorCode?: string };
  throw new CallError(message ?? `The service answered with status ${response.status}.`, {
    status: response.status,
    code: errorCode ?? 'unknown',
  });
}

function unreached(): CallError {
  return new CallError('There is no connection to the service. Try again.', { status: 0, code: 'offline' });
}
