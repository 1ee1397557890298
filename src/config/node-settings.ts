/** Settings of one node: its roles, and what it reports to operators. */
import { anyText, countTo, optional, setting } from './setting.ts';

const logLevels = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof logLevels)[number];

export const nodeSettings = {
  roles: setting({
    name: 'HOLDFAST_ROLES',
    default: 'api,loops',
    about: 'What this node does: `api` (answers requests), `loops` (background work) or both.',
    see: '[Several nodes](#several-nodes)',
    expected: 'give api, loops, or both separated by a comma',
    parse(text) {
      const roles = text.split(',').map((role) => role.trim());
      if (!roles.every((role) => role === 'api' || role === 'loops')) return undefined;
      return { api: roles.includes('api'), loops: roles.includes('loops') };
    },
  }),
  /** Allows reading /metrics from addresses other than loopback. */
  metricsToken: optional({
    name: 'HOLDFAST_METRICS_TOKEN',
    default: { words: 'none' },
    about:
      'Lets `/metrics` be read from elsewhere than loopback, with the header `Authorization: Bearer TOKEN`.',
    ...anyText,
  }),
  diskLowBytes: setting({
    name: 'HOLDFAST_DISK_LOW_BYTES',
    default: '2147483648',
    about:
      'Free space on the disk of the data directory, in bytes, below which operators are [told](#notices).',
    ...countTo(9_999_999_999_999),
  }),
  logLevel: setting<LogLevel>({
    name: 'HOLDFAST_LOG_LEVEL',
    default: 'info',
    about:
      'Least severe level that is logged: `silent`, `fatal`, `error`, `warn`, `info`, `debug` or `trace`.',
    expected: `give one of ${logLevels.join(', ')}`,
    parse: (text) => logLevels.find((level) => level === text),
  }),
};
