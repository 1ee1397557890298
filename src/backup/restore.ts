/** Restores a backup into an empty place: verifies everything first, and nothing takes effect until all of it is there. */
import type pg from 'pg';
import type { BlobStore } from '../blobs/blob-store.ts';
import { copyErasures } from '../blobs/erasure-journal.ts';
import { openBlobStore } from '../blobs/open-blob-store.ts';
import type { BlobConfig } from '../config/blob-url.ts';
import type { Config } from '../config/config.ts';
import { knownMigrations, migrate } from '../db/migrate.ts';
import { type MasterKeys, writeMasterKeyFile } from '../keys/master-keys.ts';
import { OperatorError } from '../runtime/errors.ts';
import type { LoopLog } from '../runtime/loop.ts';
import { readArchive } from './archive-reader.ts';
import type { OnProgress } from './backup.ts';
import { type ErasedBlob, putBlobs } from './blob-copy.ts';
import { kindOf, type Manifest } from './format.ts';
import { createLoad } from './load.ts';
import { requireSealed } from './manifest-seal.ts';
import { requireFitting, settle } from './settle.ts';
import { openTarget, refuseUsed } from './target.ts';
import { type VerifiedArchive, verifyArchive } from './verify-archive.ts';

export interface RestoreOptions {
  file: string;
  /** The keys of the backup; null when none are available. */
  keys: MasterKeys | null;
  config: Config;
  log: LoopLog;
  /** The blob store of the old installation, with its journal of erasures; null when the new one has the journal. */
  erasuresOf?: BlobConfig | null;
  onProgress: OnProgress;
  signal?: AbortSignal | undefined;
}

export interface Restored {
  manifest: Manifest;
  /** Records and files that the backup had, and that were erased again. */
  erasedAgain: number;
  /** Objects of the journal of erasures; 0: there was no journal. */
  journalled: number;
}

/**
 * The order decides what a kill leaves behind. Before the mark is set: an empty place. From then until the last commit,
 * which removes the mark: a place where no service starts and the next restore starts over.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { file, keys, config, log, signal, onProgress } = options;
  await refuseUsed(config, log);
  const archive = await verifyArchive(file, {
    signal,
    onProgress: (progress) => onProgress('archive', progress),
  });
  const { manifest } = archive;
  const migrations = await requireKnownSchema(manifest);
  requireKeys(archive, keys);

  const target = await openTarget(config, log);
  try {
    const store = await target.begin();
    const connection = target.connection();
    await migrate({ connection, restoring: { upTo: manifest.migrations.length }, log });
    const erased = await loadAll({ client: target.client, store, manifest }, options);
    await migrate({ connection, restoring: { upTo: migrations }, log });
    if (keys && 'file' in config.masterKey && config.masterKey.generated) {
      await writeMasterKeyFile(config.masterKey.file, keys);
    }
    if (options.erasuresOf) await bringErasures(options.erasuresOf, store);
    const again = await settle(target.connection, { erased, store, keys });
    return { manifest, erasedAgain: again.subjects, journalled: again.journalled };
  } finally {
    await target.close();
  }
}

/** Into the new store, where the next restore finds it. */
export async function bringErasures(from: BlobConfig, store: BlobStore): Promise<void> {
  const old = await openBlobStore(from);
  try {
    await copyErasures(old, store);
  } finally {
    await old.close();
  }
}

/** The number of migrations of this version; those of the archive must be the first of them. */
async function requireKnownSchema({ migrations, madeBy }: Manifest): Promise<number> {
  const known = await knownMigrations();
  const unknown = migrations.filter((name, place) => known[place] !== name);
  if (unknown.length === 0) return known.length;
  throw new OperatorError(
    `The backup was made by a newer Holdfast (${madeBy}; it has ${unknown.join(', ')}, which this version does not know). Restore it with that version or a newer one. Nothing was changed.`,
  );
}

function requireKeys({ manifestText, seal }: VerifiedArchive, keys: MasterKeys | null): void {
  if (!keys) {
    throw new OperatorError(
      'The backup cannot be restored without its master key: give the key file that was created with it as --key-file, or set HOLDFAST_MASTER_KEY. Nothing was changed.',
    );
  }
  requireSealed(manifestText, seal, keys);
}

interface Loading {
  client: pg.ClientBase;
  store: BlobStore;
  manifest: Manifest;
}

/** Reads the archive once more: first the tables, in one transaction, then the blobs. */
async function loadAll({ client, store, manifest }: Loading, options: RestoreOptions): Promise<ErasedBlob[]> {
  const { file, keys, onProgress, signal } = options;
  const load = createLoad(client, {
    manifest,
    signal,
    onProgress: (progress) => onProgress('database', progress),
  });
  const blobs = putBlobs(store, {
    total: manifest.blobs.bytes,
    signal,
    onProgress: (progress) => onProgress('blobs', progress),
  });
  let isLoaded = false;
  await client.query('begin');
  await load.begin();
  for await (const member of readArchive(file)) {
    signal?.throwIfAborted();
    const { kind } = kindOf(member.name);
    if (kind === 'table') await load.load(member);
    else if (!isLoaded) {
      await load.end();
      await requireFitting(client, keys);
      await client.query('commit');
      await client.query('analyze');
      isLoaded = true;
    }
    if (kind === 'blob') await blobs.put(member);
    if (kind === 'list') await blobs.check(member);
  }
  return blobs.erased;
}
