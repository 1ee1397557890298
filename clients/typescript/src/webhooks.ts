/** Checks the signature of a webhook, and reads its event. */
import type { Event } from './event-types.ts';

/** What an endpoint receives when it is saved or tested. */
export interface TestEvent {
  id: string;
  type: 'webhook.test';
  timestamp: string;
  workspace_id: string;
  data: { endpoint_id: string };
}

export type WebhookEvent = Event | TestEvent;

export interface WebhookRequest {
  /** The secret of the endpoint: whsec_…; while it is being rotated, both. */
  secret: string | readonly string[];
  headers: Headers | Record<string, string | string[] | undefined>;
  /** The bytes as they came: JSON that was parsed and written again has another signature. */
  body: string | Uint8Array;
  /**
   * Which signature decides. `standard`, the default, is that of Standard Webhooks and covers the time too; `sha256` is
   * the header X-Service-Signature.
   */
  scheme?: 'standard' | 'sha256';
  /** The operator's HOLDFAST_SERVICE_NAME, for the scheme sha256. */
  serviceName?: string;
  /** How far the time may be off, for the scheme standard; by default five minutes. */
  toleranceSeconds?: number;
}

/** The request does not come from the service, was changed, or is too old. Answer with 401. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

const encoder = new TextEncoder();

/** Throws a WebhookVerificationError unless the signature is right. Skip types of events that you do not know. */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookEvent> {
  const { secret, scheme = 'standard' } = request;
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (!secrets.every((one) => one.startsWith('whsec_'))) throw new TypeError('A secret begins with whsec_.');
  const body = typeof request.body === 'string' ? encoder.encode(request.body) : request.body;
  const check = scheme === 'standard' ? isStandard : isSha256;
  for (const one of secrets) {
    if (await check(one, body, request)) return readEvent(body);
  }
  throw new WebhookVerificationError('The signature does not match.');
}

/** https://github.com/standard-webhooks/standard-webhooks: id, time and body, keyed with the bytes that the secret encodes. */
async function isStandard(secret: string, body: Uint8Array, request: WebhookRequest): Promise<boolean> {
  const { headers, toleranceSeconds = 300 } = request;
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('webhook-timestamp is missing.');
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookVerificationError('The request is too old, or a clock is wrong.');
  }
  const key = decodedBase64(secret.slice('whsec_'.length));
  const expected = `v1,${toBase64(await hmac(key, [encoder.encode(`${id}.${timestamp}.`), body]))}`;
  const signatures = headerOf(headers, 'webhook-signature').split(' ');
  return signatures.filter((signature) => isEqual(signature, expected)).length > 0;
}

/** The body alone, keyed with the text of the secret. */
async function isSha256(secret: string, body: Uint8Array, request: WebhookRequest): Promise<boolean> {
  const { headers, serviceName = 'Service' } = request;
  const signature = await hmac(encoder.encode(secret), [body]);
  const hex = Array.from(signature, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return isEqual(headerOf(headers, `x-${serviceName.toLowerCase()}-signature`), `sha256=${hex}`);
}

function readEvent(body: Uint8Array): WebhookEvent {
  const event: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  const { id, type } = Object(event) as Record<string, unknown>;
  if (typeof id !== 'string' || typeof type !== 'string') throw new TypeError('The body is not an event.');
  return event as WebhookEvent;
}

function headerOf(headers: WebhookRequest['headers'], name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  const [, value] = Object.entries(headers).find(([given]) => given.toLowerCase() === name) ?? [];
  return [value ?? ''].flat().join(', ');
}

async function hmac(key: Uint8Array<ArrayBuffer>, parts: Uint8Array[]): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign']);
  const signed = await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer();
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, signed));
}

/** Takes as long for any two texts of one length. */
function isEqual(given: string, expected: string): boolean {
  if (given.length !== expected.length) return false;
  let difference = 0;
  for (let place = 0; place < expected.length; place += 1) {
    difference |= given.charCodeAt(place) ^ expected.charCodeAt(place);
  }
  return difference === 0;
}

function decodedBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
