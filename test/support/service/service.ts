/** A whole service for tests: real database, real HTTP, its own data directory; only the port is arbitrary. */
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { QueryResult } from 'pg';
import { type Logger, pino } from 'pino';
import { Agent, type Dispatcher, request } from 'undici';
import { createApiKeys } from '../../../src/access/api-keys/api-keys.ts';
import { createWorkspace, operatorIn } from '../../../src/access/workspaces/workspaces.ts';
import { type App, createApp } from '../../../src/app/app.ts';
import { type Config, readConfig } from '../../../src/config/config.ts';
import { openDatabase } from '../../../src/db/database.ts';
import type { NoticeTimes } from '../../../src/notices/notices.part.ts';
import { type Scope, scopes } from '../../../src/runtime/caller.ts';
import { blobsOf, createTestDatabase } from './database.ts';

export interface Service {
  app: App;
  url: string;
  /** A key of the default workspace with every scope. */
  key: string;
  config: Config;
  databaseUrl: string;
  /** Everything logged so far. */
  logged(): string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** A key of the default workspace, or of a new one. */
  makeKey(options?: { scopes?: Scope[]; newWorkspace?: boolean; expiresAt?: Date }): Promise<string>;
  /** A key of the default workspace with every scope, including the one to sign on behalf of workers. */
  onBehalfKey(): Promise<string>;
  /** Queries the database over a kept connection: a new one takes ten times as long as most queries. */
  sql(text: string, values?: unknown[]): Promise<QueryResult>;
  close(): Promise<void>;
}

export interface CallOptions {
  /** null: send no key. */
  key?: string | null;
  /** Sent as JSON; a string or Buffer is sent unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: any;
}

/** Nobody listens there: accepted things stay pending, and no test pays for a chain that it does not use. */
const noChain = 'http://127.0.0.1:9';

/** Most services here lack a chain: without this, tests that take long would get an event about it. */
const untold = 20 * 24 * 60 * 60_000;

/** Where the service that made a database keeps files: others on it use the same place. */
const stores = new Map<string, string>();

/** `env` overrides settings, `databaseUrl` shares a database between two services, `chain` enables the embedded chain. */
export async function startService({
  env = {},
  databaseUrl,
  runLoops = true,
  chain = false,
  log: kept = 'all',
  noticeTimes = {},
}: {
  env?: Record<string, string>;
  databaseUrl?: string;
  runLoops?: boolean;
  chain?: boolean;
  /** `of requests`: nothing is kept, and failures in requests go to standard error. */
  log?: 'all' | 'of requests';
  noticeTimes?: NoticeTimes;
} = {}): Promise<Service> {
  // A start that fails leaves nothing open: what is left open would keep the test file from ending.
  await using opened = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-service-'));
  opened.defer(() => rm(dataDir, { recursive: true, force: true }));
  const own = databaseUrl === undefined ? await createTestDatabase() : null;
  if (own) opened.defer(() => own.drop());
  const url = databaseUrl ?? own?.url ?? '';
  const config = readConfig({
    PORT: '0',
    HOLDFAST_DATA_DIR: dataDir,
    DATABASE_URL: url,
    HOLDFAST_RATE_LIMIT: 'off',
    ...(!chain && { HOLDFAST_CHAIN_RPC_URLS: noChain }),
    ...(databaseUrl && { HOLDFAST_BLOB_URL: pathToFileURL(stores.get(url) ?? blobsOf(url)).href }),
    ...env,
  });
  if (own && config.blobs.kind === 'disk') stores.set(url, config.blobs.dir);
  const { log, logged } = kept === 'all' ? captureLog() : printFailedRequests();
  const withDatabase = openDatabase({ connection: () => ({ connectionString: url }), onError() {} });
  opened.defer(() => withDatabase.close());
  const app = await createApp(config, log, { noticeTimes: { holdMs: untold, ...noticeTimes } });
  opened.defer(() => app.close());
  const base = await app.server.http.listen({ host: config.host, port: config.port });
  if (runLoops) app.loops.start();
  const apiKeys = createApiKeys(withDatabase);

  async function makeKey({
    scopes = [],
    newWorkspace = false,
    expiresAt,
  }: {
    scopes?: Scope[];
    newWorkspace?: boolean;
    expiresAt?: Date;
  } = {}) {
    const { id } = newWorkspace
      ? await createWorkspace(withDatabase.db, { name: `Workspace ${Math.random()}` })
      : await withDatabase.db
          .selectFrom('workspaces')
          .select('id')
          .where('slug', '=', 'default')
          .executeTakeFirstOrThrow();
    return (await apiKeys.create(operatorIn(id), { name: 'test', scopes, expiresAt: expiresAt ?? null })).key;
  }

  const key = await makeKey();
  let onBehalfKey: Promise<string> | undefined;
  const open = opened.move();
  return {
    app,
    url: base,
    key,
    config,
    databaseUrl: url,
    logged,
    makeKey,
    onBehalfKey: () => (onBehalfKey ??= makeKey({ scopes: [...scopes] })),
    sql: (text, values = []) => withDatabase.pool.query(text, values),
    call: callerAt(base, key),
    close: () => open.disposeAsync(),
  };
}

/** fetch would use five times the processor time, and tests send tens of thousands of requests. */
const client = new Agent();

/** Calls the service at this address, with this key unless a call overrides it. */
export function callerAt(base: string, key: string | null): Service['call'] {
  return async (method, path, { key: callKey = key, body, headers = {} } = {}) => {
    const raw = typeof body === 'string' || Buffer.isBuffer(body);
    const answer = await request(base + path, {
      dispatcher: client,
      method: method as Dispatcher.HttpMethod,
      headers: {
        accept: '*/*',
        'user-agent': 'node',
        ...(callKey !== null && { 'x-api-key': callKey }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
    });
    return readAnswer(answer);
  };
}

export async function readAnswer(answer: Dispatcher.ResponseData): Promise<Answer> {
  const headers = toHeaders(answer.headers);
  const text = isEventStream(headers.get('content-type'))
    ? await firstOf(answer.body)
    : await decoded(answer.body, headers.get('content-encoding'));
  const isJson = /json/.test(headers.get('content-type') ?? '') && text !== '';
  return { status: answer.statusCode, headers, text, json: isJson ? JSON.parse(text) : null };
}

async function decoded(body: Dispatcher.ResponseData['body'], encoding: string | null): Promise<string> {
  if (encoding === null) return body.text();
  const bytes = Buffer.from(await body.arrayBuffer());
  if (bytes.length === 0) return '';
  return String(encoding === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes));
}

function toHeaders(received: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received))
    for (const one of [value ?? []].flat()) headers.append(name, one);
  return headers;
}

/** An event stream has no end, so only its first chunk is read. */
async function firstOf(body: Readable): Promise<string> {
  for await (const chunk of body) return String(chunk);
  return '';
}

export function isEventStream(contentType: string | null | undefined): boolean {
  return /^text\/event-stream/.test(contentType ?? '');
}

function printFailedRequests(): { log: Logger; logged(): string } {
  const sink = new Writable({
    write(chunk, _encoding, done) {
      if (String(chunk).includes('"requestId"')) process.stderr.write(chunk);
      done();
    },
  });
  return { log: pino({ level: 'error' }, sink), logged: () => '' };
}

function captureLog(): { log: Logger; logged(): string } {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { log: pino({ level: 'trace' }, sink), logged: () => lines.join('') };
}
