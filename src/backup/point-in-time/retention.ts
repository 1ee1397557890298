/** Removes base backups, archived log and mirrored blobs whose time is over. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Db } from '../../db/database.ts';
import { walDirOf } from '../../db/embedded/wal-archive.ts';
import { removeBase } from './base.ts';
import { listBases } from './base-format.ts';
import { type Mirror, removeErased } from './blob-mirror.ts';
import { listWal, placeOfSegment } from './wal-files.ts';

const dayMs = 86_400_000;

export interface Retention {
  dir: string;
  db: Db;
  mirror: Mirror | null;
  days: number;
  now: Date;
}

export interface Pruned {
  bases: number;
  segments: number;
  blobs: number;
  /** The newest base is older than the retention, and was kept: without it nothing could be restored. */
  overdue: boolean;
}

/** In this order: the log of a base goes after the base. A kill in between leaves log that nobody needs, for the next time. */
export async function prune({ dir, db, mirror, days, now }: Retention): Promise<Pruned> {
  const before = new Date(now.getTime() - days * dayMs);
  const bases = await listBases(dir);
  const isOver = ({ startedAt }: { startedAt: string }) => new Date(startedAt) < before;
  const newest = bases.at(-1);
  const over = bases.filter((base) => base !== newest && isOver(base));
  for (const { file } of over) await removeBase(file);
  const kept = bases.filter((base) => !over.includes(base));
  const pruned = { bases: over.length, segments: 0, blobs: 0, overdue: newest ? isOver(newest) : false };
  // Without any base the log may be what the first one needs.
  if (kept.length > 0) {
    const firstNeeded = Math.min(...kept.map(({ firstSegment }) => placeOfSegment(firstSegment)));
    for (const { name, segment } of await listWal(dir)) {
      if (segment === null || placeOfSegment(segment) >= firstNeeded) continue;
      await rm(join(walDirOf(dir), name), { force: true });
      pruned.segments += 1;
    }
  }
  if (mirror) pruned.blobs = await removeErased(db, mirror, before);
  return pruned;
}
