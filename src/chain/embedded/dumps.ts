/** Dumps of the node's state: they speed up a start, and any of them may be missing, damaged or stale. */
import { createReadStream, createWriteStream } from 'node:fs';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Hex } from 'viem';
import type { BlockRef } from './journal.ts';
import type { ChainPaths } from './paths.ts';

export interface Dump extends BlockRef {
  file: string;
}

const kept = 2;
const namePattern = /^state-(\d+)-(0x[0-9a-f]{64})\.json\.gz$/;

/** Newest first. */
export async function listDumps({ home }: ChainPaths): Promise<Dump[]> {
  const dumps = (await readdir(home)).flatMap((name) => {
    const match = namePattern.exec(name);
    return match ? [{ file: join(home, name), number: Number(match[1]), hash: match[2] as Hex }] : [];
  });
  return dumps.sort((one, other) => other.number - one.number);
}

/**
 * A crash before the rename leaves a draft, which the next dump overwrites; a crash after it leaves an extra dump, which
 * the next dump removes. The file name identifies the block, so that a dump can be checked against the journal when used.
 */
export async function keepDump(state: Buffer, { number, hash }: BlockRef, paths: ChainPaths): Promise<void> {
  const draft = join(paths.home, 'state.draft');
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(state);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, join(paths.home, `state-${number}-${hash}.json.gz`));
  const folder = await open(paths.home);
  await folder.sync().finally(() => folder.close());
  for (const old of (await listDumps(paths)).slice(kept)) await dropDump(old);
}

export function dropDump({ file }: Dump): Promise<void> {
  return rm(file, { force: true });
}

/** Unpacks for `--load-state`, which reads plain JSON; rejects when the file is truncated or damaged. */
export async function unpackDump({ file }: Dump, { loadFile }: ChainPaths): Promise<void> {
  await pipeline(createReadStream(file), createGunzip(), createWriteStream(loadFile, { mode: 0o600 }));
}
