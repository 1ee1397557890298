/** The embedded chain's gateway: the published address, through which nobody can change state outside of a block. */
import { randomUUID } from 'node:crypto';
import { once as event } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from '../../runtime/loop.ts';
import { rpcFaultOf } from '../rpc/json-rpc.ts';
import { type Call, invalidRequest, type Refusal, readCalls, refusal, unavailable } from './gateway-calls.ts';
import { gatewayHeader, lastGatewayPort, urlOfGateway, writeGatewayFile } from './gateway-file.ts';
import { createTurns } from './gateway-turns.ts';
import type { ChainPaths } from './paths.ts';

export interface Gateway {
  url: string;
  close(): Promise<void>;
}

export interface GatewayOptions {
  paths: Pick<ChainPaths, 'gatewayFile'>;
  /** Answers a call, or throws RpcFault; null while the chain is not ready. */
  answer(method: string, params: readonly unknown[]): Promise<unknown> | null;
  /** For a request with all its calls, including the time that the client takes to read the answers. */
  deadlineMs?: number;
}

interface Exchange {
  response: ServerResponse;
  /** Aborts at the deadline, or when the client leaves. */
  signal: AbortSignal;
  /** Resolves then. */
  expired: Promise<void>;
}

/** A raw transaction has up to 128 KB, twice as much in hex. */
const maxBodyBytes = 1024 * 1024;
/** Further calls wait, so that the chain always has capacity for the service itself, and few answers are in memory. */
const callsAtOnce = 8;
const mostWaiting = 64;
const mostConnections = 64;
const internalError = -32603;

/** Opens on the last port if it is free, so that the published address stays valid. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { paths, deadlineMs = 30_000 } = options;
  const turns = createTurns({ atOnce: callsAtOnce, mostWaiting });
  const name = randomUUID();

  async function answer(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader(gatewayHeader, name);
    const unfit = unfitness(asked);
    if (unfit) return end(response, unfit.status, refused(unfit.message));
    const text = await readBody(asked);
    if (text === null) {
      response.setHeader('connection', 'close');
      return end(response, 413, refused(`the body has more than ${maxBodyBytes} bytes`));
    }
    const read = readCalls(text);
    if ('error' in read) return end(response, 400, read);
    response.writeHead(200, { 'content-type': 'application/json' });
    const left = new AbortController();
    response.once('close', () => left.abort());
    const signal = AbortSignal.any([AbortSignal.timeout(deadlineMs), left.signal]);
    const expired = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    // Sequentially, so that the transactions of a batch arrive in the order of their nonces.
    for (const [place, call] of read.calls.entries()) {
      if (read.batch) response.write(place === 0 ? '[' : ',');
      if ('error' in call) response.write(JSON.stringify(call));
      else await answerCall(call, { response, signal, expired });
    }
    response.end(read.batch ? ']' : '');
  }

  /** A turn lasts until the chain is done with the call and the client has read the answer. */
  async function answerCall(call: Call, exchange: Exchange): Promise<void> {
    const { signal, expired } = exchange;
    const endTurn = await turns.take(signal);
    if (!endTurn) return send(signal.aborted ? late(call) : busy(call), exchange);
    const work = ask(call);
    try {
      await send(await Promise.race([work, expired.then(() => late(call))]), exchange);
    } finally {
      work.finally(endTurn);
    }
  }

  /** Never rejects. */
  async function ask(call: Call): Promise<string> {
    try {
      const asked = options.answer(call.method, call.params);
      if (asked === null) return away(call, 'is being rebuilt from its journal');
      return JSON.stringify({ jsonrpc: '2.0', id: call.id, result: (await asked) ?? null });
    } catch (error) {
      return JSON.stringify(refusal(call.id, errorOf(error)));
    }
  }

  const busy = (call: Call) => away(call, 'has too many calls waiting');
  const late = (call: Call) => away(call, `did not answer within ${deadlineMs} ms`);

  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (asked, response) => {
    // The answer broke off in the middle, or the client is gone: an error can no longer be reported.
    answer(asked, response).catch(() => response.destroy());
  });
  server.maxConnections = mostConnections;
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  const close = once(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });

  await listen(await lastGatewayPort(paths)).catch(() => listen(0));
  const { port } = server.address() as AddressInfo;
  try {
    await writeGatewayFile({ port, name }, paths);
  } catch (error) {
    await close();
    throw error;
  }
  return { url: urlOfGateway(port), close };
}

/** Null if the body is too long; the rest is not read. */
async function readBody(asked: IncomingMessage): Promise<string | null> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of asked.iterator({ destroyOnReturn: false })) {
    bytes += piece.length;
    if (bytes > maxBodyBytes) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function unfitness({ method, headers }: IncomingMessage): { status: number; message: string } | null {
  // Prevents DNS rebinding: a web page whose host name resolves to 127.0.0.1 sends that name in this header.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? '')) {
    return { status: 403, message: 'use the host 127.0.0.1 or localhost' };
  }
  if (method !== 'POST') return { status: 405, message: 'use POST' };
  // Otherwise a web page could send requests without a CORS preflight.
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
    return { status: 415, message: 'the content type must be application/json' };
  }
  return null;
}

/** Waits until the client has read it: at most one answer of each client is in memory. */
async function send(text: string, { response, signal }: Exchange): Promise<void> {
  if (!response.write(text)) await event(response, 'drain', { signal });
}

function errorOf(error: unknown): Refusal['error'] {
  const fault = rpcFaultOf(error);
  if (!fault) return { code: internalError, message: 'internal error of the embedded chain' };
  const { kind, message, data } = fault;
  const code = fault.code ?? (kind === 'unreachable' ? unavailable : internalError);
  return { code, message, ...(data !== undefined && { data }) };
}

function away({ id }: Call, how: string): string {
  return JSON.stringify(refusal(id, { code: unavailable, message: `the node of the embedded chain ${how}` }));
}

function refused(message: string): Refusal {
  return refusal(null, { code: invalidRequest, message });
}

function end(response: ServerResponse, status: number, body: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
