/**
 * An OpenTimestamps calendar on loopback: collects digests into Merkle trees, answers with pending timestamps, and with
 * complete ones once a block was mined. It can misbehave in the ways that calendars and networks do.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type MadeBlock, makeBlock, putIntoBlock } from './bitcoin-block.ts';
import {
  append,
  bitcoinAttestation,
  hashed,
  joinTrails,
  pendingAttestation,
  prepend,
  startTrail,
  type Trails,
} from './trails.ts';

/**
 * - `away`: closes every connection
 * - `silent`: never answers
 * - `slow`: starts an answer and never ends it
 * - `garbage`: sends bytes that are no timestamp
 * - `huge`: sends more than a client may read
 * - `failing`: answers 500
 * - `moved`: redirects to `movedTo`
 * - `confused`: sends the timestamp of something else
 * - `inventing`: says that the blocks `invented` have the commitment itself
 */
export type CalendarMode =
  | 'well'
  | 'away'
  | 'silent'
  | 'slow'
  | 'garbage'
  | 'huge'
  | 'failing'
  | 'moved'
  | 'confused'
  | 'inventing';

export interface CalendarRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface CalendarServer {
  url: string;
  mode: CalendarMode;
  movedTo: string;
  /** What its pending attestations name; its own address unless set. */
  uri: string;
  /** Heights of blocks. */
  invented: number[];
  requests: CalendarRequest[];
  /** Puts everything that was submitted so far into a block, alone or together with other calendars. */
  mine(block: { height: number; time: number }): MadeBlock;
  close(): Promise<void>;
}

/** Digests that arrive within this time share a tree. */
const roundMs = 5;

export async function startCalendar(): Promise<CalendarServer> {
  const sockets = new Set<Socket>();
  const complete = new Map<string, Buffer>();
  let waiting: { trails: Trails; answer(timestamp: Buffer): void }[] = [];
  let unmined: Buffer[] = [];

  function endRound(): void {
    const round = waiting;
    waiting = [];
    const tree = joinTrails(
      round.map(({ trails }) => trails),
      1,
    );
    const committed = append(prepend(tree, randomBytes(4)), randomBytes(8));
    unmined.push(committed.message);
    round.forEach(({ answer }, place) => {
      answer(Buffer.concat([...(committed.operations[place] ?? []), pendingAttestation(calendar.uri)]));
    });
  }

  function takeDigest(digest: Buffer, answer: (timestamp: Buffer) => void): void {
    waiting.push({ trails: hashed(append(startTrail(digest), randomBytes(16))), answer });
    if (waiting.length === 1) setTimeout(endRound, roundMs);
  }

  function answerWell({ method, path, body }: CalendarRequest, response: ServerResponse): void {
    if (method === 'POST' && path === '/digest') {
      if (body.length > 64) response.writeHead(400).end('digest too long');
      else takeDigest(body, (timestamp) => response.end(timestamp));
      return;
    }
    const [, commitment = ''] = /^\/timestamp\/((?:[0-9a-f]{2})+)$/.exec(path) ?? [];
    const timestamp = complete.get(commitment);
    if (method === 'GET' && timestamp) response.end(timestamp);
    else response.writeHead(404).end('Pending confirmation in Bitcoin blockchain');
  }

  const misbehave: Record<CalendarMode, (request: CalendarRequest, response: ServerResponse) => void> = {
    well: answerWell,
    away: (_request, response) => response.destroy(),
    silent: () => {},
    slow: (_request, response) => response.write('\xf0'),
    garbage: (_request, response) => response.end('<html>It works!</html>'),
    huge: (_request, response) => response.end(Buffer.alloc(100_000, 0x08)),
    failing: (_request, response) => response.writeHead(500).end(),
    moved: (_request, response) => response.writeHead(302, { location: calendar.movedTo }).end(),
    confused({ method, ...request }, response) {
      const other = [...complete.values()][0] ?? Buffer.alloc(0);
      if (method === 'GET') response.end(other);
      else answerWell({ ...request, method, body: randomBytes(32) }, response);
    },
    inventing(request, response) {
      if (request.method !== 'GET') return answerWell(request, response);
      const [last = 0, ...others] = calendar.invented;
      const marked = others.map((height) => Buffer.concat([Buffer.from([0xff]), bitcoinAttestation(height)]));
      response.end(Buffer.concat([...marked, bitcoinAttestation(last)]));
    },
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const received = { method, path, headers, body: Buffer.concat(chunks) };
      calendar.requests.push(received);
      misbehave[calendar.mode](received, response);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const calendar: CalendarServer = {
    url,
    uri: url,
    movedTo: url,
    mode: 'well',
    invented: [],
    requests: [],
    mine({ height, time }) {
      const commitments = unmined;
      unmined = [];
      const root = putIntoBlock(
        joinTrails(
          commitments.map((one) => hashed(startTrail(one))),
          1,
        ),
      );
      commitments.forEach((commitment, place) => {
        const trail = root.operations[place] ?? [];
        complete.set(commitment.toString('hex'), Buffer.concat([...trail, bitcoinAttestation(height)]));
      });
      return makeBlock({ height, time, merkleRoot: root.message });
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return calendar;
}
