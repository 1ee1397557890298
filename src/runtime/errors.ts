/** The errors a caller can cause or meet: one table of code, status and meaning. */

export interface ErrorKind {
  status: number;
  /** In few words, for the table in docs. */
  when: string;
  /** What to do before the request is sent again; `no`: it is of no use. */
  retry: string;
  /** One or two sentences for the error page: what happened and what to do about it. */
  meaning: string;
}

export const errorKinds = {
  invalid_request: {
    status: 400,
    when: 'body, query, path or header does not fit its schema',
    retry: 'after correcting it',
    meaning:
      'The body, the query or the path does not fit its schema. The message names the field. Correct it and send the request again; nothing was stored.',
  },
  invalid_address: {
    status: 400,
    when: 'not 0x and 40 hexadecimal digits, or a wrong EIP-55 checksum',
    retry: 'after correcting it',
    meaning:
      'An address is 0x followed by 40 hexadecimal digits: all lower case, all upper case, or mixed case with a correct EIP-55 checksum.',
  },
  invalid_date_range: {
    status: 400,
    when: 'not a calendar day, or the first day is after the last',
    retry: 'after correcting it',
    meaning: 'A date is a calendar day written YYYY-MM-DD, and initialDate is not after finalDate.',
  },
  invalid_cursor: {
    status: 400,
    when: 'not ours, changed, of another list or other filters, or from before a restore',
    retry: 'without a cursor',
    meaning:
      'A cursor is taken unchanged from X-Next-Cursor of the page before, and used with the same filters. One of the event feed ends when the service is restored from a backup; the message says so. Start again without a cursor.',
  },
  unauthorized: {
    status: 401,
    when: 'the API key or session is missing or no longer good',
    retry: 'with a good key',
    meaning:
      'There is neither a valid API key nor a session: the x-api-key header is missing, malformed, revoked or expired, and nobody is signed in. Send a valid key, which an operator makes with "holdfast keys create", or sign in.',
  },
  forbidden: {
    status: 403,
    when: 'the API key lacks the scope, or the person the role',
    retry: 'with a key that has the scope',
    meaning:
      'The caller is known but may not do this: the API key lacks the scope, the role of the person is too low, or a change with a session did not come from a page of this service. The message says which.',
  },
  budget_exceeded: {
    status: 403,
    when: 'the workspace has as much of something as it may; see [Budgets](#budgets)',
    retry: 'after giving something back',
    meaning:
      'The workspace has as much of something as it may have. The message and the X-Budget header name the budget; GET /platform/usage tells all of them. Give something back, wait where the budget is of a day, or ask whoever runs the installation for more.',
  },
  viewer_not_allowed: {
    status: 403,
    when: '`viewerAddress` may not see this asset',
    retry: 'after it is made a viewer',
    meaning: 'The viewerAddress may not see this asset. Its owner can grant access.',
  },
  resource_not_found: {
    status: 404,
    when: 'no such route, or no such thing in this workspace',
    retry: 'no',
    meaning: 'There is no such route, or no such thing in the workspace of this API key.',
  },
  method_not_allowed: {
    status: 405,
    when: 'the path exists, but not for this method; see `Allow`',
    retry: 'no',
    meaning: 'The path exists, but not for this method. The Allow header lists the methods it takes.',
  },
  request_timeout: {
    status: 408,
    when: 'the whole request did not arrive in time',
    retry: 'yes',
    meaning: 'The whole request did not arrive in time. Send it again, faster, or in smaller parts.',
  },
  conflict: {
    status: 409,
    when: 'the present state does not allow it; the message says what is in the way',
    retry: 'after mending that',
    meaning: 'The present state of the thing does not allow this. The message says what is in the way.',
  },
  vault_deactivated: {
    status: 409,
    when: 'the vault takes nothing new',
    retry: 'after reactivating it',
    meaning: 'The vault is deactivated and takes nothing new. Reactivate it first, or use another vault.',
  },
  idempotency_in_progress: {
    status: 409,
    when: 'the first request with this `Idempotency-Key` still runs',
    retry: 'same request, after `Retry-After`',
    meaning:
      'The first request with this Idempotency-Key is still running. Wait a moment and send the same request again to get its answer.',
  },
  precondition_failed: {
    status: 412,
    when: 'somebody changed it since the version that `If-Match` names',
    retry: 'after reading it again',
    meaning:
      'Somebody else changed the thing since the version that If-Match names. Read it again, and send the change with the new ETag if you still want it; nothing was changed.',
  },
  payload_too_large: {
    status: 413,
    when: 'the body is larger than the route takes',
    retry: 'smaller',
    meaning: 'The request body is larger than this route accepts. The message gives the limit.',
  },
  unsupported_media_type: {
    status: 415,
    when: 'neither JSON nor, where a file is taken, a form; compressed; or not UTF-8',
    retry: 'with the right type',
    meaning:
      'Send the body as UTF-8 with Content-Type: application/json, uncompressed; routes that take a file also take multipart/form-data.',
  },
  range_not_satisfiable: {
    status: 416,
    when: 'the `Range` header asks for bytes behind the end',
    retry: 'with a range within it',
    meaning:
      'The Range header asks for bytes behind the end of the content. Content-Range gives its size; ask for a part of it.',
  },
  idempotency_key_reused: {
    status: 422,
    when: 'this `Idempotency-Key` came with another payload before',
    retry: 'with a new key',
    meaning:
      'This Idempotency-Key was used with another payload during the last 24 hours. Use a new key for a new request.',
  },
  rate_limit_exceeded: {
    status: 429,
    when: 'too many requests',
    retry: 'after `Retry-After`',
    meaning: 'Too many requests. Wait as many seconds as the Retry-After header says.',
  },
  rate_limited: {
    status: 429,
    when: 'too many requests of the workspace as a whole',
    retry: 'after `Retry-After`',
    meaning:
      'The workspace sends more requests in a minute than its budget allows, with all its keys and people together. Wait as many seconds as the Retry-After header says.',
  },
  headers_too_large: {
    status: 431,
    when: 'request line and headers together are larger than 16 KiB',
    retry: 'with shorter ones',
    meaning: 'The request line and headers together are larger than 16 KiB. Send fewer or shorter ones.',
  },
  internal_error: {
    status: 500,
    when: 'a fault of the service, logged under the request id',
    retry: 'same request',
    meaning:
      'The service met a fault of its own; the log has it under the X-Request-Id of the answer. Retrying with the same Idempotency-Key is safe.',
  },
  service_unavailable: {
    status: 503,
    when: 'the database, blob store or chain is away, the master key was just rotated, or too many documents are being made',
    retry: 'same request, after `Retry-After`',
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
