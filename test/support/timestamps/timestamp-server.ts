/** An authority of RFC 3161 over HTTP on 127.0.0.1, which can be slow, away, wrong or hostile on request. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Der, elementsOf, integer, objectId, oidOf, readDer } from '../../../src/proof/rfc3161/der.ts';
import type { Bytes } from './der-writer.ts';
import { createTestAuthority, type TestAuthority } from './test-authority.ts';
import { makeAnswer, makeRefusal, type TokenOptions } from './test-token.ts';

export type ServerMood =
  | 'granting'
  /** Answers after `delayMs`. */
  | 'slow'
  /** 503. */
  | 'away'
  /** Ends the connection without an answer. */
  | 'hanging up'
  | 'wrong nonce'
  | 'wrong imprint'
  | 'garbage'
  | 'refusing'
  /** Megabytes that are no answer. */
  | 'huge';

export interface TimestampServer {
  url: string;
  authority: TestAuthority;
  mood: ServerMood;
  delayMs: number;
  /** Further fields of the tokens. */
  changes: Partial<TokenOptions>;
  /** For 'refusing'. */
  refusal: { status?: number; failure?: number; text?: string };
  /** The requests that were answered in any way, in their order. */
  requests: ReceivedRequest[];
  /** Answers GET: lists of revoked certificates, and certificates. */
  files: Map<string, Bytes>;
  /** Connections are refused until `reopen`, which takes the same port. */
  closeDoor(): Promise<void>;
  reopen(): Promise<void>;
  close(): Promise<void>;
}

export interface ReceivedRequest {
  imprint: Bytes;
  nonce: bigint | undefined;
  policy: string | undefined;
  certReq: boolean;
}

const hugeBytes = 8 * 1024 * 1024;

/** Its certificates are valid around now, and its tokens say now. */
export async function startTimestampServer(
  authority: TestAuthority = createTestAuthority({ around: Date.now() }),
  { port = 0 } = {},
): Promise<TimestampServer> {
  const sockets = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  const server = createServer((request, response) => {
    if (request.method === 'GET') return sendFile(request, response);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const asked = readRequest(Buffer.concat(chunks));
      started.requests.push(asked);
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          answer(asked, response);
        },
        started.mood === 'slow' ? started.delayMs : 0,
      );
      timers.add(timer);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  });
  const listen = (wanted: number) =>
    new Promise<void>((resolve) => server.listen(wanted, '127.0.0.1', resolve));
  const stop = async () => {
    for (const timer of timers) clearTimeout(timer);
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen(port);
  const taken = (server.address() as AddressInfo).port;
  const started: TimestampServer = {
    ...{ url: `http://127.0.0.1:${taken}/tsa`, authority, mood: 'granting', delayMs: 2_000 },
    ...{ changes: {}, refusal: { failure: 25 }, requests: [], files: new Map() },
    closeDoor: stop,
    reopen: () => listen(taken),
    close: async () => {
      if (server.listening) await stop();
    },
  };
  return started;

  function answer(asked: ReceivedRequest, response: ServerResponse): void {
    const { mood } = started;
    if (mood === 'hanging up') return void response.destroy();
    if (mood === 'away') return void response.writeHead(503).end('maintenance');
    response.writeHead(200, { 'content-type': 'application/timestamp-reply' });
    if (mood === 'garbage') return void response.end('<html>not a timestamp</html>');
    if (mood === 'huge') return void response.end(Buffer.alloc(hugeBytes, 0x30));
    if (mood === 'refusing') return void response.end(makeRefusal(started.refusal));
    response.end(makeAnswer(tokenFor(asked, mood)));
  }

  function tokenFor({ imprint, nonce, policy }: ReceivedRequest, mood: ServerMood): Bytes {
    return authority.stamp({
      imprint: mood === 'wrong imprint' ? imprint.map((byte) => byte ^ 1) : imprint,
      ...(nonce === undefined ? {} : { nonce: mood === 'wrong nonce' ? nonce + 1n : nonce }),
      ...(policy === undefined ? {} : { policy }),
      genTime: Math.floor(Date.now() / 1000) * 1000,
      serial: started.requests.length,
      ...started.changes,
    });
  }

  function sendFile({ url = '' }: IncomingMessage, response: ServerResponse): void {
    const file = started.files.get(url);
    response.writeHead(file ? 200 : 404).end(file);
  }
}

/** Throws when it is not a TimeStampReq of version 1 for SHA-256, so that a wrong request is noticed. */
export function readRequest(bytes: Bytes): ReceivedRequest {
  const [version, imprinted, ...rest] = elementsOf(readDer(new Uint8Array(bytes), 'The request'));
  const [algorithm, imprint] = imprinted ? elementsOf(imprinted) : [];
  const [hash] = algorithm ? elementsOf(algorithm) : [];
  if (
    version?.value[0] !== 1 ||
    !hash ||
    oidOf(hash) !== '2.16.840.1.101.3.4.2.1' ||
    imprint?.value.length !== 32
  ) {
    throw new Error('not a request of version 1 for SHA-256');
  }
  const find = (tag: number): Der | undefined => rest.find((field) => field.tag === tag);
  const [policy, nonce] = [find(objectId), find(integer)];
  return {
    imprint: imprint.value,
    nonce: nonce && BigInt(`0x${Buffer.from(nonce.value).toString('hex')}`),
    policy: policy && oidOf(policy),
    certReq: find(1)?.value[0] === 255,
  };
}
