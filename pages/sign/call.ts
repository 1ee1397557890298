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

/** `path` below /api-v1. */
export async function call<T>(path: string, body: object): Promise<T> {
  const response = await callFor(path, body);
  return (await response.json()) as T;
}

/** Throws for answers that are not a success. */
export async function callFor(path: string, body: object): Promise<Response> {
  const response = await fetch(`/api-v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
  }).catch(() => {
    throw new CallError('There is no connection to the service. Try again.', { status: 0, code: 'offline' });
  });
  if (response.ok) return response;
  const json = await response.json().catch(() => ({}));
  const { message, errorCode } = json as { message?: string; errorCode?: string };
  throw new CallError(message ?? `The service answered with status ${response.status}.`, {
    status: response.status,
    code: errorCode ?? 'unknown',
  });
}
