/**
 * Requests over kept connections, reading just enough of HTTP to know when an answer is there. undici takes 64 KB of new
 * memory for each read; clearing that away every second or so was most of what a p99 of large answers told.
 */
import { connect, type Socket } from 'node:net';

export interface LeanRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface LeanAnswer {
  statusCode: number;
  /** Empty when it was not wanted and the status is 2xx. */
  text: string;
}

export interface LeanClient {
  /** Waits for nobody: there are as many connections as requests at once. */
  request(request: LeanRequest, options: { keepText: boolean }): Promise<LeanAnswer>;
  close(): void;
}

export function createLeanClient(url: string): LeanClient {
  const { hostname, port, host } = new URL(url);
  const idle: Connection[] = [];
  const all = new Set<Connection>();

  function open(): Connection {
    const connection = createConnection({ host: hostname, port: Number(port) });
    all.add(connection);
    return connection;
  }

  return {
    async request({ method, path, headers, body = '' }, { keepText }) {
      const connection = idle.pop() ?? open();
      const lines = Object.entries({ host, ...headers, 'content-length': Buffer.byteLength(body) });
      const head = `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
      const answer = await connection.ask(head + body, keepText);
      idle.push(connection);
      return answer;
    },
    close() {
      for (const connection of all) connection.end();
    },
  };
}

interface Connection {
  ask(request: string, keepText: boolean): Promise<LeanAnswer>;
  end(): void;
}

interface Waiting {
  keepText: boolean;
  resolve(answer: LeanAnswer): void;
  reject(error: Error): void;
}

const headEnd = '\r\n\r\n';
const readBytes = 256 * 1024;

function createConnection(target: { host: string; port: number }): Connection {
  let waiting: Waiting | null = null;
  let head = '';
  let answer: LeanAnswer | null = null;
  let left = 0;
  let kept: Buffer[] = [];

  function read(count: number, buffer: Uint8Array): boolean {
    let bytes = Buffer.from(buffer.buffer, buffer.byteOffset, count);
    if (answer === null) {
      const before = head.length;
      head += bytes.toString('latin1');
      const end = head.indexOf(headEnd);
      if (end < 0) return true;
      answer = { statusCode: Number(head.slice(9, 12)), text: '' };
      left = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
      if (Number.isNaN(left)) socket.destroy(new Error(`an answer without content-length: ${head}`));
      bytes = bytes.subarray(end + headEnd.length - before);
    }
    left -= bytes.length;
    // The buffer is used again for what comes next.
    if (waiting?.keepText || answer.statusCode >= 300) kept.push(Buffer.from(bytes));
    if (left === 0) finish({ ...answer, text: Buffer.concat(kept).toString() });
    return true;
  }

  function finish(told: LeanAnswer): void {
    const { resolve } = waiting ?? {};
    waiting = null;
    answer = null;
    head = '';
    kept = [];
    resolve?.(told);
  }

  const socket: Socket = connect({
    ...target,
    noDelay: true,
    onread: { buffer: Buffer.alloc(readBytes), callback: read },
  });
  const fail = (error: Error) => {
    waiting?.reject(error);
    waiting = null;
  };
  socket.on('error', fail).on('close', () => fail(new Error('the connection was closed')));

  return {
    ask(request, keepText) {
      const { promise, resolve, reject } = Promise.withResolvers<LeanAnswer>();
      waiting = { keepText, resolve, reject };
      socket.write(request);
      return promise;
    },
    end: () => socket.destroy(),
  };
}
