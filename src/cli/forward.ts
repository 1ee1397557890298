/** Forwards events to a receiver, signed like webhooks, for `holdfast listen` and `holdfast trigger`. */
import { InvalidArgumentError } from 'commander';
import type { WebhookConfig } from '../config/config.ts';
import { once } from '../runtime/loop.ts';
import type { Outcome } from '../webhooks/exchange/exchange.ts';
import { createSigner, newWebhookSecret } from '../webhooks/exchange/signature.ts';

export interface ForwardOptions {
  forwardTo: URL;
  /** By default a new one. */
  secret?: string | undefined;
}

export interface Forward {
  secret: string;
  post(eventId: string, envelope: string): Promise<Outcome>;
  close(): Promise<void>;
}

export async function createForward(
  { forwardTo: url, secret = newWebhookSecret() }: ForwardOptions,
  { serviceName, timeoutMs, caFile }: WebhookConfig,
): Promise<Forward> {
  // Imported here so that other commands start faster.
  const { createAddressGuard, toAllowList } = await import('../egress/address-guard.ts');
  const { createExchanger } = await import('../webhooks/exchange/exchange.ts');
  // Anybody who may run this command can reach every address from here anyway.
  const guard = createAddressGuard(toAllowList(['0.0.0.0/0', '::/0']));
  const exchanger = createExchanger({ guard, timeoutMs, caFile });
  const sign = createSigner({ serviceName, secret, previousSecrets: [] });
  return {
    secret,
    post(eventId, envelope) {
      const timestamp = Math.floor(Date.now() / 1000);
      return exchanger.post({ url, headers: sign({ eventId, body: envelope, timestamp }), body: envelope });
    },
    close: once(exchanger.close),
  };
}

export function tell({ statusCode, error, durationMs }: Outcome): string {
  return error === null ? `${statusCode} in ${durationMs} ms` : `failed after ${durationMs} ms: ${error}`;
}

export function parseTarget(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new InvalidArgumentError('Give an http or https address, such as http://127.0.0.1:8080/webhooks.');
  return url;
}

export function parseSecret(text: string): string {
  const bytes = Buffer.from(text.slice('whsec_'.length), 'base64');
  if (!text.startsWith('whsec_') || bytes.length < 16 || `whsec_${bytes.toString('base64')}` !== text)
    throw new InvalidArgumentError('A secret is whsec_ followed by base64, as shown with the endpoint.');
  return text;
}
