/** Sorts database errors once: is the database away, or was this a fault of one statement. */
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

/**
 * Server states that pass by themselves: connection exceptions (08), shutting down or starting (57P),
 * out of connections, memory or disk (53).
 */
const awayStates = /^(08|57P|53|28|3D000|55000)/;

// What pg itself says when a socket closes under it or none is free; it gives these no code.
const pgMessages =
  /connection terminated|timeout exceeded when trying to connect|connection timeout|client has encountered a connection error|cannot use a pool after calling end/i;

/** Whether the database cannot be used just now, and trying again later makes sense. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof DatabaseError) return awayStates.test(error.code ?? '');
  if (error instanceof AggregateError) return error.errors.some(isDatabaseAway);
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return connectionErrorCodes.has(code) || pgMessages.test(error.message);
}

/** Whether a statement broke this unique or foreign-key constraint. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof DatabaseError && /^235/.test(error.code ?? '') && error.constraint === constraint;
}

/** What others did to the statement: a deadlock or another conflict (40), a lock that was not free, cut off by its time-out. */
const passingStates = /^(40|55P03|57014)/;

/** Whether the statement itself was refused for what it holds, as opposed to the connection, a lock or a time-out. */
export function isStatementFault(error: unknown): boolean {
  return error instanceof DatabaseError && !isDatabaseAway(error) && !passingStates.test(error.code ?? '');
}

/** Whether it was given up because it and another waited for each other; nothing of it was done. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '40P01';
}

export function isLockTimeout(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '55P03';
}

export function isStatementTimeout(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '57014';
}

/** Whether something that must be unique is there already, also as the cause of an error made from it. */
export function isDuplicate(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code === '23505';
  return error instanceof Error && isDuplicate(error.cause);
}
