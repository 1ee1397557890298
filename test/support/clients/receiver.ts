/** A real HTTPS server with its own certificate that acts as a webhook receiver. */
import { writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { keptDirectory } from '../service/kept.ts';
import { makeSelfSigned } from './self-signed.ts';

export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** Writes the answer; 204 by default. */
  answer: (response: ServerResponse, received: Received) => void;
  close(): Promise<void>;
}

let made: { caFile: string; cert: string; key: string } | null = null;

/**
 * A self-signed certificate for localhost, made once per process; the file is for
 * HOLDFAST_WEBHOOK_CA_FILE.
 */
export function certificate(): { caFile: string; cert: string; key: string } {
  if (made) return made;
  const { cert, key } = makeSelfSigned('localhost', { hosts: ['localhost', '127.0.0.1'] });
  made = { caFile: join(keptDirectory('cert-'), 'cert.pem'), cert, key };
  writeFileSync(made.caFile, cert);
  return made;
}

export async function startReceiver(): Promise<Receiver> {
  const { cert, key } = certificate();
  const sockets = new Set<Duplex>();
  const server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = { headers: request.headers, body: Buffer.concat(chunks).toString('utf8') };
      receiver.received.push(one);
      receiver.answer(response, one);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `https://localhost:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    answer: (response) => response.writeHead(204).end(),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
