/** A client of server-sent events that keeps all messages, can stop reading, and reports how the response ended. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { CallOptions, Service } from '../service/service.ts';

export interface Message {
  id: string;
  event: string;
  data: string;
}

export interface EventReader {
  response: IncomingMessage;
  /** Messages with data, in order. */
  messages: Message[];
  /** The last seen id, also from a block without data. */
  lastId(): string;
  /** The first block, including comments; empty until it arrives. */
  greeting(): string;
  /** The number of received blocks, including heartbeats and the first one. */
  blocks(): number;
  /** `complete` when the service ended the response, `cut` when the connection broke. */
  ended: Promise<'complete' | 'cut'>;
  close(): void;
}

export const streamPath = '/api-v1/platform/events/stream';

/** Resolves when the response headers arrive; only with status 200 are the other members meaningful. */
export function readEvents(
  service: Pick<Service, 'url' | 'key'>,
  query = '',
  { key = service.key, headers = {} }: Pick<CallOptions, 'key' | 'headers'> = {},
): Promise<EventReader> {
  return new Promise((resolve, reject) => {
    const sent: ClientRequest = request(
      service.url + streamPath + query,
      { agent: false, headers: { ...(key !== null && { 'x-api-key': key }), ...headers } },
      (response) => resolve(toReader(sent, response)),
    );
    // Lets the process of a failed test exit.
    sent.on('socket', (socket) => socket.unref());
    sent.on('error', reject);
    sent.end();
  });
}

function toReader(sent: ClientRequest, response: IncomingMessage): EventReader {
  const messages: Message[] = [];
  let greeting = '';
  let count = 0;
  let rest = '';
  let lastId = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    count += blocks.length;
    for (const block of blocks) {
      greeting ||= `${block}\n\n`;
      const { id, event = 'message', data } = toFields(block);
      lastId = id ?? lastId;
      if (data !== undefined) messages.push({ id: lastId, event, data });
    }
  });
  const ended = new Promise<'complete' | 'cut'>((resolve) =>
    response.on('close', () => resolve(response.complete ? 'complete' : 'cut')),
  );
  response.on('error', () => {});
  return {
    response,
    messages,
    lastId: () => lastId,
    greeting: () => greeting,
    blocks: () => count,
    ended,
    close() {
      sent.destroy();
    },
  };
}

function toFields(block: string): Record<string, string> {
  const lines = block.split('\n').filter((line) => !line.startsWith(':'));
  return Object.fromEntries(lines.map((line) => line.split(/: (.*)/s, 2) as [string, string]));
}
