/** Restores the embedded cluster as of a moment: a base backup, brought forward by the archived log. */
import { appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobStore } from '../../blobs/blob-store.ts';
import { copyErasures } from '../../blobs/erasure-journal.ts';
import { openBlobStore } from '../../blobs/open-blob-store.ts';
import type { BlobConfig } from '../../config/blob-url.ts';
import type { Config } from '../../config/config.ts';
import { type Db, openDatabase } from '../../db/database.ts';
import { startEmbeddedPostgres } from '../../db/embedded/embedded-postgres.ts';
import { pathsIn } from '../../db/embedded/paths.ts';
import { findPostmaster, stopPostmaster } from '../../db/embedded/postmaster.ts';
import { restoreCommand } from '../../db/embedded/wal-archive.ts';
import { migrate } from '../../db/migrate.ts';
import { type MasterKeys, writeMasterKeyFile } from '../../keys/master-keys.ts';
import { OperatorError } from '../../runtime/errors.ts';
import type { LoopLog } from '../../runtime/loop.ts';
import { requireSealed } from '../manifest-seal.ts';
import { bringErasures } from '../restore.ts';
import { requireFitting, settle } from '../settle.ts';
import { type Base, chooseBase, listBases } from './base-format.ts';
import { readBase, unpackBase } from './base-reader.ts';
import { copyMissing, openMirror } from './blob-mirror.ts';
import { listTimelines, verifyWal } from './wal-files.ts';

/** Below the data directory. Nothing has effect until the cluster in it is complete and renamed. */
const draftName = 'restore.draft';
/** A recovery takes as long as the log is. */
const longestRecoveryMs = 7 * 86_400_000;

export interface RecoverOptions {
  base: Base;
  timeline: number;
  /** null: to the end of the archived log. */
  to: Date | null;
  keys: MasterKeys | null;
  config: Config;
  /** Another blob store with a journal of erasures, such as that of the lost machine. */
  erasuresOf?: BlobConfig | null;
  dir: string;
  log: LoopLog;
  onProgress(
    stage: 'database' | 'blobs' | 'archive' | 'log',
    progress: { done: number; total: number },
  ): void;
  signal?: AbortSignal | undefined;
}

export interface Recovered {
  base: Base;
  /** The last commit that is in it. */
  asOf: Date | null;
  segments: number;
  blobs: { copied: number; missing: number };
  /** Records and files that were erased after the moment. */
  erasedAgain: number;
}

/** The base to begin with, and the timeline to follow from there. */
export async function findBase(dir: string, to: Date | null): Promise<{ base: Base; timeline: number }> {
  const bases = await listBases(dir);
  const timelines = await listTimelines(dir);
  const isBefore = (time: Date | null) => to === null || time === null || time <= to;
  // What was current at that moment: an earlier restore, even one that was given up, began another timeline.
  const timeline = Math.max(
    1,
    ...timelines.filter(({ beganAt }) => isBefore(beganAt)).map(({ timeline }) => timeline),
    ...bases.filter(({ stoppedAt }) => isBefore(new Date(stoppedAt))).map(({ timeline }) => timeline),
  );
  const branches = timelines.find((known) => known.timeline === timeline)?.branches ?? [];
  return { base: chooseBase(bases, { to, timeline, branches }), timeline };
}

/** A kill before the last rename leaves a draft, which the next restore removes. */
export async function restoreToTime(options: RecoverOptions): Promise<Recovered> {
  const { base, keys, config, dir, signal, onProgress } = options;
  await requireEmpty(config.dataDir);
  const { manifest, manifestText, seal } = await readBase(base.file, {
    signal,
    onProgress: (progress) => onProgress('archive', progress),
  });
  if (!keys) {
    throw new OperatorError(
      'The base backup cannot be restored without the master key: give your copy of the master key file, or a key file sealed by "holdfast backup --base", as --key-file, or set HOLDFAST_MASTER_KEY. Nothing was changed.',
    );
  }
  requireSealed(manifestText, seal, keys);
  const segments = await verifyWal(dir, manifest.firstSegment, {
    signal,
    onProgress: (progress) => onProgress('log', progress),
  });
  const draft = join(config.dataDir, draftName);
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  await discard(draft);
  try {
    const home = pathsIn(join(draft, 'postgres'));
    await mkdir(home.home, { recursive: true, mode: 0o700 });
    await writeFile(home.startLock, '', { mode: 0o600 });
    const progressOf = (progress: { done: number; total: number }) => onProgress('database', progress);
    await unpackBase(base.file, { manifest, home, signal, onProgress: progressOf });
    const { asOf, blobs, erasedAgain } = await recover(draft, options);
    if ('file' in config.masterKey && config.masterKey.generated)
      await writeMasterKeyFile(config.masterKey.file, keys);
    await rename(home.home, join(config.dataDir, 'postgres'));
    return { base, asOf, segments, blobs, erasedAgain };
  } finally {
    await discard(draft);
  }
}

async function recover(
  draft: string,
  options: RecoverOptions,
): Promise<Pick<Recovered, 'asOf' | 'blobs' | 'erasedAgain'>> {
  const { keys, dir, log, signal } = options;
  const { clusterDir } = pathsIn(join(draft, 'postgres'));
  const settingsFile = join(clusterDir, 'postgresql.auto.conf');
  const settings = await readFile(settingsFile, 'utf8');
  await appendFile(settingsFile, recoverySettings(options));
  await writeFile(join(clusterDir, 'recovery.signal'), '', { mode: 0o600 });
  const postgres = await startEmbeddedPostgres({
    ...{ dataDir: draft, log, exclusive: true, walArchive: dir, waitMs: longestRecoveryMs, signal },
  }).catch((error) => explainRecovery(error, options.to));
  const connection = () => postgres.connection();
  try {
    await writeFile(settingsFile, settings);
    const database = openDatabase({
      connection,
      settings: { statement_timeout: 0 },
      onError() {},
      max: 2,
    });
    try {
      const client = await database.pool.connect();
      let asOf: Date | null;
      try {
        await requireFitting(client, keys);
        asOf = await lastCommit(client);
      } finally {
        client.release();
      }
      await migrate({ connection: connection() });
      const store = await openBlobStore(options.config.blobs);
      try {
        const blobs = await bringBlobs({ db: database.db, store }, options);
        if (options.erasuresOf) await bringErasures(options.erasuresOf, store);
        const again = await settle(connection, { store, keys });
        return { asOf, blobs, erasedAgain: again.subjects };
      } finally {
        await store.close();
      }
    } finally {
      await database.close();
    }
  } finally {
    await postgres.release();
  }
}

/** Without a Z: PostgreSQL reads its settings before it knows the names of time zones. */
function recoverySettings({ dir, to, base, timeline }: RecoverOptions): string {
  const text = (value: string) => `'${value.replaceAll("'", "''")}'`;
  return [
    '',
    `restore_command = ${text(restoreCommand(dir))}`,
    `recovery_target_timeline = '${timeline === base.timeline ? 'current' : timeline}'`,
    "recovery_target_action = 'promote'",
    'hot_standby = off',
    ...(to === null ? [] : [`recovery_target_time = ${text(to.toISOString().replace('Z', '+00'))}`]),
    '',
  ].join('\n');
}

/** Of the last transaction that the log brought; PostgreSQL remembers it after the recovery. */
async function lastCommit(client: {
  query(sql: string): Promise<{ rows: { at: Date | null }[] }>;
}): Promise<Date | null> {
  const { rows } = await client.query('select pg_last_xact_replay_timestamp() as at');
  return rows[0]?.at ?? null;
}

async function bringBlobs({ db, store }: { db: Db; store: BlobStore }, options: RecoverOptions) {
  const { config, dir, onProgress, signal } = options;
  if (config.blobs.kind !== 'disk') return { copied: 0, missing: 0 };
  const mirror = await openMirror(dir);
  await copyErasures(mirror.store, store);
  const present = new Set<string>();
  for await (const { name } of store.list()) present.add(name);
  return await copyMissing({
    ...{ db, from: mirror.store, to: store, has: (name) => present.has(name), signal },
    onProgress: (progress) => onProgress('blobs', progress),
  });
}

function explainRecovery(error: unknown, to: Date | null): never {
  const text = error instanceof OperatorError ? error.message : '';
  if (/recovery ended before configured recovery target was reached/.test(text)) {
    throw new OperatorError(
      `The archived log ends before ${to?.toISOString()}. Give an earlier moment, or --to-time latest for everything that was archived. Nothing was changed.`,
      { cause: error },
    );
  }
  throw error;
}

async function requireEmpty(dataDir: string): Promise<void> {
  const entries = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  // The blobs may be those of this database, on a disk that is still there.
  const present = entries.filter((name) => !['lost+found', 'blobs', draftName, 'master.key'].includes(name));
  if (present.length === 0) return;
  throw new OperatorError(
    `The data directory ${dataDir} is not empty (it has ${present.slice(0, 5).join(', ')}). Restore into an empty one: set HOLDFAST_DATA_DIR to another directory, or move this one away. Nothing was changed.`,
  );
}

/** Also the server of a restore that was killed. */
async function discard(draft: string): Promise<void> {
  const { clusterDir } = pathsIn(join(draft, 'postgres'));
  const server = await findPostmaster(clusterDir).catch(() => null);
  if (server) await stopPostmaster(server.pid, clusterDir);
  await rm(draft, { recursive: true, force: true, maxRetries: 3, retryDelay: 100 });
}
