/**
 * The receiver itself; see receiver.ts. It reads just enough of HTTP to answer: a whole HTTP server would take as much
 * of the machine as the senders do, and be what is measured.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { answerQuestions } from './child.ts';
import type { Arrivals, ReceiverQuestion, Sample } from './receiver.ts';

interface Seen {
  ids: Set<string>;
  latenciesMs: number[];
  sample: Sample;
}

let seen = new Map<string, Seen>();
let requests = 0;
let expectedPaths = new Set<string>();
let unique = 0;
let wanted = Number.POSITIVE_INFINITY;
let firstAt = 0;
let lastAt = 0;
let onComplete: (() => void) | null = null;
let hangingPath: string | null = null;
let hanging: Socket[] = [];

answerQuestions<ReceiverQuestion, unknown>(async (question) => {
  switch (question.ask) {
    case 'listen':
      return listen();
    case 'expect':
      seen = new Map();
      requests = 0;
      firstAt = 0;
      expectedPaths = new Set(question.paths);
      unique = 0;
      return null;
    case 'arrivals':
      wanted = expectedPaths.size * question.events;
      await complete(question.timeoutMs);
      wanted = Number.POSITIVE_INFINITY;
      return arrivals();
    case 'hang':
      hangingPath = question.path;
      if (hangingPath === null) {
        for (const socket of hanging) answer(socket);
        hanging = [];
      }
      return null;
  }
});

async function listen(): Promise<string> {
  const server = createServer({ noDelay: true }, serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function serve(socket: Socket): void {
  let rest: Buffer | null = null;
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    let bytes = rest ? Buffer.concat([rest, chunk]) : chunk;
    for (;;) {
      const taken = takeRequest(socket, bytes);
      if (taken === 0) break;
      bytes = bytes.subarray(taken);
    }
    rest = bytes.length > 0 ? bytes : null;
  });
}

const headEnd = '\r\n\r\n';

/** Takes the first request from the bytes; returns its length, or 0 when it is not all there yet. */
function takeRequest(socket: Socket, bytes: Buffer): number {
  const headLength = bytes.indexOf(headEnd);
  if (headLength < 0) return 0;
  const head = bytes.toString('latin1', 0, headLength);
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
  if (!Number.isFinite(length)) throw new Error(`a request without content-length: ${head}`);
  const bodyStart = headLength + headEnd.length;
  if (bytes.length < bodyStart + length) return 0;
  const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' ', head.indexOf(' ') + 1));
  note(path, head, bytes.subarray(bodyStart, bodyStart + length));
  if (path === hangingPath) hanging.push(socket);
  else answer(socket);
  return bodyStart + length;
}

function note(path: string, head: string, body: Buffer): void {
  const id = /webhook-id: (\S+)/i.exec(head)?.[1];
  if (id === undefined) throw new Error(`a request without webhook-id: ${head}`);
  let here = seen.get(path);
  if (!here) {
    here = { ids: new Set(), latenciesMs: [], sample: toSample(path, head, body) };
    seen.set(path, here);
  }
  requests += 1;
  if (here.ids.has(id)) return;
  here.ids.add(id);
  here.latenciesMs.push(Date.now() - timestampOf(body));
  if (!expectedPaths.has(path)) return;
  lastAt = performance.now();
  if (firstAt === 0) firstAt = lastAt;
  unique += 1;
  if (unique >= wanted) onComplete?.();
}

const timestampMark = Buffer.from('"timestamp":"');
const timestampLength = '2026-01-01T00:00:00.000Z'.length;

function timestampOf(body: Buffer): number {
  const start = body.indexOf(timestampMark) + timestampMark.length;
  return Date.parse(body.toString('latin1', start, start + timestampLength));
}

function toSample(path: string, head: string, body: Buffer): Sample {
  const lines = head.split('\r\n').slice(1);
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  return { path, headers, body: body.toString('utf8') };
}

let date = '';
let dateUntil = 0;

/** With the headers that a Node.js server sends, because senders keep them. */
function answer(socket: Socket): void {
  const now = performance.now();
  if (now > dateUntil) {
    date = new Date().toUTCString();
    dateUntil = now + 1000;
  }
  socket.write(
    `HTTP/1.1 204 No Content\r\nDate: ${date}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=60\r\n\r\n`,
  );
}

async function complete(timeoutMs: number): Promise<void> {
  if (unique >= wanted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  onComplete = resolve;
  const timer = setTimeout(resolve, timeoutMs);
  await promise;
  clearTimeout(timer);
  onComplete = null;
}

function arrivals(): Arrivals {
  const paths = [...seen];
  return {
    seconds: (lastAt - firstAt) / 1000,
    requests,
    byPath: Object.fromEntries(paths.map(([path, { ids }]) => [path, ids.size])),
    latenciesMs: Object.fromEntries(paths.map(([path, { latenciesMs }]) => [path, latenciesMs])),
    samples: paths.map(([, { sample }]) => sample),
  };
}
