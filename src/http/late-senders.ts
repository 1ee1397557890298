/**
 * Clients that are answered while they still send, such as those whose body is too large. A connection that is closed on
 * what was not read is reset, and the answer is lost with it: so the rest is read and thrown away, within bounds.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isHttp2, lineOf } from './line.ts';

/** Read of what is not wanted, after the answer. */
const mostUnwantedBytes = 16 * 1024 * 1024;
/** Whoever still sends then, or has sent nothing for so long, is cut off. */
const longestFarewellMs = 10_000;
const longestSilenceMs = 2_000;
const lookMs = 20;

export function hearLateSenders(app: FastifyInstance): void {
  /** Requests whose connection is ours to close. */
  const closing = new WeakSet<object>();

  app.addHook('onSend', (request, reply, payload, done) => {
    const { raw } = request;
    const sending = raw.complete === false && announcesBody(request);
    // A header of HTTP/1 alone; the framework sets it whenever it refuses a body.
    if (sending || isHttp2(request)) reply.removeHeader('connection');
    if (sending && !isHttp2(request) && !staysOpen(request)) {
      // Node.js would close the connection with the last byte of the answer.
      reply.raw.shouldKeepAlive = true;
      closing.add(raw);
    }
    done(null, payload);
  });

  app.addHook('onResponse', (request, _reply, done) => {
    const { raw } = request;
    const close = () => raw.socket.destroySoon();
    if (raw.complete === false && announcesBody(request)) {
      readRest(request, (whole) => {
        if (!whole) lineOf(request).destroy();
        else if (closing.has(raw)) close();
      });
    } else if (closing.has(raw)) close();
    done();
  });
}

/** A request without a body may be answered before its end is noticed. */
function announcesBody({ headers, raw }: FastifyRequest): boolean {
  if (raw.httpVersionMajor === 2) return headers['content-length'] !== '0' && raw.method !== 'GET';
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function staysOpen({ raw }: FastifyRequest): boolean {
  return raw.httpVersion === '1.1' && !/\bclose\b/i.test(raw.headers.connection ?? '');
}

/** Calls once: with true when all has come or nothing more can, with false at one of the bounds. */
function readRest(request: FastifyRequest, then: (whole: boolean) => void): void {
  const { raw } = request;
  const begun = performance.now();
  const before = raw.socket.bytesRead;
  let seen = before;
  let heardAt = begun;
  // Node.js throws the rest of a body away itself, and says nothing of it: only the connection tells what came.
  const watch = setInterval(() => {
    const now = performance.now();
    const { bytesRead } = raw.socket;
    if (bytesRead !== seen) heardAt = now;
    seen = bytesRead;
    const tooMuch = seen - before > mostUnwantedBytes;
    if (tooMuch || now - begun > longestFarewellMs || now - heardAt > longestSilenceMs) finish(false);
  }, lookMs).unref();
  const whole = () => finish(true);
  let finished = false;
  function finish(all: boolean): void {
    if (finished) return;
    finished = true;
    clearInterval(watch);
    raw.off('end', whole).off('close', whole).off('error', whole);
    then(all);
  }
  raw.on('end', whole).on('close', whole).on('error', whole);
  raw.resume();
}
