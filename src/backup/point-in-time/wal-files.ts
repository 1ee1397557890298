/** The archived log: its segments, whether they follow each other without a gap, and its timelines. */
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip, gunzip } from 'node:zlib';
import { walDirOf } from '../../db/embedded/wal-archive.ts';
import { OperatorError } from '../../runtime/errors.ts';
import { type Branch, lsnOf } from './base-format.ts';

/** As initdb sets it. */
const segmentBytes = 16 * 1024 * 1024;
const segmentsPerLog = 2 ** 32 / segmentBytes;

export interface WalFile {
  name: string;
  /** The segment, or the one that it belongs to; null for a history of timelines. */
  segment: string | null;
}

/** In order of their names. */
export async function listWal(dir: string): Promise<WalFile[]> {
  const names = await readdir(walDirOf(dir)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names
    .filter((name) => /^[0-9A-F]{8}(\.history|[0-9A-F]{16}(\.[0-9A-F]{8}\.backup)?)\.gz$/.test(name))
    .sort()
    .map((name) => ({ name, segment: name.endsWith('.history.gz') ? null : name.slice(0, 24) }));
}

/** The place of a segment in the log, whatever its timeline. */
export function placeOfSegment(segment: string): number {
  return (
    Number.parseInt(segment.slice(8, 16), 16) * segmentsPerLog + Number.parseInt(segment.slice(16, 24), 16)
  );
}

export interface Timeline {
  timeline: number;
  /** When a recovery began it; null where the archive does not say. */
  beganAt: Date | null;
  branches: Branch[];
}

/** The timelines that recoveries began, each with where it left the ones before it. */
export async function listTimelines(dir: string): Promise<Timeline[]> {
  const histories = (await listWal(dir)).filter(({ segment }) => segment === null);
  return Promise.all(
    histories.map(async ({ name }) => {
      const compressed = await readFile(join(walDirOf(dir), name));
      const text = (await promisify(gunzip)(compressed)).toString('utf8');
      const branches = text.split('\n').flatMap((line) => {
        const [, timeline, lsn] = /^(\d+)\t([0-9A-F]+\/[0-9A-F]+)\t/.exec(line) ?? [];
        return timeline && lsn ? [{ timeline: Number(timeline), lsn: lsnOf(lsn) }] : [];
      });
      // Of the file that was compressed: RFC 1952, MTIME.
      const seconds = compressed.readUInt32LE(4);
      const beganAt = seconds === 0 ? null : new Date(seconds * 1000);
      return { timeline: Number.parseInt(name.slice(0, 8), 16), beganAt, branches };
    }),
  );
}

export interface WalCheck {
  onProgress(progress: { done: number; total: number }): void;
  signal?: AbortSignal | undefined;
}

/** Decompresses what a recovery will read, which compares checksums. Returns the number of segments. */
export async function verifyWal(
  dir: string,
  first: string,
  { onProgress, signal }: WalCheck,
): Promise<number> {
  const wal = await listWal(dir);
  const needed = wal.filter(
    ({ name, segment }) =>
      segment !== null && name === `${segment}.gz` && placeOfSegment(segment) >= placeOfSegment(first),
  );
  let last = placeOfSegment(first) - 1;
  for (const [done, { name, segment }] of needed
    .toSorted((a, b) => placeOfSegment(a.segment ?? '') - placeOfSegment(b.segment ?? ''))
    .entries()) {
    signal?.throwIfAborted();
    const place = placeOfSegment(segment ?? '');
    if (place > last + 1) {
      throw new OperatorError(
        `The archived log has a gap: segments before ${name} are missing. Nothing later than the gap can be restored; give an earlier --to-time, or a copy of the archive that has them.`,
      );
    }
    last = place;
    await verifySegment(join(walDirOf(dir), name));
    onProgress({ done: done + 1, total: needed.length });
  }
  if (needed.length === 0) {
    throw new OperatorError(
      `The archived log does not have ${first}.gz, with which the base backup begins. Check HOLDFAST_WAL_ARCHIVE_DIR, or use a copy of the archive that has it.`,
    );
  }
  return needed.length;
}

async function verifySegment(file: string): Promise<void> {
  let bytes = 0;
  try {
    await pipeline(createReadStream(file), createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) bytes += chunk.length;
    });
  } catch (cause) {
    throw damaged(file, (cause as Error).message, cause);
  }
  if (bytes !== segmentBytes) throw damaged(file, `it has ${bytes} bytes instead of ${segmentBytes}`);
}

function damaged(file: string, what: string, cause?: unknown): OperatorError {
  return new OperatorError(
    `The archived log is damaged: ${file} cannot be used (${what}). Use another copy of it, or restore to a moment before it.`,
    { cause },
  );
}
