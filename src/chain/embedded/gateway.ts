/** The gateway of the embedded chain: the address that others are told, behind which nobody can change what no block has. */
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
  /** Where the node listens now; null while it is not to be asked. */
  nodeUrl(): string | null;
  /** Called when the node was given a transaction. */
  onTransaction?(): void;
  /** For a request with all its calls, the time to read the answers included. */
  deadlineMs?: number;
}

/** A raw transaction has up to 128 KB, twice that in hex. */
const maxBodyBytes = 1024 * 1024;
/** Others wait, so that the service itself is always heard by the node. */
const callsAtOnce = 8;
const mostConnections = 64;

/** Opens on the port of the last time if it is free, so that what others were told stays true. */
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
    // In their order, so that transactions of a batch come with rising nonces.
    for (const [place, call] of read.calls.entries()) {
      if (read.batch) response.write(place === 0 ? '[' : ',');
      if ('error' in call) response.write(JSON.stringify(call));
      else await passOn(call, response, signal);
    }
    response.end(read.batch ? ']' : '');
  }

  /** Piece by piece as the node gives it: nothing large is held or read here. Throws when it breaks off in the middle. */
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
    // It broke off in the middle of an answer, or whoever asked is gone: there is nobody left to tell.
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

/** Null when it is too long; what is left of it is not read. */
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
  // A web page whose own name leads to 127.0.0.1 could ask like a program of this machine, but for this header.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? '')) {
    return { status: 403, message: 'use the host 127.0.0.1 or localhost' };
  }
  if (method !== 'POST') return { status: 405, message: 'use POST' };
  // Without it a web page could ask without the browser asking us first.
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
