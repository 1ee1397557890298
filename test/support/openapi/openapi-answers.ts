/** Assertions that hold for every response, and a client that sends exactly the given bytes. */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { type ErrorCode, errorKinds } from '../../../src/runtime/errors.ts';
import { type Answer, isEventStream } from '../service/service.ts';

/** Fails unless the response has the common error shape, with the status that belongs to its code. */
export function assertError(answer: Answer, code?: ErrorCode, message?: RegExp): void {
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8', answer.text);
  assertErrorMembers(answer, Object.keys(answer.json), code);
  if (message) assert.match(answer.json.message, message);
}

/** The RFC 9457 form: the same four members beside its own. */
export function assertProblem(answer: Answer, code?: ErrorCode): void {
  const type = answer.headers.get('content-type') ?? '';
  assert.match(type, /^application\/problem\+json(; charset=utf-8)?$/, answer.text);
  const { type: problemType, title, status, detail, ...rest } = answer.json;
  assertErrorMembers(answer, Object.keys(rest), code);
  assert.equal(problemType, rest.docUrl);
  assert.equal(title, rest.errorCode);
  assert.equal(status, answer.status);
  assert.equal(detail, rest.message);
}

function assertErrorMembers({ json, status, text }: Answer, members: string[], code?: ErrorCode): void {
  assert.deepEqual(members.sort(), ['docUrl', 'errorCode', 'message', 'timestamp'], text);
  for (const member of members) assert.equal(typeof json[member], 'string', text);
  if (code) assert.equal(json.errorCode, code, text);
  assert.equal(status, errorKinds[json.errorCode as ErrorCode]?.status, text);
  assert.notEqual(json.message, '');
  assert.match(json.docUrl, new RegExp(`^https?://\\S+#${json.errorCode}$`));
  assert.equal(new Date(json.timestamp).toISOString(), json.timestamp);
}

export interface Sent {
  method: string;
  /** Sent unchanged: nothing is encoded or normalised. */
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer | undefined;
}

const agent = new Agent({ keepAlive: true });

/** fetch refuses some methods and rewrites some paths; this does not. */
export function send(base: string, { method, path, headers = {}, body }: Sent): Promise<Answer> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      const finish = () => {
        const text = Buffer.concat(chunks).toString();
        resolve(toAnswer(response.statusCode ?? 0, response.headers as Record<string, string>, text));
      };
      response.on('data', (chunk) => {
        chunks.push(chunk);
        // An event stream has no end: take only its first chunk.
        if (!isEventStream(response.headers['content-type'])) return;
        finish();
        sent.destroy();
      });
      response.on('error', reject);
      response.on('end', finish);
    });
    sent.on('error', reject);
    // A body needs its length, even with methods that usually have none.
    if (body !== undefined) sent.setHeader('content-length', Buffer.byteLength(body));
    sent.end(body);
  });
}

/** Writes bytes to the socket and reads the one response until the service closes the connection. */
export async function sendBytes(base: string, bytes: string): Promise<Answer> {
  const { hostname, port } = new URL(base);
  const text = await new Promise<string>((resolve, reject) => {
    let received = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
  const [head = '', ...body] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(lines.map((line) => line.split(/:\s*/, 2) as [string, string]));
  return toAnswer(Number(statusLine.split(' ')[1]), headers, body.join('\r\n\r\n'));
}

function toAnswer(status: number, headers: Record<string, string>, text: string): Answer {
  const answer = { status, headers: new Headers(headers), text };
  const isJson = /json/.test(answer.headers.get('content-type') ?? '') && text !== '';
  return { ...answer, json: isJson ? JSON.parse(text) : null };
}
