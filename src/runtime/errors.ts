/** The errors a caller can cause or meet: one table of code, status and meaning. */

export interface ErrorKind {
  status: number;
  /** One or two sentences for the error page: what happened and what to do about it. */
  meaning: string;
}

export const errorKinds = {
  invalid_request: {
    status: 400,
    meaning:
      'The body, the query or the path does not fit its schema. The message names the field. Correct it and send the request again; nothing was stored.',
  },
  invalid_address: {
    status: 400,
    meaning:
      'An address is 0x followed by 40 hexadecimal digits: all lower case, all upper case, or mixed case with a correct EIP-55 checksum.',
  },
  invalid_date_range: {
    status: 400,
    meaning: 'A date is a calendar day written YYYY-MM-DD, and initialDate is not after finalDate.',
  },
  invalid_cursor: {
    status: 400,
    meaning:
      'A cursor is taken unchanged from X-Next-Cursor of the page before, and used with the same filters. One of the event feed ends when the service is restored from a backup; the message says so. Start again without a cursor.',
  },
  unauthorized: {
    status: 401,
    meaning:
      'There is neither a valid API key nor a session: the x-api-key header is missing, malformed, revoked or expired, and nobody is signed in. Send a valid key, which an operator makes with "holdfast keys create", or sign in.',
  },
  forbidden: {
    status: 403,
    meaning:
      'The caller is known but may not do this: the API key lacks the scope, the role of the person is too low, or a change with a session did not come from a page of this service. The message says which.',
  },
  budget_exceeded: {
    status: 403,
    meaning:
      'The workspace has as much of something as it may have. The message and the X-Budget header name the budget; GET /platform/usage tells all of them. Give something back, wait where the budget is of a day, or ask whoever runs the installation for more.',
  },
  viewer_not_allowed: {
    status: 403,
    meaning: 'The viewerAddress may not see this asset. Its owner can grant access.',
  },
  resource_not_found: {
    status: 404,
    meaning: 'There is no such route, or no such thing in the workspace of this API key.',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The path exists, but not for this method. The Allow header lists the methods it takes.',
  },
  request_timeout: {
    status: 408,
    meaning: 'The whole request did not arrive in time. Send it again, faster, or in smaller parts.',
  },
  conflict: {
    status: 409,
    meaning: 'The present state of the thing does not allow this. The message says what is in the way.',
  },
  vault_deactivated: {
    status: 409,
    meaning: 'The vault is deactivated and takes nothing new. Reactivate it first, or use another vault.',
  },
  idempotency_in_progress: {
    status: 409,
    meaning:
      'The first request with this Idempotency-Key is still running. Wait a moment and send the same request again to get its answer.',
  },
  precondition_failed: {
    status: 412,
    meaning:
      'Somebody else changed the thing since the version that If-Match names. Read it again, and send the change with the new ETag if you still want it; nothing was changed.',
  },
  payload_too_large: {
    status: 413,
    meaning: 'The request body is larger than this route accepts. The message gives the limit.',
  },
  unsupported_media_type: {
    status: 415,
    meaning:
      'Send the body as UTF-8 with Content-Type: application/json, uncompressed; routes that take a file also take multipart/form-data.',
  },
  range_not_satisfiable: {
    status: 416,
    meaning:
      'The Range header asks for bytes behind the end of the content. Content-Range gives its size; ask for a part of it.',
  },
  idempotency_key_reused: {
    status: 422,
    meaning:
      'This Idempotency-Key was used with another payload during the last 24 hours. Use a new key for a new request.',
  },
  rate_limit_exceeded: {
    status: 429,
    meaning: 'Too many requests. Wait as many seconds as the Retry-After header says.',
  },
  rate_limited: {
    status: 429,
    meaning:
      'The workspace sends more requests in a minute than its budget allows, with all its keys and people together. Wait as many seconds as the Retry-After header says.',
  },
  headers_too_large: {
    status: 431,
    meaning: 'The request line and headers together are larger than 16 KiB. Send fewer or shorter ones.',
  },
  internal_error: {
    status: 500,
    meaning:
      'The service met a fault of its own; the log has it under the X-Request-Id of the answer. Retrying with the same Idempotency-Key is safe.',
  },
  service_unavailable: {
    status: 503,
    meaning:
      'The service cannot reach its database, its blob store or, where the request needs it, its chain just now; it has too many proofs or documents to make at this moment, or one took too long; or it is shutting down. Retry after the seconds in Retry-After, with the same Idempotency-Key.',
  },
} satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorKinds;

export interface AppErrorOptions {
  cause?: unknown;
  /** Seconds until a retry makes sense; sent as Retry-After. */
  retryAfterSeconds?: number;
  /** The budget that is used up; sent as X-Budget. */
  budget?: string;
}

/** A failure with a code from the table above; its message is shown to the caller. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
  readonly budget: string | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.budget = options.budget;
  }
}

/** A reason not to start or not to go on that an operator can mend; printed without a stack. */
export class OperatorError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'OperatorError';
  }
}
