/** Signs a delivery in two ways: the service's own header, and the Standard Webhooks headers beside it. */
import { createHmac, randomBytes } from 'node:crypto';

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

export function signatureHeaders(signing: Signing, delivery: SignedDelivery): Record<string, string> {
  const { serviceName, secret, previousSecret } = signing;
  const secrets = previousSecret === null ? [secret] : [secret, previousSecret];
  return {
    // Keyed with the secret's text exactly as its owner sees it.
    [`x-${serviceName.toLowerCase()}-signature`]: `sha256=${createHmac('sha256', secret).update(delivery.body).digest('hex')}`,
    'webhook-id': delivery.eventId,
    'webhook-timestamp': String(delivery.timestamp),
    'webhook-signature': secrets.map((one) => standardSignature(one, delivery)).join(' '),
  };
}

/** https://github.com/standard-webhooks/standard-webhooks: keyed with the decoded bytes, over id, time and body. */
function standardSignature(secret: string, { eventId, timestamp, body }: SignedDelivery): string {
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${eventId}.${timestamp}.${body}`).digest('base64')}`;
}
