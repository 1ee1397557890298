/** Base backups: their directory, their format, and which of them leads to a moment. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { OperatorError } from '../../runtime/errors.ts';
import { parse } from '../format.ts';

export const baseFormat = 'holdfast/base@1';

/** Below the directory of HOLDFAST_WAL_ARCHIVE_DIR. */
export const basesDirOf = (dir: string): string => join(dir, 'bases');
export const mirrorDirOf = (dir: string): string => join(dir, 'blobs');
/** The master key, sealed with a passphrase, for all bases. */
export const sealedKeyOf = (dir: string): string => join(dir, 'master.key.sealed');

/** `20261118T201500Z.tar` */
export function baseName(at: Date): string {
  return at
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:]/g, '');
}

const lsn = Type.String({ pattern: '^[0-9A-F]{1,8}/[0-9A-F]{1,8}$' });

/** Enough to choose a base without reading it; its sealed manifest says the same. */
const facts = Type.Object({
  format: Type.Literal(baseFormat),
  madeBy: Type.String(),
  startedAt: Type.String(),
  /** By the clock of the database: from this moment on, everything can be restored. */
  stoppedAt: Type.String(),
  timeline: Type.Integer({ minimum: 1 }),
  /** The first segment of the log that a recovery needs. */
  firstSegment: Type.String({ pattern: '^[0-9A-F]{24}$' }),
  stopLsn: lsn,
  masterKeys: Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1 }),
  bytes: Type.Integer({ minimum: 0 }),
});

/** Below the cluster's directory, as PostgreSQL makes them. */
const path = Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$' });

const manifest = Type.Object({
  ...facts.properties,
  /** Those without files. */
  directories: Type.Array(path),
  files: Type.Array(
    Type.Object({
      path,
      pieces: Type.Integer({ minimum: 1 }),
      bytes: Type.Integer({ minimum: 0 }),
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    }),
  ),
});

export type BaseFacts = Static<typeof facts>;
export type BaseManifest = Static<typeof manifest>;

export interface Base extends BaseFacts {
  /** The archive. */
  file: string;
}

export const parseBaseManifest = (text: string): BaseManifest => parse(manifest, text, 'the manifest');

/** All complete bases, the oldest first. */
export async function listBases(dir: string): Promise<Base[]> {
  const names = await readdir(basesDirOf(dir)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const bases: Base[] = [];
  for (const name of names.filter((name) => /^\d{8}T\d{6}Z\.json$/.test(name)).sort()) {
    const file = join(basesDirOf(dir), name.replace('.json', '.tar'));
    bases.push({ ...parse(facts, await readFile(file.replace(/tar$/, 'json'), 'utf8'), name), file });
  }
  return bases;
}

/** Where a timeline left another: whoever is past that point is not on its way. */
export interface Branch {
  timeline: number;
  lsn: bigint;
}

/** `null`: the end of the log. */
export function chooseBase(bases: Base[], { to, timeline, branches }: Aim): Base {
  const leads = bases.filter(
    (base) =>
      base.timeline === timeline ||
      branches.some((branch) => branch.timeline === base.timeline && lsnOf(base.stopLsn) <= branch.lsn),
  );
  const chosen = leads.filter(({ stoppedAt }) => to === null || new Date(stoppedAt) <= to).at(-1);
  if (chosen) return chosen;
  const [oldest] = leads;
  throw new OperatorError(
    oldest
      ? `The oldest base backup was complete at ${oldest.stoppedAt}: give that moment or a later one as --to-time.`
      : 'There is no base backup in HOLDFAST_WAL_ARCHIVE_DIR to start from. Check the setting; "holdfast backup --base" makes one.',
  );
}

export interface Aim {
  to: Date | null;
  timeline: number;
  branches: Branch[];
}

export function lsnOf(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}
