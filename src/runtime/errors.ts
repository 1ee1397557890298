/** The errors of the API: one table of code, status and meaning. */

export interface ErrorKind {
  status: number;
  /** A short phrase for the table in docs. */
  when: string;
  /** What to do before sending the request again; `no`: a retry is pointless. */
  retry: string;
  /** One or two sentences for the error page: what happened and what to do about it. */
  meaning: string;
}

export const errorKinds = {
  invalid_request: {
    status: 400,
    when: 'the body, query, path or a header does not match its schema',
    retry: 'after correcting it',
    meaning:
      'The body, query, path or a header does not match its schema. The message names the field. Correct it and send the request again; nothing was stored.',
  },
  invalid_address: {
    status: 400,
    when: 'not 0x followed by 40 hexadecimal digits, or a wrong EIP-55 checksum',
    retry: 'after correcting it',
    meaning:
      'An address is 0x followed by 40 hexadecimal digits: all lower case, all upper case, or mixed case with a correct EIP-55 checksum.',
  },
  invalid_date_range: {
    status: 400,
    when: 'not a calendar day, or the first day is after the last',
    retry: 'after correcting it',
    meaning: 'Write dates as calendar days, YYYY-MM-DD. initialDate must not be after finalDate.',
  },
  scope_not_accepted: {
    status: 400,
    when: 'an entry names its own licence scope in `data.scope`',
    retry: 'without it',
    meaning:
      'Which licence the work needs follows from its type, or from a rule of the asset, not from the author of the entry. Leave data.scope out.',
  },
  invalid_cursor: {
    status: 400,
    when: 'the cursor was changed, belongs to another list or other filters, or is from before a restore',
    retry: 'without a cursor',
    meaning:
      'Pass X-Next-Cursor of the previous page unchanged, with the same filters. Cursors of the event feed become invalid when the service is restored from a backup; the message says so. Start again without a cursor.',
  },
  password_leaked: {
    status: 400,
    when: 'the chosen password was published in a data breach',
    retry: 'with another password',
    meaning:
      'The chosen password is in a list of passwords from data breaches, which attackers try first. Choose another one, such as several unrelated words, and change it wherever else you use it. The list is kept by this service; the password was sent nowhere.',
  },
  unauthorized: {
    status: 401,
    when: 'the API key or session is missing, invalid or expired',
    retry: 'with a valid key',
    meaning:
      'There is neither a valid API key nor a session: the x-api-key header is missing, or its key is malformed, unknown, revoked or expired, and nobody is signed in. Send a valid key, which an operator can create with "holdfast keys create", or sign in.',
  },
  forbidden: {
    status: 403,
    when: 'the API key lacks the scope, or the person lacks the role',
    retry: 'with a key that has the scope',
    meaning:
      'The caller is known but may not do this: the API key lacks the scope, the role of the person is too low, or a change made with a session did not come from a page of this service. The message says which.',
  },
  step_up_required: {
    status: 403,
    when: 'the session has not been confirmed for ten minutes, and this needs a fresh confirmation',
    retry: 'after confirming who you are',
    meaning:
      'This change needs a session in which the person has proved within the last ten minutes who they are. Confirm with a passkey, a two-factor code, the identity provider or, without any of these, the password (POST /auth/confirm/password), or sign in again, and send the same request again. The dashboard asks and repeats the request by itself. Nothing was changed. API keys are not affected.',
  },
  second_factor_required: {
    status: 403,
    when: 'the workspace requires a second factor, and the session has none',
    retry: 'after using a second factor',
    meaning:
      'This workspace accepts only sessions with a second factor. Set up a passkey or two-factor codes under Settings and confirm with it, or sign in with it. API keys are not affected.',
  },
  budget_exceeded: {
    status: 403,
    when: 'the workspace has reached one of its budgets; see [Budgets](#budgets)',
    retry: 'after freeing some of it',
    meaning:
      'The workspace has reached one of its budgets. The message and the X-Budget header name the budget; GET /platform/usage lists all of them. Free some of it, wait until the next day if it is a daily budget, or ask the operator to raise it.',
  },
  not_the_signer: {
    status: 403,
    when: 'the person who is signed in is not the worker who is to sign',
    retry: 'as that worker',
    meaning:
      'The service holds the key of this worker and uses it only in the session of the person whom the worker is. An admin binds a person to a worker. Sign in as that person, or use an API key with the scope signoffs:on-behalf, which says so in the sign-off.',
  },
  second_person_required: {
    status: 403,
    when: 'somebody else than the person who asked for it, or whom it is about, must do this',
    retry: 'as somebody else',
    meaning:
      'This takes two people: somebody else than the one who began it, and than the one whom it is about, must do it while signed in.',
  },
  passkey_required: {
    status: 403,
    when: 'the worker signs with a passkey, and none was used',
    retry: 'with the assertion of the passkey',
    meaning:
      'The worker has registered a passkey, so nobody else can sign for them: no API key, no session, and not the service. Get the request for the sign-off, have the worker sign it with the passkey, and send the assertion.',
  },
  passkey_unknown: {
    status: 403,
    when: 'the passkey is not one of this worker',
    retry: 'with a passkey of the worker',
    meaning: 'The worker has not registered this passkey. It may be the one of another worker.',
  },
  passkey_unconfirmed: {
    status: 403,
    when: 'nobody has confirmed yet whose passkey it is, or its worker has not signed that',
    retry: 'once that is done',
    meaning:
      'The passkey was registered, but a second person has not confirmed yet who did that, or the worker has not signed yet that it is theirs.',
  },
  passkey_revoked: {
    status: 403,
    when: 'the passkey was revoked',
    retry: 'with another passkey of the worker',
    meaning:
      'The passkey was revoked and signs nothing any more. The worker signs with another one that they have. Without one, nothing signs for this address again: create a new worker for them.',
  },
  passkey_counter: {
    status: 403,
    when: 'the counter of the passkey does not rise in the order of signing, as with a copy of it',
    retry: 'no',
    meaning:
      'Passkeys that count their signatures count upwards, in the order in which they were made. This one did not, so it may have been copied. If in doubt, revoke it and invite the worker to register another one.',
  },
  assertion_mismatch: {
    status: 403,
    when: 'the passkey signed something else',
    retry: 'with an assertion for this sign-off',
    meaning:
      'The assertion is for another sign-off: another entry, role, worker, licence or time. Get the request for this sign-off and have that signed.',
  },
  assertion_origin: {
    status: 403,
    when: 'the assertion was made on a page of another site',
    retry: 'on a page of this service',
    meaning:
      'The assertion was made on a page of another address than this service has. The worker may have been led to a copy of it.',
  },
  user_verification_missing: {
    status: 403,
    when: 'the passkey did not verify its user',
    retry: 'with PIN, finger or face',
    meaning:
      'The assertion does not say that the passkey verified its user. A sign-off needs that: by PIN, finger or face.',
  },
  assertion_invalid: {
    status: 403,
    when: 'the assertion is malformed, or not signed by the passkey',
    retry: 'no',
    meaning: 'The assertion is malformed, or its signature is not that of the passkey.',
  },
  assertion_replayed: {
    status: 409,
    when: 'this assertion was used before',
    retry: 'no',
    meaning: 'This very assertion was used for a sign-off before. Each sign-off needs one of its own.',
  },
  viewer_not_allowed: {
    status: 403,
    when: '`viewerAddress` may not see this asset',
    retry: 'after access is granted',
    meaning: 'The viewerAddress may not see this asset. Its owner can grant access.',
  },
  resource_not_found: {
    status: 404,
    when: 'no such route, or no such resource in this workspace',
    retry: 'no',
    meaning: 'There is no such route, or no such resource in the workspace of this API key.',
  },
  method_not_allowed: {
    status: 405,
    when: 'the path does not support this method; see `Allow`',
    retry: 'no',
    meaning:
      'The path exists, but does not support this method. The Allow header lists the methods it supports.',
  },
  request_timeout: {
    status: 408,
    when: 'the complete request did not arrive in time',
    retry: 'yes',
    meaning:
      'The complete request did not arrive in time. Send it again over a faster connection, or send less at once.',
  },
  conflict: {
    status: 409,
    when: 'the current state does not allow it; the message says why',
    retry: 'after resolving that',
    meaning: 'The current state of the resource does not allow this. The message says why.',
  },
  on_hold: {
    status: 409,
    when: 'a legal hold or a release forbids to erase it',
    retry: 'after the hold is released',
    meaning:
      'A legal hold is placed on the record, the file or the vault, so nothing of it may be erased. The message names what is held and why. Whoever may do so releases the hold with PUT /platform/holds. A file that is attached to a certified maintenance entry is held by that release, until a certified correction takes its place.',
  },
  signers_key_required: {
    status: 409,
    when: 'in this workspace the role needs a passkey or a key of the worker’s own',
    retry: 'once the worker has one',
    meaning:
      'The workspace requires a passkey, or a key that the worker holds, for sign-offs in this role. The service does not sign for workers there. Invite the worker to register a passkey.',
  },
  same_person: {
    status: 409,
    when: 'the worker is another record of somebody who may not sign here',
    retry: 'by another person',
    meaning:
      'Workers who are the same member, have or had the same licence, or were said to be one, are one person. That person did the work, or has already signed in this role, under another worker record. Somebody else has to sign.',
  },
  same_licence: {
    status: 409,
    when: 'somebody who did the work has, had or used the same licence',
    retry: 'by another person',
    meaning:
      'A licence of the worker, with the same issuer and number however they are written, is or was one of somebody who did the work. Somebody else has to sign.',
  },
  performer_of_corrected: {
    status: 409,
    when: 'the worker did the work of an entry that this one corrects',
    retry: 'by another person',
    meaning:
      'Whoever did the work of an entry can neither inspect nor certify its corrections, whoever recorded them. Somebody else has to sign.',
  },
  licence_required: {
    status: 409,
    when: 'the worker has no licence, and the sign-off needs one',
    retry: 'with a licence',
    meaning: 'Inspecting and certifying need a licence. The worker has none.',
  },
  licence_out_of_scope: {
    status: 409,
    when: 'no licence of the worker has the scope and category that the work needs',
    retry: 'with another licence',
    meaning:
      'Which licence the work needs follows from its type, or from a rule of the asset. The message names the scope and the category.',
  },
  licence_expired: {
    status: 409,
    when: 'the licence has expired',
    retry: 'once it is renewed',
    meaning: 'The licence of the worker has expired. A signature that states an earlier time does not help.',
  },
  licence_suspended: {
    status: 409,
    when: 'the licence is suspended',
    retry: 'once it is not',
    meaning: 'The licence of the worker is suspended, so nothing can be signed with it.',
  },
  licence_not_yet_valid: {
    status: 409,
    when: 'the licence is not valid yet',
    retry: 'once it is',
    meaning: 'The licence of the worker becomes valid only later.',
  },
  inspection_required: {
    status: 409,
    when: 'the work is critical, and nobody has inspected it',
    retry: 'after an inspection',
    meaning:
      'A rule says that this work is critical: somebody who did not perform it has to inspect it before somebody else certifies it.',
  },
  inspector_not_independent: {
    status: 409,
    when: 'the work is critical, and this person inspected it',
    retry: 'by another person',
    meaning: 'Critical work is certified by somebody who did not inspect it.',
  },
  vault_deactivated: {
    status: 409,
    when: 'the vault is deactivated and accepts nothing new',
    retry: 'after reactivating it',
    meaning: 'The vault is deactivated and accepts nothing new. Reactivate it first, or use another vault.',
  },
  idempotency_in_progress: {
    status: 409,
    when: 'the first request with this `Idempotency-Key` is still running',
    retry: 'same request, after `Retry-After`',
    meaning:
      'The first request with this Idempotency-Key is still running. Wait a moment and send the same request again to get its response.',
  },
  precondition_failed: {
    status: 412,
    when: 'the resource has changed since the version in `If-Match`',
    retry: 'after reading it again',
    meaning:
      'Somebody else has changed the resource since the version in If-Match. Your request changed nothing. Read the resource again and, if you still want the change, send it with the new ETag.',
  },
  payload_too_large: {
    status: 413,
    when: 'the body is larger than the route accepts',
    retry: 'with a smaller body',
    meaning: 'The request body is larger than this route accepts. The message gives the limit.',
  },
  unsupported_media_type: {
    status: 415,
    when: 'the body is not JSON (or a form, where a file is accepted), is compressed, or is not UTF-8',
    retry: 'with the right type',
    meaning:
      'Send the body as UTF-8 with Content-Type: application/json, uncompressed; routes that accept a file also accept multipart/form-data.',
  },
  range_not_satisfiable: {
    status: 416,
    when: 'the `Range` header asks for bytes beyond the end',
    retry: 'with a range inside the content',
    meaning:
      'The Range header asks for bytes beyond the end of the content. Content-Range gives the size; ask for a range inside it.',
  },
  idempotency_key_reused: {
    status: 422,
    when: 'this `Idempotency-Key` was already used with another payload',
    retry: 'with a new key',
    meaning:
      'This Idempotency-Key was used with another payload during the last 24 hours. Use a new key for a new request.',
  },
  rate_limit_exceeded: {
    status: 429,
    when: 'too many requests',
    retry: 'after `Retry-After`',
    meaning: 'Too many requests. Wait for the number of seconds in the Retry-After header.',
  },
  rate_limited: {
    status: 429,
    when: 'too many requests from the workspace as a whole',
    retry: 'after `Retry-After`',
    meaning:
      'All keys and people of the workspace together sent more requests in a minute than its budget allows. Wait for the number of seconds in the Retry-After header.',
  },
  headers_too_large: {
    status: 431,
    when: 'the request line and headers together exceed 16 KiB',
    retry: 'with fewer or shorter headers',
    meaning: 'The request line and headers together exceed 16 KiB. Send fewer or shorter headers.',
  },
  internal_error: {
    status: 500,
    when: 'an error in the service, logged under the request id',
    retry: 'same request',
    meaning:
      'An internal error occurred. It is logged under the X-Request-Id of the response. Retrying with the same Idempotency-Key is safe.',
  },
  service_unavailable: {
    status: 503,
    when: 'the database, blob store or chain is unavailable, the master key was just rotated, or too many documents are being generated',
    retry: 'same request, after `Retry-After`',
    meaning:
      'The service cannot reach its database, its blob store or, if the request needs it, its chain; it is generating too many proofs or documents, or one took too long; or it is shutting down. Retry after the number of seconds in Retry-After, with the same Idempotency-Key.',
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

/** A reason not to start or continue that an operator can fix; printed without a stack. */
export class OperatorError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'OperatorError';
  }
}
