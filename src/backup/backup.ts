/** Makes a backup: a snapshot of the database, the blobs of that snapshot, and, separately, the master key. */
import { rm } from 'node:fs/promises';
import pg from 'pg';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { MasterKeySource } from '../config/data-settings.ts';
import type { Database } from '../db/database.ts';
import { endIfCut } from '../db/server/silent-connection.ts';
import { readMasterKeys } from '../keys/master-keys.ts';
import { version } from '../runtime/version.ts';
import { createArchive, writeWhole } from './archive-writer.ts';
import { copyBlobs } from './blob-copy.ts';
import { dumpDatabase } from './dump.ts';
import { backupFormat, formatMember, type Manifest } from './format.ts';
import { sealKeyFile } from './key-file.ts';
import { keysInUse, readWithOlder } from './keys-in-use.ts';
import { writeManifest } from './manifest-seal.ts';
import { verifyArchive } from './verify-archive.ts';

export type Stage = 'database' | 'blobs' | 'archive';
export type OnProgress = (stage: Stage, progress: { done: number; total: number }) => void;

export interface BackupDeps {
  database: Database;
  connection(): pg.ClientConfig;
  store: BlobStore;
  masterKey: MasterKeySource;
  /** After this much silence, the database is asked whether it is still working. */
  silenceMs?: number;
}

export interface BackupOptions {
  file: string;
  /** The file for the encrypted master key, and its passphrase; null when the key is kept elsewhere. */
  key: { file: string; passphrase: string } | null;
  onProgress: OnProgress;
  signal?: AbortSignal | undefined;
}

export interface BackupResult {
  manifest: Manifest;
  /** Null when the key is kept elsewhere. */
  keyFile: string | null;
}

export async function makeBackup(deps: BackupDeps, options: BackupOptions): Promise<BackupResult> {
  const { file, signal, onProgress } = options;
  const createdAt = new Date();
  const archive = await createArchive(file, createdAt);
  const blobNamesFile = `${archive.draft}.blobs`;
  try {
    await archive.addFile(formatMember, JSON.stringify({ format: backupFormat }));
    // A rotation may be running: the master key file contains the keys of the snapshot either before it or after it.
    const keysBefore = await readMasterKeys(deps.masterKey);
    const dump = await withConnection(deps, (client) =>
      dumpDatabase(client, {
        archive,
        blobNamesFile,
        signal,
        onProgress: (progress) => onProgress('database', progress),
      }),
    );
    const keys = keysInUse(dump.checkValues, await readWithOlder(deps.masterKey, keysBefore), deps.masterKey);
    const blobs = await copyBlobs({
      archive,
      store: deps.store,
      db: deps.database.db,
      namesFile: blobNamesFile,
      total: dump.blobs.bytes,
      signal,
      onProgress: (progress) => onProgress('blobs', progress),
    });
    const { migrations, masterKeys, chain, tables, sequences } = dump;
    const manifest: Manifest = {
      format: backupFormat,
      createdAt: createdAt.toISOString(),
      madeBy: `holdfast ${version}`,
      migrations,
      masterKeys,
      chain,
      tables,
      sequences,
      blobs,
    };
    await writeManifest(archive, JSON.stringify(manifest, null, 1), keys);
    await verifyArchive(archive.draft, { signal, onProgress: (progress) => onProgress('archive', progress) });
    // The key first: an archive under its final name always has its key beside it.
    const keyFile = options.key?.file ?? null;
    if (options.key) {
      await writeWhole(options.key.file, await sealKeyFile(keys, options.key.passphrase));
    }
    await archive.publish();
    return { manifest, keyFile };
  } finally {
    await rm(blobNamesFile, { force: true });
    await archive.discard();
  }
}

/** A connection without the limits on the service's statements. It is destroyed if the work fails. */
async function withConnection<T>(
  { database, connection, silenceMs = 30_000 }: BackupDeps,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionTimeoutMillis: 10_000,
    ...connection(),
    application_name: 'holdfast backup',
    keepAlive: true,
  });
  client.on('error', () => {});
  await client.connect();
  endIfCut(client, { connection, silenceMs });
  let pid: number | undefined;
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    pid = rows[0]?.pid;
    const result = await work(client);
    await client.end();
    return result;
  } catch (error) {
    await database.pool.query('select pg_terminate_backend($1)', [pid]).catch(() => {});
    void client.end().catch(() => {});
    throw error;
  }
}
