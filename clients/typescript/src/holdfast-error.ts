/** What calls throw: an error that the service answered with, or that no answer came. */

export interface ErrorDetails {
  errorCode: string;
  status: number;
  docUrl: string;
  timestamp: string;
  /** The id of the request in the log of the service. */
  requestId: string | null;
  /** What the service asks to wait. */
  retryAfterMs: number | null;
  /** The budget that was exceeded. */
  budget: string | null;
  /** Repeat the call with this key: what was already created is returned, and not created again. */
  idempotencyKey: string | null;
}

/** The service refused the request, or failed. There is a subclass for each `errorCode`. */
export class HoldfastError extends Error implements ErrorDetails {
  readonly errorCode: string;
  readonly status: number;
  readonly docUrl: string;
  readonly timestamp: string;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  readonly budget: string | null;
  readonly idempotencyKey: string | null;

  constructor(message: string, details: ErrorDetails) {
    super(message);
    this.name = new.target.name;
    this.errorCode = details.errorCode;
    this.status = details.status;
    this.docUrl = details.docUrl;
    this.timestamp = details.timestamp;
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
    this.budget = details.budget;
    this.idempotencyKey = details.idempotencyKey;
  }
}

/** No answer came: the request may have been carried out. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly idempotencyKey: string | null;

  constructor(message: string, { cause, idempotencyKey }: { cause: unknown; idempotencyKey: string | null }) {
    super(message, { cause });
    this.idempotencyKey = idempotencyKey;
  }
}
