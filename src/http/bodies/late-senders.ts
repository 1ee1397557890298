/**
 * Clients that are answered while they still send, such as those whose body is too large. Closing a connection with
 * unread data resets it, and the answer is lost: so the rest is read and discarded, within limits.
 */
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { endsWithHeaders, isHttp2, lineOf } from './line.ts';

/** Limit of bytes read and discarded after the answer. */
export const mostUnwantedBytes = 16 * 1024 * 1024;
/** A client that still sends after this time, or is silent for the time below, is disconnected. */
const longestFarewellMs = 10_000;
const longestSilenceMs = 2_000;
const lookMs = 20;

interface LateSender {
  since: number;
  heardAt: number;
  /** Bytes read from the connection: when the answer was sent, and at the last check. */
  bytesBefore: number;
  bytesSeen: number;
}

export function hearLateSenders(app: FastifyInstance): void {
  const late = new Map<FastifyRequest, LateSender>();
  /** Requests whose connection we have to close. */
  const closing = new WeakSet<FastifyRequest>();
  let watch: NodeJS.Timeout | null = null;

  /** One timer for all: useless senders should cost as little as possible. */
  function look(): void {
    const now = performance.now();
    for (const [request, sender] of late) if (isOver(request, sender, now)) dismiss(request, false);
  }

  function hear(request: FastifyRequest): void {
    const { raw } = request;
    const now = performance.now();
    const bytes = raw.socket.bytesRead;
    late.set(request, { since: now, heardAt: now, bytesBefore: bytes, bytesSeen: bytes });
    watch ??= setInterval(look, lookMs).unref();
    const whole = () => dismiss(request, true);
    raw.once('end', whole).once('close', whole).once('error', whole);
    raw.resume();
  }

  function dismiss(request: FastifyRequest, whole: boolean): void {
    if (!late.delete(request)) return;
    if (late.size === 0 && watch) {
      clearInterval(watch);
      watch = null;
    }
    if (!whole) lineOf(request).destroy();
    else if (closing.has(request)) request.raw.socket.destroySoon();
  }

  app.addHook('onSend', (request, reply, payload, done) => {
    const sending = isSending(request);
    // This header exists in HTTP/1 only; the framework sets it whenever it refuses a body.
    if (sending || isHttp2(request)) reply.removeHeader('connection');
    if (sending && !isHttp2(request) && !staysOpen(request)) {
      // Otherwise Node.js would close the connection with the last byte of the answer.
      reply.raw.shouldKeepAlive = true;
      closing.add(request);
    }
    done(null, payload);
  });

  app.addHook('onResponse', (request, _reply, done) => {
    if (isSending(request)) hear(request);
    else if (closing.has(request)) request.raw.socket.destroySoon();
    done();
  });
}

/**
 * The same for input that never became a request: the socket was answered and ended, and is closed when the rest is read.
 */
export function hearOut(socket: Socket): void {
  const end = () => socket.destroy();
  const cutOff = setTimeout(end, longestFarewellMs).unref();
  socket.setTimeout(longestSilenceMs, end);
  socket.once('close', () => clearTimeout(cutOff));
}

/** A request without a body may be answered before its end is noticed, and an injected request has no connection. */
function isSending(request: FastifyRequest): boolean {
  const { raw } = request;
  if (raw.complete || raw.readableEnded || raw.socket?.bytesRead === undefined) return false;
  return !endsWithHeaders(request);
}

function staysOpen({ raw }: FastifyRequest): boolean {
  return raw.httpVersion === '1.1' && !/\bclose\b/i.test(raw.headers.connection ?? '');
}

/** Node.js discards the rest of a body silently: only the connection's byte count shows what arrived. */
function isOver({ raw }: FastifyRequest, sender: LateSender, now: number): boolean {
  const { bytesRead } = raw.socket;
  if (bytesRead !== sender.bytesSeen) sender.heardAt = now;
  sender.bytesSeen = bytesRead;
  return (
    bytesRead - sender.bytesBefore > mostUnwantedBytes ||
    now - sender.since > longestFarewellMs ||
    now - sender.heardAt > longestSilenceMs
  );
}
