/** The installation that an archive is made of: its service, its PostgreSQL, and what it talks to. */
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { startEmbeddedPostgres } from '../../src/db/embedded/embedded-postgres.ts';
import { type IdentityProvider, startIdentityProvider } from '../support/clients/identity-provider.ts';
import { startMailServer } from '../support/clients/smtp-server.ts';
import { connectionText, withClient } from '../support/service/database.ts';
import { type RunningService, type Settings, serve, waitUntil } from '../support/service/process.ts';
import { type Clocks, startClocks } from './clocks.ts';
import { type Receivers, startReceivers } from './webhooks.ts';

export interface Installation {
  /** For whatever else is needed. */
  dir: string;
  receivers: Receivers;
  clocks: Clocks;
  provider: IdentityProvider;
  /** From now on mail has to wait. */
  refuseMail(): void;
  settings(more?: Settings): Settings;
  query(text: string): Promise<pg.QueryResult>;
  /** Instead of the service that runs. */
  start(more?: Settings): Promise<RunningService>;
  stop(): Promise<void>;
  /** Nothing is under way any more: all is final on the chain, told, delivered and chained. */
  settled(): Promise<void>;
  /** All entries of the audit log are in its chain. */
  chained(): Promise<void>;
  /** There are rows in each of these tables. */
  filled(...tables: string[]): Promise<void>;
  close(): Promise<void>;
}

const longMs = 120_000;
const unchained =
  'select (select count(*) from audit_entries) - (select coalesce(sum(count), 0) from audit_segments)';
const underWay = `
  select (select count(*) from placed_leaves where batch_id is null)
    + (select count(*) from anchor_batches where status <> 'finalized')
    + (${unchained})
    + (select count(*) from placed_events where position is null)
    + (select count(*) from webhook_queue)
    + (select count(*) from webhook_replays where state = 'running')
    + (select count(*) from file_validations where result is null)
    + (select count(*) from transfers where completed_at is null)`;

export async function openInstallation(): Promise<Installation> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-corpus-'));
  const postgres = await startEmbeddedPostgres({ dataDir: dir, log: { info() {}, error: console.error } });
  const receivers = await startReceivers();
  const clocks = await startClocks(dir);
  const provider = await startIdentityProvider();
  let takesMail = true;
  const mailServer = await startMailServer({
    onRecipient() {
      if (!takesMail) throw Object.assign(new Error('not now'), { responseCode: 450 });
    },
  });
  const { bavail, bsize } = await statfs(dir);
  let running: RunningService | null = null;

  const query = (text: string): Promise<pg.QueryResult> =>
    withClient(postgres.connection(), (client) => client.query(text));

  const none = async (counted: string): Promise<void> => {
    await waitUntil(
      async () => Number((await query(`select (${counted}) as count`)).rows[0].count) === 0,
      longMs,
    );
  };

  const self: Installation = {
    ...{ dir, receivers, clocks, provider, query },
    refuseMail() {
      takesMail = false;
    },
    settings: (more = {}) => ({
      HOLDFAST_DATA_DIR: join(dir, 'data'),
      DATABASE_URL: connectionText(postgres.connection()),
      HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8',
      HOLDFAST_LOG_LEVEL: 'error',
      HOLDFAST_ANCHOR_INTERVAL_MS: '200',
      ...provider.settings,
      HOLDFAST_OIDC_GROUPS: 'auditors=viewer',
      HOLDFAST_SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
      HOLDFAST_MAIL_FROM: 'Holdfast <holdfast@example.com>',
      HOLDFAST_TSA_ROOTS: clocks.settings.HOLDFAST_TSA_ROOTS ?? '',
      // So little is free that nodes note it, and enough that nobody is told.
      HOLDFAST_DISK_LOW_BYTES: String(Math.floor((bavail * bsize) / 1.1)),
      ...more,
    }),
    async start(more = {}) {
      await self.stop();
      running = await serve(self.settings(more));
      return running;
    },
    async stop() {
      running?.child.kill('SIGTERM');
      await running?.exited;
      running = null;
    },
    settled: () => none(underWay),
    chained: () => none(unchained),
    async filled(...tables) {
      for (const table of tables) await none(`select (count(*) = 0)::integer from ${table}`);
    },
    async close() {
      await self.stop();
      for (const one of [receivers, clocks, provider, mailServer]) await one.close();
      await postgres.release();
      await rm(dir, { recursive: true, force: true });
    },
  };
  return self;
}
