/** The configuration: read from the environment once, validated as a whole, and passed down as one value. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../runtime/errors.ts';
import { isLoopback } from '../runtime/host-address.ts';
import { addressSettings } from './address-settings.ts';
import { chainSettings } from './chain-settings.ts';
import { clockSettings } from './clock-settings.ts';
import { dataSettings, settingsDir } from './data-settings.ts';
import { limitSettings } from './limit-settings.ts';
import { mailSettings } from './mail-settings.ts';
import { nodeSettings } from './node-settings.ts';
import { type Given, readFields, type Values } from './setting.ts';
import { signInSettings } from './sign-in-settings.ts';
import { webhookSettings } from './webhook-settings.ts';

export type WebhookConfig = Values<typeof webhookSettings>;
export type ChainConfig = Values<typeof chainSettings>;
export type SignInConfig = Values<typeof signInSettings>;
export type ClockConfig = Values<typeof clockSettings>;
export type MailConfig = Values<typeof mailSettings>;

export type Config = Values<
  typeof addressSettings & typeof dataSettings & typeof limitSettings & typeof nodeSettings
> & {
  webhooks: WebhookConfig;
  chain: ChainConfig;
  clocks: ClockConfig;
  mail: MailConfig;
  signIn: SignInConfig;
};

/** Loads the package's `.env`, if there is one, into the environment; variables already set take precedence. */
export function loadEnvFile(): void {
  const file = join(settingsDir, '.env');
  if (existsSync(file)) process.loadEnvFile(file);
}

/** Turns the environment into a Config, or throws one OperatorError that lists every fault. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const faults: string[] = [];
  const text = (name: string) => env[name]?.trim() || null;
  const given: Given = {
    text,
    fault: (name, expected) => faults.push(`${name} is ${JSON.stringify(text(name))}: ${expected}.`),
    refuse: (sentence) => faults.push(sentence),
  };
  const config: Config = {
    ...readFields(addressSettings, given),
    ...readFields(dataSettings, given),
    ...readFields(limitSettings, given),
    ...readFields(nodeSettings, given),
    webhooks: readFields(webhookSettings, given),
    chain: readFields(chainSettings, given),
    clocks: readFields(clockSettings, given),
    mail: readFields(mailSettings, given),
    signIn: readFields(signInSettings, given),
  };
  requireProtection(config, given);
  if (faults.length > 0) {
    throw new OperatorError(
      `The settings are not usable:\n${faults.map((line) => `  - ${line}`).join('\n')}`,
    );
  }
  return config;
}

function requireProtection({ host, tls, trustProxy }: Config, { refuse }: Given): void {
  if (isLoopback(host)) return;
  if (!tls && trustProxy === false) {
    refuse(
      `HOST is ${JSON.stringify(host)}, which others can reach, and neither TLS nor a proxy protects it: set HOLDFAST_TLS_CERT_FILE and HOLDFAST_TLS_KEY_FILE, or HOLDFAST_TRUST_PROXY when a proxy terminates TLS, or HOST=127.0.0.1.`,
    );
  }
  if (typeof trustProxy === 'number') {
    refuse(
      'HOLDFAST_TRUST_PROXY counts proxies, but others can reach HOST directly, and could then say that they are any client: give the addresses or CIDR ranges of your proxies, or HOST=127.0.0.1.',
    );
  }
}
