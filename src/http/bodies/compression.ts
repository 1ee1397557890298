/** Compresses answers for clients that accept it, but never one with a secret: its length would leak the secret (BREACH). */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer contains a secret of the caller that its schema does not show: it is never compressed. */
    secretAnswer?: boolean;
    /** Sends the same buffers again and again: each is compressed once, thoroughly, and cached. */
    sameBytes?: boolean;
    /** Which answers may be compressed; determined here. */
    compressible?: Compressible;
  }
}

export type Encoding = 'br' | 'gzip';

/** `pages`: everything but JSON. */
type Compressible = 'nothing' | 'pages' | 'everything';

/** Below this, the headers of a compressed answer cost as much as it saves. */
const leastBytes = 1024;
/** Concurrent compressions, in the thread pool; beyond that, answers are sent uncompressed rather than delayed. */
const mostAtOnce = 4;
const compressibleTypes =
  /^(text\/(html|css|javascript|plain)|application\/(problem\+)?json|image\/svg\+xml)\b/;

const isJson = /^application\/(problem\+)?json\b/;

const compressGzip = promisify(gzip);
const compressBrotli = promisify(brotliCompress);

/** Call before the routes are added, and before anything that adds to their schemas. */
export function compressAnswers(app: FastifyInstance): void {
  const kept = new WeakMap<Buffer, Map<Encoding, Promise<Buffer | null>>>();
  let underWay = 0;

  /** Everybody who needs the same bytes shares one compression. */
  async function compressOnce(bytes: Buffer, encoding: Encoding): Promise<Buffer | null> {
    const known = kept.get(bytes) ?? new Map<Encoding, Promise<Buffer | null>>();
    kept.set(bytes, known);
    const present = known.get(encoding);
    if (present) return present;
    const making = compressNow(bytes, encoding, 'thorough');
    known.set(encoding, making);
    // Skipped because of others, or failed: the next request tries again.
    const forget = () => known.delete(encoding);
    making.then((made) => made ?? forget(), forget);
    return making;
  }

  async function compressNow(
    bytes: Buffer,
    encoding: Encoding,
    how: 'quick' | 'thorough' = 'quick',
  ): Promise<Buffer | null> {
    if (underWay >= mostAtOnce) return null;
    underWay += 1;
    try {
      return await compress(bytes, encoding, how);
    } finally {
      underWay -= 1;
    }
  }

  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, compressible: compressibleOf(route) };
  });
  // With a callback, like all hooks that every request runs through; most answers are small and return at once.
  app.addHook('onSend', (request, reply, payload, done) => {
    const body = bodyOf(payload);
    if (body === null || !isCompressible(request, reply)) return done(null, payload);
    reply.header('vary', [reply.getHeader('vary') ?? [], 'accept-encoding'].flat().join(', '));
    const encoding = chooseEncoding(request.headers['accept-encoding']);
    if (encoding === null) return done(null, payload);
    const isSame = request.routeOptions.config.sameBytes && typeof body !== 'string';
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const work = isSame ? compressOnce(bytes, encoding) : compressNow(bytes, encoding);
    work.then((compressed) => {
      if (compressed === null || compressed.length >= bytes.length) return done(null, payload);
      reply.removeHeader('content-length').header('content-encoding', encoding);
      done(null, compressed);
    }, done);
  });
}

/**
 * The encoding that the client prefers, by the q-values of Accept-Encoding (RFC 9110, 12.5.3); if equal, the smaller one.
 * Null: uncompressed.
 */
export function chooseEncoding(accepted: string | undefined): Encoding | null {
  if (accepted === undefined) return null;
  const weights = new Map<string, number>();
  for (const item of accepted.toLowerCase().split(',').slice(0, 20)) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const weight = q === undefined ? 1 : /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(q) ? Number(q) : 0;
    weights.set(name, weight);
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  // If `identity` is not mentioned, every accepted encoding is preferred to it.
  const plain = weights.get('identity') ?? 0;
  const [best] = (['br', 'gzip'] as const)
    .map((name) => ({ name, weight: weightOf(name) }))
    .filter(({ weight }) => weight > 0 && weight >= plain)
    .sort((one, other) => other.weight - one.weight);
  return best?.name ?? null;
}

/** Fields that only one caller may know: a new API key, an invitation link, backup codes. */
const secretField = /^(secret|key|link|.*token|.*password|.*codes)$/i;

/** Whether a schema, or one nested in it, has such a field. */
export function namesSecret(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  return Object.entries(schema).some(
    ([name, value]) =>
      (name === 'properties' && Object.keys(Object(value)).some((field) => secretField.test(field))) ||
      namesSecret(value),
  );
}

/** JSON is compressed only if it has a schema without secret fields, or is the same for everybody. */
function compressibleOf({ method, config, schema }: RouteOptions): Compressible {
  if (config?.secretAnswer || namesSecret(schema?.response)) return 'nothing';
  const described = Object.keys((schema?.response ?? {}) as object).some((status) => status.startsWith('2'));
  if (described || config?.sameBytes) return 'everything';
  return [method].flat().every((one) => one === 'GET' || one === 'HEAD') ? 'pages' : 'nothing';
}

/** The body if it is worth compressing. Streams are not: stored bytes, archives, and events that must not be delayed. */
function bodyOf(payload: unknown): string | Buffer | null {
  if (typeof payload === 'string' || Buffer.isBuffer(payload))
    return payload.length < leastBytes ? null : payload;
  return null;
}

function isCompressible(request: FastifyRequest, reply: FastifyReply): boolean {
  const { compressible = 'nothing' } = request.routeOptions.config;
  const type = String(reply.getHeader('content-type'));
  if (compressible === 'nothing' || (compressible === 'pages' && isJson.test(type))) return false;
  if (reply.statusCode === 206 || !compressibleTypes.test(type)) return false;
  // A strong tag stands for exactly these bytes.
  const etag = reply.getHeader('etag');
  if (etag !== undefined && !String(etag).startsWith('W/')) return false;
  return !reply.hasHeader('content-encoding') && !reply.hasHeader('content-range');
}

/** Quick: for bytes sent once. Thorough: for bytes sent as long as the process runs; takes a tenth of a second. */
function compress(bytes: Buffer, encoding: Encoding, how: 'quick' | 'thorough'): Promise<Buffer> {
  if (encoding === 'gzip') return compressGzip(bytes, { level: how === 'quick' ? 1 : 9 });
  return compressBrotli(bytes, {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: how === 'quick' ? 2 : 9,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}
