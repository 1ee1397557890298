/**
 * Signs a delivery in two ways: with the service's own header, and with the Standard Webhooks headers, which can hold
 * signatures of secrets (v1) and of key pairs (v1a).
 */
import { randomBytes } from 'node:crypto';
import { createHmacSha256 } from '../../keys/hmac.ts';
import { createEd25519 } from './key-pair.ts';

const secretPrefix = 'whsec_';

export function newWebhookSecret(): string {
  return secretPrefix + randomBytes(32).toString('base64');
}

export interface Signing {
  /** The name in X-…-Signature. */
  serviceName: string;
  secret: string;
  /** Also sign, in the header that can hold several signatures, while receivers switch over. */
  previousSecrets: string[];
  /** Of Ed25519; each signs too. */
  privateKeys?: string[];
  /** The endpoint's own; those of the service replace any of the same name. */
  headers?: { name: string; value: string }[];
}

export interface SignedDelivery {
  eventId: string;
  /** The exact text that is sent. */
  body: string;
  /** Time of this attempt, in seconds since 1970. */
  timestamp: number;
}

/** Returns all headers of a delivery. */
export type Signer = (delivery: SignedDelivery) => Record<string, string>;

/** Prepares all it can from the secrets: keep the signer for further deliveries. */
export function createSigner(signing: Signing): Signer {
  const { serviceName, secret, previousSecrets, privateKeys = [], headers = [] } = signing;
  const ownHeader = `x-${serviceName.toLowerCase()}-signature`;
  // The key is the text of the secret exactly as its owner sees it.
  const ownHmac = createHmacSha256(Buffer.from(secret));
  const standardHmacs = [secret, ...previousSecrets].map((secret) => createHmacSha256(toStandardKey(secret)));
  const keyPairs = privateKeys.map(createEd25519);
  const ownHeaders = Object.fromEntries(headers.map(({ name, value }) => [name, value]));
  return ({ eventId, body, timestamp }) => {
    const content = `${eventId}.${timestamp}.${body}`;
    let signatures = standardHmacs.map((hmac) => `v1,${hmac(content, 'base64')}`).join(' ');
    for (const sign of keyPairs) signatures += ` v1a,${sign(content)}`;
    return {
      ...ownHeaders,
      'content-type': 'application/json',
      'user-agent': 'Holdfast-Webhooks/1',
      [ownHeader]: `sha256=${ownHmac(body, 'hex')}`,
      'webhook-id': eventId,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatures,
    };
  };
}

/** https://github.com/standard-webhooks/standard-webhooks: the key is the decoded bytes; id, time and body are signed. */
function toStandardKey(secret: string): Buffer {
  return Buffer.from(secret.slice(secretPrefix.length), 'base64');
}
