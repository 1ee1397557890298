/** One HTTP exchange with a receiver: vetted address, one deadline for all of it, and a bounded part of the response. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rootCertificates, type SecureContext } from 'node:tls';
import { Agent, type Dispatcher, errors } from 'undici';
import { type AddressGuard, BlockedTarget } from '../../egress/address-guard.ts';
import { guardedConnector, outgoingContext } from '../../egress/guarded-connector.ts';

export interface Exchange {
  url: URL;
  headers: Record<string, string>;
  body: string;
  /** Shown to the receiver, if it asks for one. */
  client?: ClientIdentity | null;
}

export interface ClientIdentity {
  certificate: string;
  privateKey: string;
}

export interface Outcome {
  durationMs: number;
  /** null: there was no response. */
  statusCode: number | null;
  /** A sentence; null when the receiver answered 2xx. */
  error: string | null;
  responseHeaders: Record<string, string>;
  responseBody: string;
  retryAfter: string | null;
  /** Cut off because this service is stopping, which says nothing about the receiver. */
  cutOff: boolean;
}

export interface Exchanger {
  post(exchange: Exchange): Promise<Outcome>;
  close(): Promise<void>;
}

export interface ExchangerOptions {
  guard: AddressGuard;
  timeoutMs: number;
  /** An additional certificate authority, for receivers with a private one. */
  caFile: string | null;
}

const maxBodyBytes = 16 * 1024;
/** Each keeps connections of its own. */
const mostClientAgents = 1000;

export function createExchanger({ guard, timeoutMs, caFile }: ExchangerOptions): Exchanger {
  const agentWith = (client: ClientIdentity | null) =>
    new Agent({
      connect: guardedConnector(guard, secureContextWith(caFile, client)),
      // One protocol, with every abuse tested. HTTP/2 would add its own and gain nothing for single small requests.
      allowH2: false,
      // No limit here, as the lanes already limit: endpoints on one host do not wait for each other.
      connections: null,
      pipelining: 1,
      keepAliveTimeout: 10_000,
      // The deadline in `AnswerReader` covers the whole exchange; these only ensure that nothing outlives it.
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
  const agent = agentWith(null);
  /** By certificate and key, so that no connection made with one serves another endpoint. */
  const clientAgents = new Map<string, Agent>();

  function agentOf(client: ClientIdentity | null | undefined): Agent {
    if (!client) return agent;
    const key = createHash('sha256')
      .update(JSON.stringify([client.certificate, client.privateKey]))
      .digest('hex');
    const present = clientAgents.get(key) ?? agentWith(client);
    // The one that was used last is the last to go.
    clientAgents.delete(key);
    clientAgents.set(key, present);
    const [oldest] = clientAgents;
    if (clientAgents.size > mostClientAgents && oldest) {
      clientAgents.delete(oldest[0]);
      // Its requests end as usual.
      void oldest[1].close();
    }
    return present;
  }

  return {
    post: ({ url, headers, body, client }) =>
      new Promise((resolve) => {
        const answer = new AnswerReader(timeoutMs, resolve);
        const { origin, pathname, search } = url;
        agentOf(client).dispatch({ origin, path: pathname + search, method: 'POST', headers, body }, answer);
      }),
    async close() {
      await Promise.all([agent, ...clientAgents.values()].map((one) => one.destroy()));
    },
  };
}

class TimedOut extends Error {}

/**
 * Collects one response. It implements undici's handlers directly: undici's streams would cost a fifth of the throughput,
 * for bodies that are mostly empty.
 */
class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #timeoutMs: number;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #length = 0;
  #controller: Dispatcher.DispatchController | null = null;
  #statusCode: number | null = null;
  #headers: Record<string, string> = {};
  #resolve: ((outcome: Outcome) => void) | null;

  constructor(timeoutMs: number, resolve: (outcome: Outcome) => void) {
    this.#timeoutMs = timeoutMs;
    this.#resolve = resolve;
    this.#timer = setTimeout(() => this.#cutOff(new TimedOut()), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The deadline passed while the request waited for a connection: it must not be sent now.
    if (this.#resolve === null) controller.abort(new TimedOut());
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (statusCode < 200) return;
    this.#statusCode = statusCode;
    this.#headers = flatten(headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length >= maxBodyBytes) this.#cutOff(null);
  }

  onResponseEnd(): void {
    this.#end(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(error);
  }

  #end(failure: Error | null): void {
    const resolve = this.#resolve;
    if (resolve === null) return;
    this.#resolve = null;
    clearTimeout(this.#timer);
    resolve({
      durationMs: Math.round(performance.now() - this.#startedAt),
      statusCode: this.#statusCode,
      error: failure ? explainFailure(failure, this.#timeoutMs) : explainStatus(this.#statusCode ?? 0),
      cutOff: failure instanceof errors.ClientDestroyedError,
      responseHeaders: this.#headers,
      responseBody: this.#length === 0 ? '' : toText(this.#chunks),
      retryAfter: this.#headers['retry-after'] ?? null,
    });
  }

  /** Ends the exchange before the receiver does, and closes the connection. */
  #cutOff(failure: Error | null): void {
    this.#end(failure);
    this.#controller?.abort(failure ?? new Error('enough was read'));
  }
}

function secureContextWith(caFile: string | null, client: ClientIdentity | null): SecureContext {
  return outgoingContext({
    ...(caFile !== null && { ca: [...rootCertificates, readFileSync(caFile, 'utf8')] }),
    ...(client && { cert: client.certificate, key: client.privateKey }),
  });
}

function toText(chunks: Buffer[]): string {
  // PostgreSQL cannot store NUL.
  return Buffer.concat(chunks)
    .subarray(0, maxBodyBytes)
    .toString('utf8')
    .replaceAll('\0', '\uFFFD')
    .toWellFormed();
}

const mostHeaders = 50;

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  let left = mostHeaders;
  for (const name in headers) {
    const value = headers[name] ?? '';
    const text = typeof value === 'string' ? value : value.join(', ');
    flat[name] = text.slice(0, 1000).replaceAll('\0', '');
    left -= 1;
    if (left === 0) break;
  }
  return flat;
}

function explainStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `The receiver answered ${status}; redirects are not followed.`;
  if (status === 410) return 'The receiver answered 410 Gone.';
  return `The receiver answered ${status}.`;
}

/** Common failures by code. A blocked target has its own message, which never says what is at the address. */
const failures: Record<string, string> = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was reset.',
  EPIPE: 'The connection was closed by the receiver.',
  ETIMEDOUT: 'The connection timed out.',
  UND_ERR_CONNECT_TIMEOUT: 'The connection timed out.',
  UND_ERR_SOCKET: 'The receiver closed the connection before its response was complete.',
  UND_ERR_HEADERS_OVERFLOW: 'The headers of the response are too large.',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The response is not valid HTTP.',
  ENOTFOUND: 'The host name was not found.',
  EAI_AGAIN: 'The host name could not be looked up.',
  ETIMEOUT: 'The host name could not be looked up: its name server did not answer.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The host cannot be reached.',
};

function explainFailure(cause: unknown, timeoutMs: number): string {
  if (cause instanceof TimedOut) return `No complete response within ${timeoutMs / 1000} s.`;
  if (cause instanceof BlockedTarget) return cause.message;
  const {
    name = '',
    code = '',
    message = String(cause),
    reason = message,
    cause: inner,
  } = cause as { name?: string; code?: string; message?: string; reason?: string; cause?: unknown };
  if (inner !== undefined && failures[code] === undefined) return explainFailure(inner, timeoutMs);
  const known = failures[code];
  if (known) return known;
  if (name === 'HTTPParserError') return 'The response is not valid HTTP.';
  // The reason is OpenSSL's own text; the message also contains source locations.
  return /^(ERR_TLS|CERT|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|ERR_SSL|EPROTO)/.test(code)
    ? `The TLS connection failed: ${reason.slice(0, 200)}.`
    : `The request failed: ${(code || message).slice(0, 200)}.`;
}
