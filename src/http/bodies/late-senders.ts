/**
 * Clients that are answered while they still send, such as those whose body is too large. A connection that is closed on
 * what was not read is reset, and the answer is lost with it: so the rest is read and thrown away, within bounds.
 */
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { endsWithHeaders, isHttp2, lineOf } from './line.ts';

/** Read of what is not wanted, after the answer. */
export const mostUnwantedBytes = 16 * 1024 * 1024;
/** Whoever still sends then, or has sent nothing for so long, is cut off. */
const longestFarewellMs = 10_000;
const longestSilenceMs = 2_000;
const lookMs = 20;

interface LateSender {
  since: number;
  heardAt: number;
  /** Of the connection: when the answer was sent, and when it was last looked at. */
  bytesBefore: number;
  bytesSeen: number;
}

export function hearLateSenders(app: FastifyInstance): void {
  const late = new Map<FastifyRequest, LateSender>();
  /** Requests whose connection is ours to close. */
  const closing = new WeakSet<FastifyRequest>();
  let watch: NodeJS.Timeout | null = null;

  /** One for all: who sends in vain is to cost as little as can be. */
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
    // A header of HTTP/1 alone; the framework sets it whenever it refuses a body.
    if (sending || isHttp2(request)) reply.removeHeader('connection');
    if (sending && !isHttp2(request) && !staysOpen(request)) {
      // Node.js would close the connection with the last byte of the answer.
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

/** The same for what never became a request: its connection was answered and ended, and is to be closed once it is heard out. */
export function hearOut(socket: Socket): void {
  const end = () => socket.destroy();
  const cutOff = setTimeout(end, longestFarewellMs).unref();
  socket.setTimeout(longestSilenceMs, end);
  socket.once('close', () => clearTimeout(cutOff));
}

/** A request without a body may be answered before its end is noticed, and one that was injected has no connection. */
function isSending(request: FastifyRequest): boolean {
  const { raw } = request;
  if (raw.complete || raw.readableEnded || raw.socket?.bytesRead === undefined) return false;
  return !endsWithHeaders(request);
}

function staysOpen({ raw }: FastifyRequest): boolean {
  return raw.httpVersion === '1.1' && !/\bclose\b/i.test(raw.headers.connection ?? '');
}

/** Node.js throws the rest of a body away itself, and says nothing of it: only the connection tells what came. */
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
