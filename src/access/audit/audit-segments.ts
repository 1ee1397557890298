/**
 * Segments of the audit chain: the places of up to a hundred entries of a workspace in one row, which is written once.
 * Their ids ascend, and span so little time that the segment of an entry is found by its id in a few index entries.
 */
import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { Write } from '../../db/writes.ts';
import { packId, unpackId } from '../../runtime/ids.ts';

/** The key of an entry. */
export interface EntryKey {
  workspace_id: string;
  id: string;
}

/** Where an entry is in the chain of its workspace. */
export interface Place {
  /** From 1. */
  sequence: number;
  hash: Buffer;
}

/** The hash that precedes the first entry of a workspace. */
export const firstHash = Buffer.alloc(32);

export function chainHash(previousHash: Buffer, digest: Buffer): Buffer {
  return hash('sha256', Buffer.concat([previousHash, digest]), 'buffer');
}

const mostEntries = 100;
const longestSpanMs = 2_000;
const idBytes = 16;
const hashBytes = 32;

interface Packed<Key extends EntryKey> {
  entry: Key;
  bytes: Buffer;
}

/** Entries of one workspace that are close in time, in the order of their ids; at least one. */
interface Run<Key extends EntryKey> {
  workspaceId: string;
  packed: Packed<Key>[];
}

/** Runs that span no more than a time, in the order of ids. Leaves out ids of another form, which only rows have that were not made by the service. */
function runsOf<Key extends EntryKey>(entries: Key[], longestMs: number): Run<Key>[] {
  const runs: Run<Key>[] = [];
  for (const [workspaceId, ofWorkspace] of Map.groupBy(entries, ({ workspace_id }) => workspace_id)) {
    let end = Number.NEGATIVE_INFINITY;
    const sorted = ofWorkspace.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    for (const entry of sorted) {
      const bytes = packId('aud', entry.id);
      if (bytes === null) continue;
      const time = timeOf(bytes);
      if (time > end) {
        runs.push({ workspaceId, packed: [] });
        end = time + longestMs;
      }
      runs.at(-1)?.packed.push({ entry, bytes });
    }
  }
  return runs;
}

/** The first 6 bytes are milliseconds. */
function timeOf(bytes: Buffer): number {
  return bytes.readUIntBE(0, 6);
}

/** The last id that a segment can end with if this id is in it. */
function latestEnd(bytes: Buffer): Buffer {
  const end = Buffer.alloc(idBytes, 0xff);
  end.writeUIntBE(timeOf(bytes) + longestSpanMs, 0, 6);
  return end;
}

/**
 * The places of entries by `keyOf`; more than one only if somebody changed the database. Without those not chained yet.
 * Entries that are no further apart than `closeMs` are looked up together, with all that is between them.
 */
export async function findPlaces(
  db: Db,
  entries: EntryKey[],
  { closeMs = longestSpanMs } = {},
): Promise<Map<string, Place[]>> {
  const places = new Map<string, Place[]>();
  const runs = runsOf(entries, closeMs);
  const segments = runs.length === 0 ? [] : await findSegments(db, runs);
  if (segments.length === 0) return places;
  const wanted = new Map<string, string>();
  for (const { workspaceId, packed } of runs) {
    for (const { entry, bytes } of packed) wanted.set(bytesKey(workspaceId, bytes), keyOf(entry));
  }
  for (const { workspace_id, first_sequence, ids, hashes } of segments) {
    for (let place = 0; place < ids.length / idBytes; place += 1) {
      const key = wanted.get(bytesKey(workspace_id, part(ids, place, idBytes)));
      if (key === undefined) continue;
      const found = { sequence: first_sequence + place, hash: part(hashes, place, hashBytes) };
      places.set(key, [...(places.get(key) ?? []), found]);
    }
  }
  return places;
}

function bytesKey(workspaceId: string, bytes: Buffer): string {
  return `${workspaceId} ${bytes.toString('latin1')}`;
}

function part(bytes: Buffer, place: number, size: number): Buffer {
  return bytes.subarray(place * size, (place + 1) * size);
}

/** All segments that may have entries of these runs. */
async function findSegments(db: Db, runs: Run<EntryKey>[]): Promise<SegmentRow[]> {
  const ends = runs.map(({ workspaceId, packed }) => {
    const [first, last] = [packed[0], packed.at(-1)] as [Packed<EntryKey>, Packed<EntryKey>];
    return { workspaceId, first: first.bytes, last: last.bytes, latest: latestEnd(last.bytes) };
  });
  // Lateral and with a limit: an index answers for each run and each segment, whatever the statistics are.
  const { rows } = await sql<SegmentRow>`
    select s.* from (
      select distinct s.workspace_id, s.first_sequence from unnest(
        ${ends.map(({ workspaceId }) => workspaceId)}::text[], ${ends.map(({ first }) => first)}::bytea[],
        ${ends.map(({ last }) => last)}::bytea[], ${ends.map(({ latest }) => latest)}::bytea[]
      ) as run (workspace_id, first_id, last_id, latest)
      cross join lateral (
        select workspace_id, first_sequence from audit_segments s
        where s.workspace_id = run.workspace_id and s.last_id between run.first_id and run.latest
          and s.first_id <= run.last_id
        order by s.last_id
      ) as s
    ) as near
    cross join lateral (
      select workspace_id, first_sequence, ids, hashes from audit_segments s
      where s.workspace_id = near.workspace_id and s.first_sequence = near.first_sequence limit 1
    ) as s`.execute(db);
  return rows;
}

export function keyOf({ workspace_id, id }: EntryKey): string {
  return `${workspace_id} ${id}`;
}

export interface SegmentRow {
  workspace_id: string;
  first_sequence: number;
  ids: Buffer;
  hashes: Buffer;
}

export interface Link extends Place {
  id: string;
}

/** What a segment says about each of its entries. */
export function linksOf({ first_sequence, ids, hashes }: SegmentRow): Link[] {
  return Array.from({ length: ids.length / idBytes }, (_, place) => ({
    id: unpackId('aud', part(ids, place, idBytes)),
    sequence: first_sequence + place,
    hash: part(hashes, place, hashBytes),
  }));
}

/** Chains entries to the ends of their workspaces' chains. Nobody else may do so until the transaction ends. */
export async function segmentWrites(db: Db, entries: (EntryKey & { digest: Buffer })[]): Promise<Write[]> {
  const runs = runsOf(entries, longestSpanMs);
  const heads = await findHeads(db, [...new Set(runs.map(({ workspaceId }) => workspaceId))]);
  return runs.flatMap(({ workspaceId, packed }) => {
    const writes: Write[] = [];
    for (let start = 0; start < packed.length; start += mostEntries) {
      const some = packed.slice(start, start + mostEntries);
      const head = heads.get(workspaceId) ?? { sequence: 0, hash: firstHash };
      const hashes: Buffer[] = [];
      for (const { entry } of some) hashes.push(chainHash(hashes.at(-1) ?? head.hash, entry.digest));
      heads.set(workspaceId, {
        sequence: head.sequence + some.length,
        hash: hashes.at(-1) as Buffer,
      });
      const ids = some.map(({ bytes }) => bytes);
      const row = {
        workspace_id: workspaceId,
        first_sequence: head.sequence + 1,
        count: some.length,
        first_id: ids[0] as Buffer,
        last_id: ids.at(-1) as Buffer,
        ids: Buffer.concat(ids),
        hashes: Buffer.concat(hashes),
      };
      writes.push({ table: 'audit_segments', row });
    }
    return writes;
  });
}

/** The last sequence and hash of a segment `s`. */
export const lastPlace = sql<Place>`
  s.first_sequence + s.count - 1 as sequence, substring(s.hashes from 32 * s.count - 31 for 32) as hash`;

async function findHeads(db: Db, workspaceIds: string[]): Promise<Map<string, Place>> {
  const { rows } = await sql<Place & { workspace_id: string }>`
    select w.id as workspace_id, head.sequence, head.hash
    from unnest(${workspaceIds}::text[]) as w (id)
    cross join lateral (
      select ${lastPlace} from audit_segments s
      where s.workspace_id = w.id order by s.first_sequence desc limit 1
    ) as head`.execute(db);
  return new Map(rows.map(({ workspace_id, sequence, hash }) => [workspace_id, { sequence, hash }]));
}

/** The 64 bytes that the hash of an entry is made of: the hash before it, and its digest. Null if there is no such entry. */
export async function findLinkContent(
  db: Db,
  { workspaceId, sequence }: { workspaceId: string; sequence: number },
): Promise<Buffer | null> {
  const { rows } = await sql<SegmentRow>`
    select workspace_id, first_sequence, ids, hashes from audit_segments
    where workspace_id = ${workspaceId} and first_sequence <= ${sequence}
    order by first_sequence desc limit 2`.execute(db);
  const links = rows.reverse().flatMap(linksOf);
  const link = links.find((one) => one.sequence === sequence);
  if (!link) return null;
  const entry = await db
    .selectFrom('audit_entries')
    .select('digest')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', link.id)
    .executeTakeFirst();
  if (!entry) return null;
  const before = links.find((one) => one.sequence === sequence - 1);
  return Buffer.concat([before?.hash ?? firstHash, entry.digest]);
}
