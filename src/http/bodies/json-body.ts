/** Parses JSON bodies: UTF-8 only, unambiguous, and without values that PostgreSQL or a receiver cannot handle. */
import type { FastifyInstance } from 'fastify';
import { requestLimits } from '../../input/request-limits.ts';
import { findUnstorable } from '../../input/storable-json.ts';
import { AppError } from '../../runtime/errors.ts';
import { JsonTextError, parseJsonText } from '../../runtime/json-text.ts';

const limits = { values: requestLimits.jsonValues };

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      const { 'content-encoding': encoding, 'content-type': type = '' } = request.headers;
      if (encoding !== undefined && encoding !== 'identity') {
        throw new AppError(
          'unsupported_media_type',
          `The body must not be compressed, but Content-Encoding is ${encoding}.`,
        );
      }
      requireUtf8(type);
      done(null, parseJson(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
  // A missing body counts as an empty object.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.body === undefined) request.body = {};
    const unusable = findUnstorable({ ...(request.params as object), ...(request.query as object) });
    done(unusable === null ? undefined : new AppError('invalid_request', unusable));
  });
}

export function parseJson(body: Buffer): unknown {
  if (body.length === 0) return {};
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    throw new AppError('invalid_request', 'The body is not valid UTF-8.');
  }
  if (text.trim() === '') return {};
  const value = parseText(text);
  // Without an escape there is no NUL and no lone surrogate, and the one forbidden name appears literally.
  if (mayBeUnusable.test(text)) refuseUnusable(value);
  return value;
}

/** One pattern: a search for the escape alone stops at every backslash, and took four times as long in a text of them. */
const mayBeUnusable = /\\u|__proto__/;

function parseText(text: string): unknown {
  try {
    return parseJsonText(text, limits);
  } catch (error) {
    const { message } = error as Error;
    const isJson = error instanceof JsonTextError;
    throw new AppError('invalid_request', isJson ? message : `The body is not valid JSON: ${message}.`, {
      cause: error,
    });
  }
}

/** Throws AppError when a text, number, name or nesting cannot be stored and returned unchanged. */
export function refuseUnusable(value: unknown): void {
  const unusable = findUnstorable(value);
  if (unusable !== null) throw new AppError('invalid_request', unusable);
}

/** JSON is UTF-8 by its standard; any other charset would be misread. */
export function requireUtf8(contentType: string): void {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType)?.[1];
  if (charset === undefined || /^utf-?8$/i.test(charset)) return;
  throw new AppError(
    'unsupported_media_type',
    `The body must be UTF-8, but Content-Type says charset=${charset.slice(0, 40)}.`,
  );
}
