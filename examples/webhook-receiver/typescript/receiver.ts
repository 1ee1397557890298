/**
 * Receives Holdfast webhooks with nothing but Node.js (22.18 or newer, which runs TypeScript as it is):
 *
 *   WEBHOOK_SECRET=whsec_… PORT=8080 node receiver.ts
 *
 * WEBHOOK_SCHEME says which signature decides: "standard" (the default: it covers the time too, and while a secret
 * rotates it holds both signatures) or "sha256". Choose one; accepting either would be as weak as the weaker one.
 * It speaks plain HTTP on loopback: put a proxy with a certificate in front of it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

const secret = process.env.WEBHOOK_SECRET ?? '';
const scheme = process.env.WEBHOOK_SCHEME ?? 'standard';
const port = Number(process.env.PORT ?? 8080);
/** The word Service is the operator's HOLDFAST_SERVICE_NAME. */
const sha256Header = 'x-service-signature';
const maxBodyBytes = 1024 * 1024;
const toleranceSeconds = 5 * 60;
const maxRemembered = 10_000;

if (!secret.startsWith('whsec_') || !['standard', 'sha256'].includes(scheme)) {
  console.error(
    'Set WEBHOOK_SECRET to the whsec_… of the endpoint, and WEBHOOK_SCHEME to standard or sha256.',
  );
  process.exit(1);
}

/** Standard Webhooks: HMAC over id, time and body, keyed with the bytes that the secret encodes. */
function isStandard(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const signatures = headers['webhook-signature'];
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return false;
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds) return false;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  return signatures.split(' ').some((signature) => isEqual(signature, `v1,${expected}`));
}

/** The service's own header: HMAC over the body alone, keyed with the secret's text. */
function isSha256(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const expected = createHmac('sha256', secret).update(body).digest('hex');
  return isEqual(String(headers[sha256Header] ?? ''), `sha256=${expected}`);
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The bytes as they came: parsing and writing JSON again would change them, and the signature with them. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > maxBodyBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Ids that were handled. In production: a unique key in your database, written in one commit with the work itself. */
const seen = new Set<string>();

function remember(id: string): boolean {
  if (seen.has(id)) return false;
  seen.add(id);
  for (const oldest of seen) {
    if (seen.size <= maxRemembered) break;
    seen.delete(oldest);
  }
  return true;
}

/** Put the event into a queue of your own here: the sender waits 30 seconds at most. */
function handle(event: { id: string; type: string }): void {
  console.log(`handled ${event.type} ${event.id}`);
}

async function receive(request: IncomingMessage): Promise<number> {
  if (request.method !== 'POST') return 405;
  const body = await readBody(request);
  if (body === null) return 413;
  const verify = scheme === 'standard' ? isStandard : isSha256;
  if (!verify(request.headers, body)) return 401;
  let event: { id: string; type: string };
  try {
    event = JSON.parse(body.toString('utf8'));
  } catch {
    return 400;
  }
  if (typeof event?.id !== 'string') return 400;
  // The same event again: it was handled, so the answer is the same.
  if (remember(event.id)) handle(event);
  return 204;
}

const server = createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status, status === 413 ? { connection: 'close' } : {}).end(),
    () => response.destroy(),
  );
});
server.listen(port, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
