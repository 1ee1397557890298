/** Settings of webhooks. */
import { isAddressRange } from '../runtime/host-address.ts';
import { countTo, existingFile, optional, setting, splitList } from './setting.ts';

const hostName = /^(?=.*[a-z])[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/;

export const webhookSettings = {
  /** The name in X-…-Signature. */
  serviceName: setting({
    name: 'HOLDFAST_SERVICE_NAME',
    default: 'Service',
    about: 'The word in the `X-Service-Signature` header of webhooks.',
    expected: 'give letters, digits and hyphens',
    parse: (text) => (/^[A-Za-z][A-Za-z0-9-]{0,40}$/.test(text) ? text : undefined),
  }),
  /** Waiting time before each retry. */
  retryStepsMs: setting({
    name: 'HOLDFAST_WEBHOOK_RETRY_SCHEDULE',
    default: '30s,5m,30m,3h,12h',
    about:
      'Waiting times before a failed webhook is tried again: at most 5 steps, 24 h in all; each varies by a fifth.',
    expected: 'give at most 5 steps such as 30s,5m,30m,3h,12h, 24 h in all',
    parse: (text) => parseRetrySteps(text) ?? undefined,
  }),
  timeoutMs: setting({
    name: 'HOLDFAST_WEBHOOK_TIMEOUT_MS',
    default: '30000',
    about: 'How long a receiver may take for the whole exchange, in milliseconds; at most 30 s.',
    ...countTo(30_000),
  }),
  /** Hosts, addresses and CIDR ranges that may be private or use plain http. */
  allow: optional<string[], string[]>(
    {
      name: 'HOLDFAST_WEBHOOK_ALLOW',
      default: { words: 'none' },
      about:
        'Hosts, addresses and CIDR ranges that webhooks may reach although they are private or plain http, such as `127.0.0.0/8` while developing.',
      expected: 'give host names, addresses and CIDR ranges separated by commas',
      parse(text) {
        const entries = splitList(text.toLowerCase());
        return entries.every((entry) => isAddressRange(entry) || hostName.test(entry)) ? entries : undefined;
      },
    },
    () => [],
  ),
  /** Certificate authority of private receivers. */
  caFile: optional({
    name: 'HOLDFAST_WEBHOOK_CA_FILE',
    default: { words: 'none' },
    about: 'An extra certificate authority (PEM) for receivers with a private one.',
    ...existingFile,
  }),
  /** How long the delivery log is kept. */
  retentionDays: setting({
    name: 'HOLDFAST_WEBHOOK_RETENTION_DAYS',
    default: '90',
    about: 'How many days the delivery log is kept.',
    ...countTo(3650),
  }),
};

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
const maxRetries = 5;
const retryWindowMs = 24 * 60 * 60 * 1000;

/** `30s,5m,30m,3h,12h` in milliseconds; null when it is not a usable schedule. */
export function parseRetrySteps(text: string): number[] | null {
  const steps = text.split(',').map((step) => {
    const match = /^(\d{1,6})(ms|s|m|h)$/.exec(step.trim());
    return match ? Number(match[1]) * units[match[2] as keyof typeof units] : Number.NaN;
  });
  const total = steps.reduce((sum, step) => sum + step, 0);
  return steps.length <= maxRetries && total <= retryWindowMs ? steps : null;
}
