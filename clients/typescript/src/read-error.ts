/** Makes an error of an answer that is not a success. */
import { errorClasses } from './error-classes.ts';
import { type ErrorDetails, HoldfastError } from './holdfast-error.ts';

export async function readError(
  response: Response,
  idempotencyKey: string | null,
  now = Date.now(),
): Promise<HoldfastError> {
  const { status, headers } = response;
  const text = await response.text().catch(() => '');
  const body = parsed(text);
  const errorCode = textOr(body.errorCode, '');
  const details: ErrorDetails = {
    errorCode,
    status,
    docUrl: textOr(body.docUrl, ''),
    timestamp: textOr(body.timestamp, ''),
    requestId: headers.get('x-request-id'),
    retryAfterMs: retryAfterOf(headers.get('retry-after'), now),
    budget: headers.get('x-budget'),
    idempotencyKey,
  };
  const message = textOr(body.message, `The service answered with the HTTP status ${status}.`);
  // A newer service may have codes that this client does not know, and a proxy answers without one.
  const known: Record<string, typeof HoldfastError> = errorClasses;
  const Kind = Object.hasOwn(known, errorCode) ? (known[errorCode] ?? HoldfastError) : HoldfastError;
  return new Kind(message, details);
}

/** Seconds, or a date. */
function retryAfterOf(value: string | null, now: number): number | null {
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

function parsed(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback;
}
