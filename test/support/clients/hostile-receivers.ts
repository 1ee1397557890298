/** Misbehaving receivers: each is a real server on its own port, and states the expected outcome. */
import { appendFileSync, copyFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { keptDirectory } from '../service/kept.ts';
import { certificate } from './receiver.ts';
import { makeSelfSigned } from './self-signed.ts';

export interface Hostile {
  name: string;
  /** How its deliveries end, after how many attempts, and what the log says about each. */
  status: 'succeeded' | 'failed' | 'pending';
  attempts: number;
  statusCode: number | null;
  error: RegExp | null;
  url: string;
  /** How many requests it has read, and how many of them it still keeps waiting. */
  requests(): number;
  underWay(): number;
  /** Bytes of its answers so far. */
  bytesSent(): number;
  close(): void;
}

/** Match the schedule and the time-out that a test sets. */
export const [allAttempts, timeoutMs] = [2, 3000];
const answered = (text: string) => new RegExp(`^The receiver answered ${text}`);
export const timedOut = /^No complete response within 3 s\.$/;
const cutOff = /^(The connection was reset|The receiver closed the connection)/;
const notHttp = /^The response is not valid HTTP/;
const tls = /^The TLS connection failed: /;

type Behaviour = (socket: TLSSocket, raw: Socket) => void;
type Case = Pick<Hostile, 'name' | 'statusCode' | 'error'> &
  Partial<Pick<Hostile, 'status' | 'attempts'>> & {
    answer: Behaviour | string;
    server?: 'plain' | TlsOptions;
  };

const gigabyte = 1024 ** 3;
const sent = (status: number, headers: string[] = [], body = '') =>
  [`HTTP/1.1 ${status} X`, 'connection: close', `content-length: ${body.length}`, ...headers, '', body].join(
    '\r\n',
  );
const every = (ms: number, socket: Socket, text: string) => {
  const timer = setInterval(() => socket.write(text), ms);
  socket.on('close', () => clearInterval(timer));
};

/** Writes as long as the other side reads. */
function pour(socket: Socket, chunk: Buffer, totalBytes: number): void {
  let left = totalBytes;
  const more = () => {
    while (left > 0 && !socket.destroyed) {
      left -= chunk.length;
      if (!socket.write(chunk)) return void socket.once('drain', more);
    }
  };
  more();
}

/** `caFile` also contains the certificates whose only fault is another one. */
export async function startHostileReceivers(): Promise<{ hostile: Hostile[]; caFile: string }> {
  const dir = keptDirectory('hostile-');
  const caFile = join(dir, 'ca.pem');
  copyFileSync(certificate().caFile, caFile);
  const unknown = makeSelfSigned('localhost');
  const elsewhere = makeSelfSigned('elsewhere.example.org');
  const expired = makeSelfSigned('localhost', { expired: true });
  for (const { cert } of [elsewhere, expired]) appendFileSync(caFile, cert);
  // Concatenated gzip members are one valid file.
  const bomb = Buffer.concat(Array(16).fill(gzipSync(Buffer.alloc(16 * 1024 * 1024))));

  const cases: Case[] = [
    {
      name: '200',
      answer: sent(200, [], 'fine'),
      status: 'succeeded',
      attempts: 1,
      statusCode: 200,
      error: null,
    },
    {
      name: '204',
      answer: 'HTTP/1.1 204 X\r\nconnection: close\r\n\r\n',
      status: 'succeeded',
      attempts: 1,
      statusCode: 204,
      error: null,
    },
    { name: '500', answer: sent(500, [], 'broken'), statusCode: 500, error: answered('500\\.$') },
    { name: '410', answer: sent(410), attempts: 1, statusCode: 410, error: answered('410 Gone\\.$') },
    {
      name: '429 with Retry-After in seconds',
      answer: sent(429, ['retry-after: 3600']),
      ...{ status: 'pending', attempts: 1, statusCode: 429, error: answered('429\\.$') },
    },
    {
      name: '429 with Retry-After as a date',
      answer: (socket) =>
        socket.end(sent(429, [`retry-after: ${new Date(Date.now() + 7_200_000).toUTCString()}`])),
      ...{ status: 'pending', attempts: 1, statusCode: 429, error: answered('429\\.$') },
    },
    {
      name: '503 with Retry-After beyond a day',
      answer: sent(503, ['retry-after: 999999999']),
      ...{ status: 'pending', attempts: 1, statusCode: 503, error: answered('503\\.$') },
    },
    { name: 'hangs', answer: () => {}, statusCode: null, error: timedOut },
    { name: 'never reads', answer: (socket) => socket.pause(), statusCode: null, error: timedOut },
    {
      name: 'sends its headers byte by byte',
      answer(socket) {
        socket.write('HTTP/1.1 200 X\r\nx-slow: ');
        every(200, socket, 'x');
      },
      ...{ statusCode: null, error: timedOut },
    },
    {
      name: 'sends its body byte by byte',
      answer(socket) {
        socket.write(`HTTP/1.1 200 X\r\ncontent-length: ${gigabyte}\r\n\r\n`);
        every(200, socket, 'x');
      },
      ...{ statusCode: 200, error: timedOut },
    },
    {
      name: 'answers with a gigabyte',
      answer(socket) {
        socket.write(`HTTP/1.1 200 X\r\ncontent-length: ${gigabyte}\r\n\r\n`);
        pour(socket, Buffer.alloc(64 * 1024, 'a'), gigabyte);
      },
      ...{ status: 'succeeded', attempts: 1, statusCode: 200, error: null },
    },
    {
      name: 'answers with a gzip bomb',
      answer(socket) {
        socket.write(`HTTP/1.1 200 X\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
        socket.write(bomb);
      },
      ...{ status: 'succeeded', attempts: 1, statusCode: 200, error: null },
    },
    { name: 'closes at once', answer: (socket) => socket.destroy(), statusCode: null, error: cutOff },
    {
      name: 'resets in the middle of its headers',
      answer: (socket, raw) => socket.write('HTTP/1.1 200 X\r\nx-half: ', () => raw.resetAndDestroy()),
      ...{ statusCode: null, error: cutOff },
    },
    {
      name: 'resets in the middle of its body',
      answer: (socket, raw) =>
        socket.write('HTTP/1.1 200 X\r\ncontent-length: 1000\r\n\r\nhalf', () => raw.resetAndDestroy()),
      ...{ statusCode: 200, error: cutOff },
    },
    {
      name: 'ends before its body does',
      answer: (socket) => socket.end('HTTP/1.1 200 X\r\ncontent-length: 1000\r\n\r\nhalf'),
      ...{ statusCode: 200, error: cutOff },
    },
    { name: 'has a certificate nobody knows', answer: '', server: unknown, statusCode: null, error: tls },
    {
      name: 'has a certificate for another host',
      answer: '',
      server: elsewhere,
      statusCode: null,
      error: tls,
    },
    { name: 'has an expired certificate', answer: '', server: expired, statusCode: null, error: tls },
    {
      name: 'speaks plain HTTP on its port',
      answer: sent(200),
      server: 'plain',
      statusCode: null,
      error: tls,
    },
    {
      name: 'speaks TLS 1.0 only',
      answer: sent(200),
      server: { ...certificate(), minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
      ...{ statusCode: null, error: tls },
    },
    {
      name: 'answers with garbage',
      answer: (socket) =>
        socket.end(Buffer.from(Array.from({ length: 5000 }, (_, place) => (place * 89) % 251))),
      ...{ statusCode: null, error: notHttp },
    },
    { name: 'answers as a mail server', answer: '220 mail ESMTP\r\n', statusCode: null, error: notHttp },
    {
      name: 'has a megabyte of headers',
      answer(socket) {
        socket.write('HTTP/1.1 200 X\r\n');
        pour(socket, Buffer.from(`x-long: ${'a'.repeat(1000)}\r\n`), 1024 * 1024);
      },
      ...{ statusCode: null, error: /^The headers of the response are too large\.$/ },
    },
    {
      name: 'answers 1xx without end',
      answer: (socket) => every(50, socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(50)),
      ...{ statusCode: null, error: timedOut },
    },
    {
      name: 'switches protocols',
      answer: (socket) => socket.write('HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
      ...{ statusCode: null, error: cutOff },
    },
    {
      name: 'names two lengths',
      answer: (socket) => socket.end('HTTP/1.1 200 X\r\ncontent-length: 2\r\ncontent-length: 4\r\n\r\nabcd'),
      ...{ statusCode: null, error: notHttp },
    },
    {
      name: 'breaks its chunks',
      answer: (socket) =>
        socket.end(
          'HTTP/1.1 200 X\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\nzz\r\n',
        ),
      ...{ statusCode: 200, error: notHttp },
    },
    {
      name: 'answers with NUL and broken text',
      answer: sent(500, ['x-odd: \xff\xfe'], '\0\ud800\0'),
      ...{ statusCode: 500, error: answered('500\\.$') },
    },
  ];
  const hostile = await Promise.all(cases.map(start));
  return { hostile, caFile };
}

/** A server that reads the whole request before it misbehaves. */
async function start({ answer, server: kind = certificate(), ...expected }: Case): Promise<Hostile> {
  const sockets = new Set<Socket>();
  let bytes = 0;
  let requests = 0;
  let underWay = 0;
  const behave = (socket: Socket, raw: Socket) => {
    socket.on('error', () => {}).on('close', () => (bytes += socket.bytesWritten));
    afterRequest(socket, () => {
      requests += 1;
      underWay += 1;
      socket.on('close', () => (underWay -= 1));
      if (typeof answer === 'string') socket.end(answer, 'latin1');
      else answer(socket as TLSSocket, raw);
    });
  };
  const parents = new Map<number | undefined, Socket>();
  const server: Server =
    kind === 'plain'
      ? createServer((socket) => socket.write(String(answer)))
      : createTlsServer(kind, (socket) => behave(socket, parents.get(socket.remotePort) as Socket));
  server.on('tlsClientError', () => {});
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    parents.set(socket.remotePort, socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    status: 'failed',
    attempts: allAttempts,
    ...expected,
    url: `https://localhost:${(server.address() as AddressInfo).port}/hook`,
    requests: () => requests,
    underWay: () => underWay,
    bytesSent: () => bytes,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function afterRequest(socket: Socket, act: () => void): void {
  let text = '';
  const read = (chunk: Buffer) => {
    text += chunk.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
    if (end === -1 || text.length < end + 4 + length) return;
    socket.off('data', read);
    act();
  };
  socket.on('data', read);
}
