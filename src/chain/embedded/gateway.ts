/** The embedded chain's gateway: the published address, through which nobody can change state outside of a block. */
import { randomUUID } from 'node:crypto';
import { once as event } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { once } from '../../runtime/loop.ts';
import {
  type Call,
  invalidRequest,
  type Refusal,
  readCalls,
  refusal,
  sendsTransaction,
  unavailable,
} from './gateway-calls.ts';
import { gatewayHeader, lastGatewayPort, urlOfGateway, writeGatewayFile } from './gateway-file.ts';
import type { ChainPaths } from './paths.ts';

export interface Gateway {
  url: string;
  close(): Promise<void>;
}

export interface GatewayOptions {
  paths: Pick<ChainPaths, 'gatewayFile'>;
  /** Where the node listens now; null while it must not be called. */
  nodeUrl(): string | null;
  /** Called after a transaction was passed to the node. */
  onTransaction?(): void;
  /** For a request with all its calls, including the time that the client takes to read the answers. */
  deadlineMs?: number;
}

/** A raw transaction has up to 128 KB, twice as much in hex. */
const maxBodyBytes = 1024 * 1024;
/** Further calls wait, so that the node always has capacity for the service itself. */
const callsAtOnce = 8;
const mostConnections = 64;

/** Opens on the last port if it is free, so that the published address stays valid. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { paths, nodeUrl, onTransaction = () => {}, deadlineMs = 30_000 } = options;
  const agent = new Agent({ connections: callsAtOnce, headersTimeout: 0, bodyTimeout: 0 });
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
    // Sequentially, so that the transactions of a batch arrive in the order of their nonces.
    for (const [place, call] of read.calls.entries()) {
      if (read.batch) response.write(place === 0 ? '[' : ',');
      if ('error' in call) response.write(JSON.stringify(call));
      else await passOn(call, response, signal);
    }
    response.end(read.batch ? ']' : '');
  }

  /** Streams the node's answer, without buffering or parsing it. Throws when it breaks off in the middle. */
  async function passOn(call: Call, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const answered = await ask(call, signal);
    if ('error' in answered) {
      response.write(JSON.stringify(answered));
      return;
    }
    for await (const piece of answered.body) {
      if (!response.write(piece)) await event(response, 'drain', { signal });
    }
    if (call.method === sendsTransaction) onTransaction();
  }

  async function ask(call: Call, signal: AbortSignal) {
    const url = nodeUrl();
    if (url === null) return away(call, 'is being rebuilt from its journal');
    try {
      const answered = await request(url, {
        dispatcher: agent,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(call),
        signal,
      });
      if (answered.statusCode === 200) return answered;
      await answered.body.dump();
      return away(call, `responded with HTTP status ${answered.statusCode}`);
    } catch {
      return away(call, signal.aborted ? `did not answer within ${deadlineMs} ms` : 'does not answer');
    }
  }

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
    await Promise.all([closed, agent.destroy()]);
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

function away({ id }: Call, how: string): Refusal {
  return refusal(id, { code: unavailable, message: `the node of the embedded chain ${how}` });
}

function refused(message: string): Refusal {
  return refusal(null, { code: invalidRequest, message });
}

function end(response: ServerResponse, status: number, body: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
