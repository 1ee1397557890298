/** The settings: read from the environment once, checked together, and handed down as one value. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Address } from 'viem';
import { checksummed, isAcceptableAddress } from '../runtime/address.ts';
import { type Limits, readBudgets } from '../runtime/budgets.ts';
import { OperatorError } from '../runtime/errors.ts';
import { isAddressRange, isLoopback } from '../runtime/host-address.ts';
import { type BlobConfig, parseBlobUrl } from './blob-url.ts';

export interface Config {
  host: string;
  port: number;
  /** Base of every link the service prints; null: derived from the address it listens on. */
  publicUrl: string | null;
  tls: { certFile: string; keyFile: string } | null;
  /** Which proxies may say who the client is: none, a number of hops, or addresses and CIDR ranges. */
  trustProxy: false | number | string[];
  dataDir: string;
  /** null: embedded PostgreSQL under dataDir. */
  databaseUrl: string | null;
  masterKey: MasterKeySource;
  rateLimit: RateLimit | null;
  /** What a workspace may have, unless the operator said otherwise for it. */
  budgets: Limits;
  /** Who may make workspaces: those who run the installation, or every person who has an account. */
  workspaceCreation: 'operators' | 'everyone';
  roles: { api: boolean; loops: boolean };
  /** Where the bytes of files are kept, encrypted. */
  blobs: BlobConfig;
  /** Lets /metrics be read from elsewhere than loopback. */
  metricsToken: string | null;
  logLevel: LogLevel;
  webhooks: WebhookConfig;
  chain: ChainConfig;
  /** The largest file that is taken. */
  maxFileBytes: number;
}

export interface WebhookConfig {
  /** The word in X-…-Signature. */
  serviceName: string;
  /** Waiting time before each retry. */
  retryStepsMs: number[];
  timeoutMs: number;
  /** Hosts, addresses and CIDR ranges that may be private and plain http. */
  allow: string[];
  /** Certificate authority of private receivers. */
  caFile: string | null;
  /** How long the delivery log is kept. */
  retentionDays: number;
}

export interface ChainConfig {
  /** In order of preference; none: the embedded chain. Each may hold a key and is never printed whole. */
  rpcUrls: string[];
  /** Blocks, its own included, after which a transaction counts as confirmed; null: as usual for the chain. */
  confirmations: number | null;
  /** null: the address that the registry has on every chain. */
  registryAddress: Address | null;
  /** How long accepted content is gathered before it is anchored with one transaction. */
  anchorIntervalMs: number;
  /** Most that is ever offered for a unit of gas. */
  feeCapGwei: number;
}

/** The key itself as text, or the file that holds it; `generated` marks the file that the first start makes. */
export type MasterKeySource = { text: string } | { file: string; generated: boolean };

export interface RateLimit {
  requests: number;
  windowSeconds: number;
}

const logLevels = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof logLevels)[number];

const windowSeconds = { s: 1, sec: 1, min: 60, hour: 3600 } as const;

/** Where this package lies; commands find the same data from whatever directory they are called. */
const packageDir = join(import.meta.dirname, '../..');

/** Reads `.env` of the package, if there is one, into the environment; what is set already wins. */
export function loadEnvFile(): void {
  const file = join(packageDir, '.env');
  if (existsSync(file)) process.loadEnvFile(file);
}

/** The name of every setting, found out by reading them all. */
export function settingNames(): string[] {
  const names = new Set<string>();
  readConfig(
    new Proxy<Record<string, string | undefined>>(
      {},
      {
        get(_, name) {
          names.add(String(name));
          return undefined;
        },
      },
    ),
  );
  return [...names];
}

/** Turns the environment into a Config, or throws one OperatorError that lists every fault. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const faults: string[] = [];
  const text = (name: string): string | null => {
    const value = env[name]?.trim();
    return value === undefined || value === '' ? null : value;
  };
  const fault = (name: string, expected: string): void => {
    faults.push(`${name} is ${JSON.stringify(text(name))}: ${expected}.`);
  };

  const dataDir = resolve(text('HOLDFAST_DATA_DIR') ?? join(packageDir, 'data'));
  const config: Config = {
    host: text('HOST') ?? '127.0.0.1',
    port: readPort(),
    publicUrl: readPublicUrl(),
    tls: readTls(),
    trustProxy: readTrustProxy(),
    dataDir,
    databaseUrl: readDatabaseUrl(),
    masterKey: readMasterKey(),
    rateLimit: readRateLimit(),
    // Who lets keys send as much as they like means workspaces too, unless they say a number.
    budgets: readBudgets(text, fault, { unlimited: text('HOLDFAST_RATE_LIMIT') === 'off' }),
    workspaceCreation: readWorkspaceCreation(),
    roles: readRoles(),
    blobs: readBlobs(),
    metricsToken: text('HOLDFAST_METRICS_TOKEN'),
    logLevel: readLogLevel(),
    webhooks: {
      serviceName: readServiceName(),
      retryStepsMs: readRetrySteps(),
      timeoutMs: readCount('HOLDFAST_WEBHOOK_TIMEOUT_MS', 30_000, 30_000),
      allow: readAllow(),
      caFile: readCaFile(),
      retentionDays: readCount('HOLDFAST_WEBHOOK_RETENTION_DAYS', 90, 3650),
    },
    chain: {
      rpcUrls: readRpcUrls(),
      confirmations: readConfirmations(),
      registryAddress: readRegistryAddress(),
      anchorIntervalMs: readCount('HOLDFAST_ANCHOR_INTERVAL_MS', usualIntervalMs(), 86_400_000),
      feeCapGwei: readCount('HOLDFAST_FEE_CAP_GWEI', 500, 1_000_000),
    },
    maxFileBytes: readCount('HOLDFAST_MAX_FILE_BYTES', 5 * 1024 ** 3, 1024 ** 4),
  };
  if (!isLoopback(config.host) && !config.tls && config.trustProxy === false) {
    faults.push(
      `HOST is ${JSON.stringify(config.host)}, which others can reach, and neither TLS nor a proxy protects it: set HOLDFAST_TLS_CERT_FILE and HOLDFAST_TLS_KEY_FILE, or HOLDFAST_TRUST_PROXY when a proxy terminates TLS, or HOST=127.0.0.1.`,
    );
  }
  if (!isLoopback(config.host) && typeof config.trustProxy === 'number') {
    faults.push(
      'HOLDFAST_TRUST_PROXY counts proxies, but others can reach HOST directly, and could then say that they are any client: give the addresses or CIDR ranges of your proxies, or HOST=127.0.0.1.',
    );
  }
  if (faults.length > 0) {
    throw new OperatorError(
      `The settings are not usable:\n${faults.map((line) => `  - ${line}`).join('\n')}`,
    );
  }
  return config;

  function readPort(): number {
    const value = text('PORT') ?? '3000';
    if (!/^\d{1,5}$/.test(value) || Number(value) > 65535) fault('PORT', 'give a number from 0 to 65535');
    return Number(value);
  }

  function readPublicUrl(): string | null {
    const value = text('HOLDFAST_PUBLIC_URL');
    if (value === null) return null;
    const url = URL.canParse(value) ? new URL(value) : null;
    if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) {
      fault(
        'HOLDFAST_PUBLIC_URL',
        'give an http or https address without query, such as https://holdfast.example.org',
      );
    }
    return value.replace(/\/+$/, '');
  }

  function readTls(): Config['tls'] {
    const certFile = text('HOLDFAST_TLS_CERT_FILE');
    const keyFile = text('HOLDFAST_TLS_KEY_FILE');
    if ((certFile === null) !== (keyFile === null)) {
      faults.push('HOLDFAST_TLS_CERT_FILE and HOLDFAST_TLS_KEY_FILE go together: set both or neither.');
    }
    if (certFile !== null && !existsSync(certFile)) fault('HOLDFAST_TLS_CERT_FILE', 'there is no such file');
    if (keyFile !== null && !existsSync(keyFile)) fault('HOLDFAST_TLS_KEY_FILE', 'there is no such file');
    if (certFile === null || keyFile === null) return null;
    try {
      createSecureContext({ cert: readFileSync(certFile), key: readFileSync(keyFile) });
    } catch (error) {
      faults.push(
        `HOLDFAST_TLS_CERT_FILE and HOLDFAST_TLS_KEY_FILE are not a PEM certificate and its key: ${(error as Error).message}.`,
      );
    }
    return { certFile, keyFile };
  }

  function readTrustProxy(): Config['trustProxy'] {
    const value = text('HOLDFAST_TRUST_PROXY');
    if (value === null || /^(false|off|no|0)$/i.test(value)) return false;
    if (/^(true|on|yes)$/i.test(value)) return 1;
    if (/^\d{1,2}$/.test(value)) return Number(value);
    const ranges = value.split(',').map((range) => range.trim());
    if (!ranges.every(isAddressRange)) {
      fault(
        'HOLDFAST_TRUST_PROXY',
        'give true, a number of hops, or addresses and CIDR ranges separated by commas',
      );
    }
    return ranges;
  }

  function readDatabaseUrl(): string | null {
    const value = text('DATABASE_URL');
    if (value !== null && !(/^postgres(ql)?:\/\//.test(value) && URL.canParse(value))) {
      // The value may hold a password: it is not repeated.
      faults.push('DATABASE_URL is not of the form postgres://USER:PASSWORD@HOST:PORT/DATABASE.');
    }
    return value;
  }

  function readMasterKey(): MasterKeySource {
    const key = text('HOLDFAST_MASTER_KEY');
    const file = text('HOLDFAST_MASTER_KEY_FILE');
    if (key !== null && file !== null) {
      faults.push('HOLDFAST_MASTER_KEY and HOLDFAST_MASTER_KEY_FILE are both set: use one of them.');
    }
    if (key !== null) return { text: key };
    if (file === null) return { file: resolve(dataDir, 'master.key'), generated: true };
    if (!existsSync(file)) fault('HOLDFAST_MASTER_KEY_FILE', 'there is no such file');
    return { file: resolve(file), generated: false };
  }

  function readRateLimit(): RateLimit | null {
    const value = text('HOLDFAST_RATE_LIMIT') ?? '6000/min';
    if (value === 'off') return null;
    const match = /^([1-9]\d{0,8})\/(s|sec|min|hour)$/.exec(value);
    if (!match) {
      fault('HOLDFAST_RATE_LIMIT', 'give a number of requests per sec, min or hour such as 6000/min, or off');
      return null;
    }
    return {
      requests: Number(match[1]),
      windowSeconds: windowSeconds[match[2] as keyof typeof windowSeconds],
    };
  }

  function readWorkspaceCreation(): Config['workspaceCreation'] {
    const value = text('HOLDFAST_WORKSPACE_CREATION') ?? 'operators';
    if (!/^(operators|everyone)$/.test(value))
      fault('HOLDFAST_WORKSPACE_CREATION', 'give operators or everyone');
    return value === 'everyone' ? 'everyone' : 'operators';
  }

  function readRoles(): Config['roles'] {
    const roles = (text('HOLDFAST_ROLES') ?? 'api,loops').split(',').map((role) => role.trim());
    if (!roles.every((role) => role === 'api' || role === 'loops')) {
      fault('HOLDFAST_ROLES', 'give api, loops, or both separated by a comma');
    }
    return { api: roles.includes('api'), loops: roles.includes('loops') };
  }

  function readBlobs(): BlobConfig {
    const value = text('HOLDFAST_BLOB_URL');
    if (value === null) return { kind: 'disk', dir: join(dataDir, 'blobs') };
    const blobs = parseBlobUrl(value);
    // Who confuses settings may have put a password here: it is not repeated.
    if (!blobs)
      faults.push(
        'HOLDFAST_BLOB_URL is not of the form s3://BUCKET/PREFIX?region=REGION&endpoint=https://HOST or file:///DIRECTORY. Credentials do not belong there: the AWS SDK finds them in the environment or its own files.',
      );
    return blobs ?? { kind: 'disk', dir: '' };
  }

  function readServiceName(): string {
    const value = text('HOLDFAST_SERVICE_NAME') ?? 'Service';
    if (!/^[A-Za-z][A-Za-z0-9-]{0,40}$/.test(value))
      fault('HOLDFAST_SERVICE_NAME', 'give letters, digits and hyphens');
    return value;
  }

  function readRetrySteps(): number[] {
    const value = text('HOLDFAST_WEBHOOK_RETRY_SCHEDULE') ?? '30s,5m,30m,3h,12h';
    const steps = parseRetrySteps(value);
    if (!steps)
      fault('HOLDFAST_WEBHOOK_RETRY_SCHEDULE', 'give at most 5 steps such as 30s,5m,30m,3h,12h, 24 h in all');
    return steps ?? [];
  }

  function readAllow(): string[] {
    const entries = (text('HOLDFAST_WEBHOOK_ALLOW') ?? '')
      .split(',')
      .map((entry) => entry.trim().toLowerCase())
      .filter(Boolean);
    if (!entries.every((entry) => isAddressRange(entry) || hostName.test(entry))) {
      fault('HOLDFAST_WEBHOOK_ALLOW', 'give host names, addresses and CIDR ranges separated by commas');
    }
    return entries;
  }

  function readCaFile(): string | null {
    const file = text('HOLDFAST_WEBHOOK_CA_FILE');
    if (file !== null && !existsSync(file)) fault('HOLDFAST_WEBHOOK_CA_FILE', 'there is no such file');
    return file;
  }

  function readRpcUrls(): string[] {
    const urls = (text('HOLDFAST_CHAIN_RPC_URLS') ?? '').split(',').map((url) => url.trim());
    const given = urls.filter(Boolean);
    given.forEach((url, place) => {
      // It may hold a key: it is not repeated.
      if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
        faults.push(
          `HOLDFAST_CHAIN_RPC_URLS has something else than an http or https address at place ${place + 1}: give addresses separated by commas.`,
        );
    });
    return given;
  }

  /** Each anchor costs money there, whatever it carries. */
  function usualIntervalMs(): number {
    return text('HOLDFAST_CHAIN_RPC_URLS') === null ? 1_000 : 300_000;
  }

  function readConfirmations(): number | null {
    if (text('HOLDFAST_CHAIN_CONFIRMATIONS') === null) return null;
    return readCount('HOLDFAST_CHAIN_CONFIRMATIONS', 1, 10_000);
  }

  function readRegistryAddress(): Address | null {
    const value = text('HOLDFAST_REGISTRY_ADDRESS');
    if (value === null) return null;
    if (!isAcceptableAddress(value)) {
      fault(
        'HOLDFAST_REGISTRY_ADDRESS',
        'give 0x and 40 hexadecimal digits, mixed case only with its checksum',
      );
      return null;
    }
    if (text('HOLDFAST_CHAIN_RPC_URLS') === null)
      faults.push(
        'HOLDFAST_REGISTRY_ADDRESS goes with HOLDFAST_CHAIN_RPC_URLS: set both, or only the latter.',
      );
    return checksummed(value);
  }

  function readCount(name: string, usual: number, most: number): number {
    const value = text(name);
    if (value === null) return usual;
    const count = /^\d{1,13}$/.test(value) ? Number(value) : 0;
    if (count < 1 || count > most) fault(name, `give a number from 1 to ${most}`);
    return count;
  }

  function readLogLevel(): LogLevel {
    const value = text('HOLDFAST_LOG_LEVEL') ?? 'info';
    const level = logLevels.find((known) => known === value);
    if (!level) fault('HOLDFAST_LOG_LEVEL', `give one of ${logLevels.join(', ')}`);
    return level ?? 'info';
  }
}

const hostName = /^(?=.*[a-z])[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/;

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
