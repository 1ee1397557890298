/** Classifies database errors in one place: is the database unavailable, or did one statement fail? */
import { DatabaseError } from 'pg';

const connectionErrorCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Of a UNIX socket: its server is stopped, or its backlog is full. Other calls have these codes for other reasons. */
const socketErrorCodes = new Set(['ENOENT', 'EAGAIN']);

/**
 * Server states that pass by themselves: connection exceptions (08), shutting down or starting (57P),
 * out of connections, memory or disk (53), a server that takes no writes (25006), as during a failover.
 */
const awayStates = /^(08|57P|53|28|3D000|55000|25006)/;

// The messages of pg itself when a socket closes or no connection is free; these errors have no code.
const pgMessages =
  /connection terminated|timeout exceeded when trying to connect|connection timeout|client has encountered a connection error|cannot use a pool after calling end/i;

/** Whether the database is unavailable for the moment, so that a later retry makes sense. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof DatabaseError) return awayStates.test(error.code ?? '');
  if (error instanceof AggregateError) return error.errors.some(isDatabaseAway);
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  if ('syscall' in error && error.syscall === 'connect' && socketErrorCodes.has(code)) return true;
  return connectionErrorCodes.has(code) || pgMessages.test(error.message);
}

/** Whether a statement violated this unique or foreign-key constraint. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof DatabaseError && /^235/.test(error.code ?? '') && error.constraint === constraint;
}

/** Failures caused by other sessions: a deadlock or another conflict (40), an unavailable lock, a statement time-out. */
const passingStates = /^(40|55P03|57014)/;

/** Whether the statement failed because of its content, as opposed to the connection, a lock or a time-out. */
export function isStatementFault(error: unknown): boolean {
  return error instanceof DatabaseError && !isDatabaseAway(error) && !passingStates.test(error.code ?? '');
}

/** Whether the statement was the victim of a deadlock; none of its changes were applied. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '40P01';
}

export function isLockTimeout(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '55P03';
}

export function isStatementTimeout(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '57014';
}

/** Whether a unique value exists already; also looks at the causes of a wrapped error. */
export function isDuplicate(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code === '23505';
  return error instanceof Error && isDuplicate(error.cause);
}
