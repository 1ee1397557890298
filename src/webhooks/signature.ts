/** Signs a delivery in two ways: the service's own header, and the Standard Webhooks headers beside it. */
import { createHmac, createSecretKey, type Hmac, type KeyObject, randomBytes } from 'node:crypto';

const secretPrefix = 'whsec_';

export function newWebhookSecret(): string {
  return secretPrefix + randomBytes(32).toString('base64');
}

export interface Signing {
  /** The word in X-…-Signature. */
  serviceName: string;
  secret: string;
  /** Signs too, in the header that has room for two, while receivers change over. */
  previousSecret: string | null;
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

/** To be kept for further deliveries: making the keys takes longer than signing with them. */
export function createSigner({ serviceName, secret, previousSecret }: Signing): Signer {
  const ownHeader = `x-${serviceName.toLowerCase()}-signature`;
  // Keyed with the secret's text exactly as its owner sees it.
  const ownKey = createSecretKey(Buffer.from(secret));
  const secrets = previousSecret === null ? [secret] : [secret, previousSecret];
  const standardKeys = secrets.map(toStandardKey);
  return ({ eventId, body, timestamp }) => {
    const content = `${eventId}.${timestamp}.${body}`;
    return {
      'content-type': 'application/json',
      'user-agent': 'Holdfast-Webhooks/1',
      [ownHeader]: `sha256=${hmac(ownKey, body).digest('hex')}`,
      'webhook-id': eventId,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': standardKeys.map((key) => `v1,${hmac(key, content).digest('base64')}`).join(' '),
    };
  };
}

/** https://github.com/standard-webhooks/standard-webhooks: keyed with the decoded bytes, over id, time and body. */
function toStandardKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.slice(secretPrefix.length), 'base64'));
}

function hmac(key: KeyObject, content: string): Hmac {
  return createHmac('sha256', key).update(content);
}
