/** Reads JSON bodies: UTF-8 and nothing else, no poison that PostgreSQL or a receiver could choke on. */
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Reads the text of a body in the place of JSON.parse, for a route that is stricter. */
    readJson?: (text: string) => unknown;
  }
}

/** Deeper than any honest document; keeps every later walk over the value shallow. */
const maxDepth = 64;

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      const encoding = request.headers['content-encoding'];
      if (encoding !== undefined && encoding !== 'identity') {
        throw new AppError(
          'unsupported_media_type',
          `The body must not be compressed, but Content-Encoding is ${encoding}.`,
        );
      }
      done(null, parseJson(body as Buffer, request.routeOptions.config.readJson));
    } catch (error) {
      done(error as Error);
    }
  });
  // An absent body counts as an empty one.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.body === undefined) request.body = {};
    const unusable = findUnusable({ ...(request.params as object), ...(request.query as object) }, '');
    done(unusable === null ? undefined : new AppError('invalid_request', unusable));
  });
}

export function parseJson(body: Buffer, readJson: (text: string) => unknown = JSON.parse): unknown {
  if (body.length === 0) return {};
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    throw new AppError('invalid_request', 'The body is not valid UTF-8.');
  }
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = readJson(text);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('invalid_request', `The body is not valid JSON: ${(error as Error).message}.`);
  }
  refuseUnusable(value);
  return value;
}

/** Throws AppError when a text, number, name or nesting cannot be stored and given back unchanged. */
export function refuseUnusable(value: unknown): void {
  const unusable = findUnusable(value, '');
  if (unusable !== null) throw new AppError('invalid_request', unusable);
}

/** Says what is wrong with the first text, number, name or nesting that cannot be stored and given back unchanged. */
function findUnusable(value: unknown, field: string, depth = 0): string | null {
  const name = field === '' ? 'The body' : field.slice(0, 200);
  if (typeof value === 'string') {
    if (value.includes('\0')) return `${name} must not hold a NUL character.`;
    if (!value.isWellFormed()) return `${name} must not hold half of a surrogate pair.`;
    return null;
  }
  if (typeof value === 'number') return Number.isFinite(value) ? null : `${name} is not a finite number.`;
  if (typeof value !== 'object' || value === null) return null;
  if (depth >= maxDepth) return `${name} is nested more than ${maxDepth} levels deep.`;
  if (Array.isArray(value)) {
    for (let position = 0; position < value.length; position += 1) {
      const found = findUnusable(value[position], `${field}[${position}]`, depth + 1);
      if (found !== null) return found;
    }
    return null;
  }
  for (const key of Object.keys(value)) {
    if (key === '__proto__') return `${field === '' ? '' : `${field}.`}__proto__ is not a usable field name.`;
    const member = field === '' ? key : `${field}.${key}`;
    if (key.includes('\0') || !key.isWellFormed())
      return 'A field name holds a NUL character or half of a surrogate pair.';
    const found = findUnusable((value as Record<string, unknown>)[key], member, depth + 1);
    if (found !== null) return found;
  }
  return null;
}
