/** Picks the TCP port of the server on 127.0.0.1. */
import { createServer } from 'node:net';

/** The preferred port if nobody listens there, so that pools reconnect by themselves; otherwise any free one. */
export async function choosePort(preferred: number | null): Promise<number> {
  if (preferred !== null) {
    const port = await listenOnce(preferred).catch(() => null);
    if (port !== null) return port;
  }
  return listenOnce(0);
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      const chosen = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve(chosen));
    });
  });
}
