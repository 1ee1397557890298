/** One HTTP exchange with somebody else's server: vetted address, one deadline for all of it, a bounded answer, no redirects. */
import { rootCertificates } from 'node:tls';
import { Agent, request } from 'undici';
import { isLoopback } from '../runtime/host-address.ts';
import { version } from '../runtime/version.ts';
import { type AddressGuard, BlockedTarget, createAddressGuard, toAllowList } from './address-guard.ts';
import { guardedConnector, outgoingContext } from './guarded-connector.ts';
import type { Resolve } from './name-lookup.ts';

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
  /** The statuses whose answers are wanted; 200 alone if none are named. */
  statuses?: readonly number[];
  signal?: AbortSignal | undefined;
}

export interface GuardedAnswer {
  status: number;
  /** In lower case and without parameters. */
  contentType: string;
  bytes: Uint8Array;
}

export interface GuardedRequests {
  /** The answer, if it has a wanted status. Throws `RequestFault`. */
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
  /** Certificate authorities (PEM) in addition to the usual ones. */
  extraAuthority?: string | undefined;
}

const thisMachine = ['127.0.0.0/8', '::1'];

export function createGuardedRequests({
  allow,
  resolve,
  extraAuthority,
}: GuardedRequestsOptions): GuardedRequests {
  const secureContext = outgoingContext({
    ...(extraAuthority !== undefined && { ca: [...rootCertificates, extraAuthority] }),
  });
  const guards = {
    away: createAddressGuard(toAllowList([...allow]), resolve),
    local: createAddressGuard(toAllowList([...allow, ...thisMachine]), resolve),
  };
  const agents = new Map<string, Agent>();

  /** By what is vetted: a connection that was allowed for one is not used for another. */
  function agentFor({ isLocal, isSigned = false }: GuardedRequest): Agent {
    const key = `${isLocal} ${isSigned}`;
    const guard = isLocal ? guards.local : guards.away;
    const agent =
      agents.get(key) ??
      new Agent({
        connect: guardedConnector(isSigned ? asIfHttps(guard) : guard, secureContext),
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
      const { url, method = 'GET', headers, body, timeoutMs, maxBytes, statuses = [200], signal } = given;
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
        const { statusCode: status } = answer;
        if (!statuses.includes(status)) throw new RequestFault(explainStatus(status));
        return { status, contentType: typeOf(answer.headers['content-type']), bytes };
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

function asIfHttps(guard: AddressGuard): Pick<AddressGuard, 'vetHost'> {
  return { vetHost: ({ hostname }) => guard.vetHost({ hostname, protocol: 'https:' }) };
}

/** Whether the host of a URL is this machine by its name, not by what the name resolves to. */
export function isLocalUrl(url: string): boolean {
  return isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ''));
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
