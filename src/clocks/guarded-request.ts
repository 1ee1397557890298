/** One HTTP exchange with somebody else's server: vetted address, one deadline for all of it, a bounded answer, no redirects. */
import { createSecureContext } from 'node:tls';
import { Agent, buildConnector, request } from 'undici';
import { isLoopback } from '../runtime/host-address.ts';
import { version } from '../runtime/version.ts';
import {
  type AddressGuard,
  BlockedTarget,
  createAddressGuard,
  toAllowList,
} from '../webhooks/exchange/address-guard.ts';
import type { Resolve } from '../webhooks/exchange/name-lookup.ts';

export interface GuardedRequest {
  url: string;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: Uint8Array;
  /** For the whole exchange. */
  timeoutMs: number;
  maxBytes: number;
  /** The address may be one of this machine. */
  isLocal: boolean;
  /**
   * What is signed may be fetched by plain http from a public address; everything else only by https, or on this machine.
   */
  isSigned?: boolean;
  signal?: AbortSignal | undefined;
}

export interface GuardedAnswer {
  /** In lower case and without parameters. */
  contentType: string;
  bytes: Uint8Array;
}

export interface GuardedRequests {
  /** The answer with status 200. Throws `RequestFault`. */
  send(request: GuardedRequest): Promise<GuardedAnswer>;
  close(): Promise<void>;
}

/** There is no usable answer; the message continues the name of the server. */
export class RequestFault extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'RequestFault';
  }
}

export interface GuardedRequestsOptions {
  /** Hosts, addresses and networks that need not be public, as in HOLDFAST_WEBHOOK_ALLOW. */
  allow: readonly string[];
  resolve?: Resolve | undefined;
}

const thisMachine = ['127.0.0.0/8', '::1'];

export function createGuardedRequests({ allow, resolve }: GuardedRequestsOptions): GuardedRequests {
  const secureContext = createSecureContext();
  const guards = {
    away: createAddressGuard(toAllowList([...allow]), resolve),
    local: createAddressGuard(toAllowList([...allow, ...thisMachine]), resolve),
  };
  const agents = new Map<string, Agent>();

  /** By what is vetted: a connection that was allowed for one is not used for another. */
  function agentFor({ isLocal, isSigned = false }: GuardedRequest): Agent {
    const key = `${isLocal} ${isSigned}`;
    const agent =
      agents.get(key) ??
      new Agent({
        connect: guardedConnector(isLocal ? guards.local : guards.away, { secureContext, isSigned }),
        allowH2: false,
        // The signal covers the whole exchange.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
    agents.set(key, agent);
    return agent;
  }

  return {
    async send(given) {
      const { url, method = 'GET', headers, body, timeoutMs, maxBytes, signal } = given;
      const deadline = AbortSignal.timeout(timeoutMs);
      try {
        const answer = await request(url, {
          dispatcher: agentFor(given),
          method,
          headers: { 'user-agent': `holdfast/${version}`, ...headers },
          ...(body !== undefined && { body }),
          signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
        });
        const bytes = await readUpTo(maxBytes, answer.body);
        if (answer.statusCode !== 200) throw new RequestFault(explainStatus(answer.statusCode));
        return { contentType: typeOf(answer.headers['content-type']), bytes };
      } catch (cause) {
        if (cause instanceof RequestFault) throw cause;
        throw new RequestFault(explain(cause, timeoutMs), { cause });
      }
    },
    async close() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
    },
  };
}

/** Whether the host of a URL is this machine by its name, not by what the name resolves to. */
export function isLocalUrl(url: string): boolean {
  return isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ''));
}

/** undici does not call `lookup` for an IP address in the URL, so every connection is vetted here first. */
function guardedConnector(
  guard: AddressGuard,
  { secureContext, isSigned }: { secureContext: ReturnType<typeof createSecureContext>; isSigned: boolean },
): buildConnector.connector {
  return (options, callback) => {
    const protocol = isSigned ? 'https:' : options.protocol;
    guard.vetHost({ hostname: options.hostname, protocol }).then(
      (addresses) => {
        // Connects to the vetted addresses, even if the name resolves differently a moment later.
        const lookup = (_name: string, _options: unknown, done: (error: null, found: unknown) => void) =>
          done(null, addresses);
        buildConnector({ allowH2: false, secureContext, lookup: lookup as never, autoSelectFamily: true })(
          options,
          callback,
        );
      },
      (error) => callback(error, null),
    );
  };
}

async function readUpTo(maxBytes: number, body: AsyncIterable<Buffer>): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop early closes the connection.
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw new RequestFault(`answered with more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

function explainStatus(status: number): string {
  const moved = status >= 300 && status < 400 ? '; redirects are not followed' : '';
  return `answered with status ${status}${moved}`;
}

function explain(cause: unknown, timeoutMs: number): string {
  const { name, code, message } = cause as { name?: string; code?: string; message?: string };
  if (name === 'TimeoutError') return `gave no complete answer within ${timeoutMs / 1000} s`;
  if (cause instanceof BlockedTarget) return 'has an address that is not public';
  return `could not be reached: ${(code || message || String(cause)).slice(0, 200)}`;
}

function typeOf(header: string | string[] | undefined): string {
  const [first = ''] = [header ?? ''].flat();
  return first.split(';')[0]?.trim().toLowerCase().slice(0, 100) ?? '';
}
