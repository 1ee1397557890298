/** Makes a base backup every few days, mirrors new blobs every minute, and removes what is past its retention. */
import type pg from 'pg';
import type { BlobStore } from '../../blobs/blob-store.ts';
import { copyErasures } from '../../blobs/erasure-journal.ts';
import type { Config } from '../../config/config.ts';
import type { Db } from '../../db/database.ts';
import { type Loop, type LoopLog, repeating } from '../../runtime/loop.ts';
import { requireArchived } from './archiver.store.ts';
import { makeBase } from './base.ts';
import { listBases } from './base-format.ts';
import { copyMissing, type Mirror, openMirror } from './blob-mirror.ts';
import { prune } from './retention.ts';

const dayMs = 86_400_000;
/** A commit may come this long after the time that its row names. */
const latestCommitMs = 3_600_000;
const pruneEveryMs = 3_600_000;

export interface BaseBackupDeps {
  config: Pick<Config, 'dataDir' | 'masterKey' | 'backupRetentionDays' | 'blobs'>;
  /** HOLDFAST_WAL_ARCHIVE_DIR. */
  dir: string;
  db: Db;
  store: BlobStore;
  connection(): pg.ClientConfig;
  log: LoopLog;
}

/** Bases overlap, so that with one of 7 days any moment of the last three weeks of 30 days can be restored. */
export function baseEveryMs(retentionDays: number): number {
  return Math.min(7, Math.max(1, retentionDays / 4)) * dayMs;
}

export function baseBackupsLoop(deps: BaseBackupDeps): Loop {
  const { config, dir, db, log } = deps;
  let mirror: Mirror | null = null;
  let mirroredAt: Date | null = null;
  let prunedAt = 0;

  async function step(signal: AbortSignal): Promise<boolean> {
    await requireArchived(db);
    mirror ??= config.blobs.kind === 'disk' ? await openMirror(dir) : null;
    const now = new Date();
    const newest = (await listBases(dir)).at(-1);
    if (!newest || now.getTime() - Date.parse(newest.startedAt) >= baseEveryMs(config.backupRetentionDays)) {
      const made = await makeBase({
        ...{ dataDir: config.dataDir, dir, connection: deps.connection, masterKey: config.masterKey },
        onProgress() {},
        signal,
      });
      if (made) log.info({ file: made.file, bytes: made.bytes }, 'base backup made');
    }
    if (mirror) {
      const since = mirroredAt === null ? undefined : new Date(mirroredAt.getTime() - latestCommitMs);
      await copyMissing({ db, from: deps.store, to: mirror.store, has: mirror.has, since, signal });
      await copyErasures(deps.store, mirror.store);
      mirroredAt = now;
    }
    if (now.getTime() - prunedAt >= pruneEveryMs) {
      const pruned = await prune({ dir, db, mirror, days: config.backupRetentionDays, now });
      prunedAt = now.getTime();
      if (pruned.bases > 0) log.info(pruned, 'removed base backups past their retention');
    }
    return false;
  }

  return {
    // Requests are answered without it.
    dispensable: true,
    ...repeating({ name: 'base-backups', restMs: 60_000, longestStepMs: dayMs, step }),
  };
}
