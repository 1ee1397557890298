/** Turns any failure into the one error format: {message, errorCode, docUrl, timestamp}. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DatabaseError } from 'pg';
import { isDatabaseAway, violates } from '../../db/faults.ts';
import { budgetExceeded, isBudgetName } from '../../runtime/budgets.ts';
import { AppError, type ErrorCode, errorKinds } from '../../runtime/errors.ts';
import { hearOut, mostUnwantedBytes } from '../bodies/late-senders.ts';
import { sendNoPage } from './no-page.ts';

export interface ErrorBody {
  message: string;
  errorCode: ErrorCode;
  docUrl: string;
  timestamp: string;
}

/** Correct once the server's address is known; see `derivedUrl` in server.ts. */
export type PublicUrl = () => string;

/** May answer a failed request after all; true when it did. */
export type Rescue = (error: unknown, request: FastifyRequest, reply: FastifyReply) => Promise<boolean>;

export const errorPagePath = '/docs/errors';

export const lateMessage = 'The request did not arrive in time.';

export function replyWithErrors(app: FastifyInstance, publicUrl: PublicUrl, rescue: Rescue): void {
  app.setErrorHandler(async (error, request, reply) => {
    let failure: unknown = error;
    try {
      if (await rescue(error, request, reply)) return reply;
    } catch (another) {
      failure = another;
    }
    return sendError(toAppError(failure, request), failure, { request, reply, publicUrl });
  });
  app.setNotFoundHandler((request, reply) => {
    const error = noRoute(request);
    return sendError(error, error, { request, reply, publicUrl });
  });
}

export function noRoute(request: FastifyRequest): AppError {
  return new AppError(
    'resource_not_found',
    `There is no route ${request.method} ${pathOf(request).slice(0, 200)}.`,
  );
}

/** For faults before routing, such as a path that cannot be decoded. */
export function answerFrameworkError(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: PublicUrl,
): void {
  sendError(toAppError(error, request), error, { request, reply, publicUrl });
}

/** For input that is not valid HTTP: there is no request, so the answer is written to the socket directly. */
export function answerBrokenRequest(
  error: NodeJS.ErrnoException,
  socket: Socket,
  publicUrl: PublicUrl,
): void {
  // Node.js reports an error again for anything that arrives after the answer.
  const isHeardOut = socket.writableEnded && socket.bytesRead <= mostUnwantedBytes;
  if (isHeardOut && error.code !== 'ECONNRESET') return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  hearOut(socket);
  const broken = toBrokenError(error.code);
  const { status } = errorKinds[broken.code];
  const body = JSON.stringify(errorBody(broken, publicUrl));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function toBrokenError(code: string | undefined): AppError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new AppError('request_timeout', lateMessage);
  if (code === 'HPE_HEADER_OVERFLOW')
    return new AppError('headers_too_large', 'The request headers are too large. Send at most 16 KiB.');
  return new AppError('invalid_request', 'This is not a valid HTTP request.');
}

function sendError(
  error: AppError,
  original: unknown,
  { request, reply, publicUrl }: { request: FastifyRequest; reply: FastifyReply; publicUrl: PublicUrl },
): FastifyReply {
  const { status } = errorKinds[error.code];
  if (status >= 500) request.log.error({ requestId: request.id, err: original }, 'request failed');
  // HTTP requires this header. No browser knows the scheme, so none asks for a password.
  if (status === 401) reply.header('www-authenticate', 'ApiKey realm="Holdfast", header="x-api-key"');
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds));
  if (error.budget !== undefined) reply.header('x-budget', error.budget);
  if (request.is404 && wantsPage(request)) return sendNoPage(request, reply);
  const body = errorBody(error, publicUrl);
  // Sent as text, so that the route's response schema does not apply to it.
  if (wantsProblem(request)) {
    const problem = { type: body.docUrl, title: error.code, status, detail: error.message, ...body };
    return reply.code(status).type('application/problem+json').send(JSON.stringify(problem));
  }
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body));
}

function errorBody(error: AppError, publicUrl: PublicUrl): ErrorBody {
  return {
    message: error.message,
    errorCode: error.code,
    docUrl: `${publicUrl()}${errorPagePath}#${error.code}`,
    timestamp: new Date().toISOString(),
  };
}

/** Whether a browser navigates here, rather than a program that wants JSON. */
function wantsPage({ method, headers }: FastifyRequest): boolean {
  return method === 'GET' && /\btext\/html\b/i.test(headers.accept ?? '');
}

function wantsProblem(request: FastifyRequest): boolean {
  return /application\/problem\+json/i.test(request.headers.accept ?? '');
}

/** Fastify's own errors by code; those about media types and sizes get our own wording. */
const frameworkCodes: Record<string, ErrorCode> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
};

function toAppError(error: unknown, request: FastifyRequest): AppError {
  if (error instanceof AppError) return error;
  if (isDatabaseAway(error)) {
    return new AppError(
      'service_unavailable',
      'The database cannot be reached just now. Try again shortly.',
      {
        cause: error,
        retryAfterSeconds: 2,
      },
    );
  }
  if (violates(error, 'secrets_master_version_fkey')) {
    return new AppError('service_unavailable', 'The master key has just been rotated. Try again.', {
      cause: error,
      retryAfterSeconds: 1,
    });
  }
  if (violates(error, 'within_budget')) return overBudget(error as DatabaseError);
  const { code = '', statusCode = 500, message = '' } = error as Partial<FastifyError>;
  const known = frameworkCodes[code];
  if (known === 'unsupported_media_type') {
    const form = request.routeOptions.config.upload ? ' or multipart/form-data' : '';
    return new AppError(known, `Send the body with Content-Type: application/json${form}.`, { cause: error });
  }
  if (known === 'payload_too_large') {
    const limit = request.routeOptions.bodyLimit ?? 0;
    return new AppError(known, `The body is larger than the ${limit} bytes this route accepts.`, {
      cause: error,
    });
  }
  if (statusCode >= 400 && statusCode < 500)
    return new AppError('invalid_request', message, { cause: error });
  return new AppError(
    'internal_error',
    'An internal error occurred. It was logged under the X-Request-Id of this response.',
    {
      cause: error,
    },
  );
}

/** Raised by the triggers that count usage; the detail has the budget's name, its limit and the workspace. */
function overBudget(error: DatabaseError): AppError {
  const [name = '', limit] = (error.detail ?? '').split(' ');
  if (!isBudgetName(name)) throw error;
  return budgetExceeded(name, Number(limit), error);
}

export function pathOf(request: FastifyRequest): string {
  // A fragment is not part of a request, and the router ignores it too.
  const [path = '/'] = request.url.split(/[?#]/, 1);
  return path;
}
