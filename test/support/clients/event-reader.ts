/** A client of server-sent events that keeps what it gets, can stop reading, and tells how the answer ended. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { CallOptions, Service } from '../service/service.ts';

export interface Message {
  id: string;
  event: string;
  data: string;
}

export interface EventReader {
  response: IncomingMessage;
  /** Messages with data, as they come. */
  messages: Message[];
  /** The id seen last, also of a block without data. */
  lastId(): string;
  /** The first block, comments and all; empty until it is there. */
  greeting(): string;
  /** How many blocks came, heartbeats and the first one included. */
  blocks(): number;
  /** `complete` when the service ended the answer, `cut` when the connection broke. */
  ended: Promise<'complete' | 'cut'>;
  close(): void;
}

export const streamPath = '/api-v1/platform/events/stream';

/** Resolves when the head of the answer is there; only for a status of 200 is anything else worth a look. */
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
    // The process of a test that failed ends all the same.
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
