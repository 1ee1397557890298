/** Reads a whole archive and checks every member against the manifest, before any of it is used. */
import { createHash } from 'node:crypto';
import { archiveBytes, type Member, readArchive } from './archive-reader.ts';
import type { Written } from './archive-writer.ts';
import {
  damaged,
  kindOf,
  type ListedBlob,
  type Manifest,
  type ManifestSeal,
  manifestMember,
  parseList,
  parseManifest,
  parseSeal,
  sealMember,
} from './format.ts';

export interface VerifiedArchive {
  manifest: Manifest;
  /** Verbatim, for checking its seal. */
  manifestText: string;
  seal: ManifestSeal;
}

export interface ReadOptions {
  onProgress?(progress: { done: number; total: number }): void;
  signal?: AbortSignal | undefined;
}

export interface Counted extends Written {
  /** The number of line ends; in a table, of rows. */
  rows: number;
}

export async function verifyArchive(
  file: string,
  { onProgress, signal }: ReadOptions = {},
): Promise<VerifiedArchive> {
  const total = await archiveBytes(file);
  let done = 0;
  const tables = new Map<string, Counted>();
  const blobs = createBlobTally();
  const files = new Map<string, string>();
  for await (const member of readArchive(file, (bytes) => {
    done += bytes;
    onProgress?.({ done, total });
  })) {
    signal?.throwIfAborted();
    const { kind, name } = kindOf(member.name);
    if (files.has(manifestMember) && member.name !== sealMember)
      throw damaged(`${member.name} comes after the end`);
    if (kind === 'file') files.set(name, await textOf(member));
    else if (kind === 'list') blobs.list(await textOf(member));
    else if (kind === 'blob') blobs.add(name, await countBytes(member.pieces));
    else if (tables.has(name)) throw damaged(`the table ${name} occurs twice`);
    else tables.set(name, await countBytes(member.pieces));
  }
  const manifestText = files.get(manifestMember);
  if (manifestText === undefined) throw damaged('it has no manifest at its end');
  const manifest = parseManifest(manifestText);
  const sealText = files.get(sealMember);
  // Required whatever the manifest says, because the manifest is what the seal protects.
  if (sealText === undefined) throw damaged('its manifest has no seal');
  checkTables(manifest, tables);
  blobs.check(manifest);
  return { manifest, manifestText, seal: parseSeal(sealText) };
}

/** Passes the pieces on, then throws if they do not match the manifest. */
export async function* checkedPieces(
  pieces: AsyncIterable<Buffer>,
  { name, expected }: { name: string; expected: Written },
): AsyncGenerator<Buffer> {
  const tally = createTally();
  for await (const piece of pieces) {
    tally.add(piece);
    yield piece;
  }
  requireEqual(name, expected, tally.end());
}

export async function countBytes(pieces: AsyncIterable<Buffer>): Promise<Counted> {
  const tally = createTally();
  for await (const piece of pieces) tally.add(piece);
  return tally.end();
}

function createTally(): { add(piece: Buffer): void; end(): Counted } {
  const hash = createHash('sha256');
  const counted = { pieces: 0, bytes: 0, rows: 0 };
  return {
    add(piece) {
      hash.update(piece);
      counted.pieces += 1;
      counted.bytes += piece.length;
      counted.rows += countRows(piece);
    },
    end: () => ({ ...counted, sha256: hash.digest('hex') }),
  };
}

/** In COPY's text format, a line break always ends a row. */
export function countRows(bytes: Uint8Array): number {
  let rows = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) rows += 1;
  return rows;
}

function checkTables(manifest: Manifest, found: Map<string, Counted>): void {
  for (const table of manifest.tables) {
    const counted = found.get(table.name);
    if (!counted) throw damaged(`the table ${table.name} is missing`);
    requireEqual(`the table ${table.name}`, table, counted);
    if (counted.rows !== table.rows)
      throw damaged(`the table ${table.name} has ${counted.rows} rows, not ${table.rows}`);
    found.delete(table.name);
  }
  const [unknown] = found.keys();
  if (unknown !== undefined) throw damaged(`its manifest does not name the table ${unknown}`);
}

export function requireEqual(what: string, expected: Written, found: Written): void {
  if (expected.bytes === found.bytes && expected.pieces === found.pieces && expected.sha256 === found.sha256)
    return;
  throw damaged(`${what} does not have the bytes that were written`);
}

/** Remembers blobs until the list that follows them, and lists by their hash. */
function createBlobTally() {
  const hash = createHash('sha256');
  const sum = { count: 0, bytes: 0, erased: 0, missing: 0, lists: 0 };
  let unlisted: { name: string; counted: Counted }[] = [];
  return {
    add: (name: string, counted: Counted) => void unlisted.push({ name, counted }),
    list(text: string): void {
      hash.update(text);
      sum.lists += 1;
      const listed = parseList(text);
      const stored = listed.filter((blob): blob is ListedBlob & Written => 'sha256' in blob);
      if (stored.length !== unlisted.length)
        throw damaged(`list ${sum.lists} does not match the blobs before it`);
      for (const [place, { name, counted }] of unlisted.entries()) {
        const expected = stored[place];
        if (expected?.name !== name) throw damaged(`the blob ${name} is not in the list that follows it`);
        requireEqual(`the blob ${name}`, expected, counted);
        sum.count += 1;
        sum.bytes += counted.bytes;
      }
      sum.erased += listed.filter((blob) => 'erasedAt' in blob).length;
      sum.missing += listed.filter((blob) => 'missing' in blob).length;
      unlisted = [];
    },
    check({ blobs }: Manifest): void {
      const isEqual =
        unlisted.length === 0 &&
        blobs.lists.count === sum.lists &&
        blobs.lists.sha256 === hash.digest('hex') &&
        (['count', 'bytes', 'erased', 'missing'] as const).every((figure) => blobs[figure] === sum[figure]);
      if (!isEqual) throw damaged('its blobs do not match its manifest');
    },
  };
}

export async function textOf({ pieces }: Member): Promise<string> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all).toString('utf8');
}
