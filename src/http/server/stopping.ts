/** Closes connections when the service stops: idle ones at once, busy ones after their answer, all after a time limit. */
import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.ts';
import { pause } from '../../runtime/loop.ts';
import { isHttp2 } from '../bodies/line.ts';

/** Requests that are running when the stop begins get this long to be answered. */
const longestAnswerMs = 5_000;

interface Connection {
  /** Requests running on it. */
  answers: number;
  /** Bytes read from it that belong to answered requests. */
  answeredBytes: number;
}

/** Closes connections that are idle when the stop begins at once, and busy ones after their answer. */
export function closeConnectionsWhenStopping(app: FastifyInstance, config: Config): void {
  let stopping = false;
  const connections = new Map<Socket, Connection>();
  const raw = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  app.server.on(config.tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    if ((socket as TLSSocket).alpnProtocol === 'h2') return;
    connections.set(socket, { answers: 0, answeredBytes: 0 });
    socket.once('close', () => connections.delete(socket));
  });
  if (config.tls) {
    app.server.on('connection', (socket: Socket) => {
      raw.add(socket);
      socket.once('close', () => raw.delete(socket));
    });
    (app.server as unknown as NodeJS.EventEmitter).on('session', (session: ServerHttp2Session) => {
      sessions.add(session);
      session.once('close', () => sessions.delete(session));
    });
  }
  app.server.on('request', ({ socket }, response) => {
    const connection = connections.get(socket);
    if (!connection) return;
    connection.answers += 1;
    response.once('close', () => {
      connection.answers -= 1;
      connection.answeredBytes = socket.bytesRead;
    });
  });
  // Node.js considers a connection idle once its answer was written, although most of that may still be in transit.
  app.server.closeIdleConnections = () => {
    for (const [socket, { answers, answeredBytes }] of connections)
      if (answers === 0 && answeredBytes > 0 && socket.bytesRead === answeredBytes) socket.destroy();
  };
  app.addHook('preClose', async () => {
    stopping = true;
    // A request that has been sent but not read yet would be lost with its connection: it gets a moment.
    await pause(200, new AbortController().signal);
    // Clients also open connections in advance.
    for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy();
    // Tells the client to open no more requests here; closes when the open ones have ended.
    for (const session of sessions) session.close();
    const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
    // Anything that has not sent its complete request or handshake by then never will.
    const cut = setTimeout(() => {
      for (const session of sessions) session.destroy();
      for (const socket of [...connections.keys(), ...raw]) socket.destroy();
    }, longestAnswerMs);
    app.server.once('close', () => {
      clearInterval(sweep);
      clearTimeout(cut);
    });
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (stopping && !isHttp2(request)) reply.header('connection', 'close');
    done(null, payload);
  });
}
