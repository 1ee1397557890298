/** Reads a base backup: compares every file with the manifest, or unpacks it into an empty directory. */
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { archiveBytes, readArchive } from '../archive-reader.ts';
import { damaged, type ManifestSeal, manifestMember, parseSeal, sealMember } from '../format.ts';
import {
  type Counted,
  checkedPieces,
  countBytes,
  type ReadOptions,
  requireEqual,
  textOf,
} from '../verify-archive.ts';
import { type BaseManifest, baseFormat, parseBaseManifest } from './base-format.ts';

export interface VerifiedBase {
  manifest: BaseManifest;
  manifestText: string;
  seal: ManifestSeal;
}

const folder = 'cluster/';

export async function readBase(file: string, options: ReadOptions = {}): Promise<VerifiedBase> {
  const found = new Map<string, Counted>();
  const texts = new Map<string, string>();
  for await (const member of membersOf(file, options)) {
    if (member.name.startsWith(folder)) {
      const path = member.name.slice(folder.length);
      if (found.has(path)) throw damaged(`${path} occurs twice`);
      found.set(path, await countBytes(member.pieces));
    } else texts.set(member.name, await textOf(member));
  }
  const manifestText = texts.get(manifestMember);
  const sealText = texts.get(sealMember);
  if (manifestText === undefined || sealText === undefined) throw damaged('it has no sealed manifest');
  const manifest = parseBaseManifest(manifestText);
  for (const expected of manifest.files) {
    const counted = found.get(expected.path);
    if (!counted) throw damaged(`${expected.path} is missing`);
    requireEqual(expected.path, expected, counted);
    found.delete(expected.path);
  }
  const [unknown] = found.keys();
  if (unknown !== undefined) throw damaged(`its manifest does not name ${unknown}`);
  return { manifest, manifestText, seal: parseSeal(sealText) };
}

export interface Unpack extends ReadOptions {
  manifest: BaseManifest;
  /** The home of the cluster, as in `pathsIn`. */
  home: { clusterDir: string; passwordFile: string };
}

/** Each file is compared once more while it is written. */
export async function unpackBase(file: string, { manifest, home, ...options }: Unpack): Promise<void> {
  const expectedFiles = new Map(manifest.files.map((expected) => [expected.path, expected]));
  const made = new Set<string>();
  const makeDirectory = (path: string) => {
    if (!made.has(path)) mkdirSync(path, { recursive: true, mode: 0o700 });
    made.add(path);
  };
  makeDirectory(home.clusterDir);
  for (const path of manifest.directories) makeDirectory(join(home.clusterDir, path));
  for await (const member of membersOf(file, options)) {
    if (!member.name.startsWith(folder)) continue;
    const name = member.name.slice(folder.length);
    const expected = expectedFiles.get(name);
    if (!expected) throw damaged(`its manifest does not name ${name}`);
    const target = name === 'password' ? home.passwordFile : join(home.clusterDir, name);
    makeDirectory(dirname(target));
    // Of some two thousand files most are small. PostgreSQL makes the whole directory durable before it recovers.
    const written = openSync(target, 'wx', 0o600);
    try {
      for await (const piece of checkedPieces(member.pieces, { name, expected }))
        writeFileSync(written, piece);
    } finally {
      closeSync(written);
    }
  }
}

async function* membersOf(file: string, { onProgress, signal }: ReadOptions) {
  const total = await archiveBytes(file);
  let done = 0;
  const onBytes = (bytes: number) => {
    done += bytes;
    onProgress?.({ done, total });
  };
  for await (const member of readArchive(file, onBytes, baseFormat)) {
    signal?.throwIfAborted();
    yield member;
  }
}
