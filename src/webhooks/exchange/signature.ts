/** Signs a delivery in two ways: the service's own header, and the Standard Webhooks headers beside it. */
import { randomBytes } from 'node:crypto';
import { createHmacSha256 } from '../../keys/hmac.ts';

const secretPrefix = 'whsec_';

export function newWebhookSecret(): string {
  return secretPrefix + randomBytes(32).toString('base64');
}

export interface Signing {
  /** The word in X-…-Signature. */
  serviceName: string;
  secret: string;
  /** Sign too, in the header that has room for several, while receivers change over. */
  previousSecrets: string[];
}

export interface SignedDelivery {
  eventId: string;
  /** The exact bytes that are sent. */
  body: string;
  /** Seconds since 1970: when this attempt is made. */
  timestamp: number;
}

/** All headers of a delivery. */
export type Signer = (delivery: SignedDelivery) => Record<string, string>;

/** To be kept for further deliveries: what can be prepared from the secrets is. */
export function createSigner({ serviceName, secret, previousSecrets }: Signing): Signer {
  const ownHeader = `x-${serviceName.toLowerCase()}-signature`;
  // Keyed with the secret's text exactly as its owner sees it.
  const ownHmac = createHmacSha256(Buffer.from(secret));
  const standardHmacs = [secret, ...previousSecrets].map((secret) => createHmacSha256(toStandardKey(secret)));
  return ({ eventId, body, timestamp }) => {
    const content = `${eventId}.${timestamp}.${body}`;
    return {
      'content-type': 'application/json',
      'user-agent': 'Holdfast-Webhooks/1',
      [ownHeader]: `sha256=${ownHmac(body, 'hex')}`,
      'webhook-id': eventId,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': standardHmacs.map((hmac) => `v1,${hmac(content, 'base64')}`).join(' '),
    };
  };
}

/** https://github.com/standard-webhooks/standard-webhooks: keyed with the decoded bytes, over id, time and body. */
function toStandardKey(secret: string): Buffer {
  return Buffer.from(secret.slice(secretPrefix.length), 'base64');
}
