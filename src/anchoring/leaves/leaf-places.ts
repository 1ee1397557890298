/**
 * The places of leaves in batches. A leaf is never updated: rows of `anchor_places` say of up to 256 leaves with consecutive
 * ids where they are, and those of `anchor_subtrees` which leaves they have. The view `placed_leaves` has both together.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/database.ts';

/**
 * Joins leaf `l` with its batch and place, as `placed`; both are null while it is pending. For leaves that are themselves joined
 * by a left join: the view would be computed for more of them than there are rows.
 */
export const joinPlace = `
  left join lateral (
    select p.batch_id, p.places[(l.id - p.first_id + 1)::integer] as place from anchor_places p
    where p.first_id between l.id & -256 and l.id and p.places[(l.id - p.first_id + 1)::integer] >= 0
    order by p.first_id desc limit 1
  ) as placed on true`;

/** Ids that one row can be about: those with the same quotient. */
const span = 256;
/** The place, in such a row, of a leaf that is not in its batch. */
const nowhere = -1;
const idBytes = 8;

/** Rows per statement. */
const rowsAtOnce = 1_000;

/** The ids, by place. Runs in the commit that makes the batch. */
export async function storePlaces(db: Db, batchId: number, ids: number[]): Promise<void> {
  const rows = [...partsOf(ids).values()];
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    const page = rows.slice(at, at + rowsAtOnce);
    await sql`
      insert into anchor_places (first_id, batch_id, places)
      select first_id, ${batchId}, places::integer[]
      from unnest(${page.map(({ first }) => first)}::bigint[], ${page.map(({ places }) => `{${places}}`)}::text[])
        as part (first_id, places)`.execute(db);
  }
}

interface Part {
  first: number;
  places: number[];
}

function partsOf(ids: number[]): Map<number, Part> {
  const members = new Map<number, number[]>();
  for (const [place, id] of ids.entries()) {
    const part = blockOf(id);
    const mine = members.get(part);
    if (mine) mine.push(place);
    else members.set(part, [place]);
  }
  const parts = new Map<number, Part>();
  for (const [block, mine] of members) {
    const all = mine.map((place) => ids[place] ?? 0);
    const [first, last] = [Math.min(...all), Math.max(...all)];
    const places: number[] = new Array(last - first + 1).fill(nowhere);
    for (const [at, place] of mine.entries()) places[(all[at] ?? 0) - first] = place;
    parts.set(block, { first, places });
  }
  return parts;
}

function blockOf(id: number): number {
  return id - (id % span);
}

/** Those that are in a batch. Costs as little as their ids are close. */
export async function findPlaced(db: Db, ids: number[]): Promise<Set<number>> {
  const blocks = [...new Set(ids.map(blockOf))];
  if (blocks.length === 0) return new Set();
  const { rows } = await sql<{ first_id: number; places: number[] }>`
    select p.first_id, p.places from unnest(${blocks}::bigint[]) as block (first_id)
    cross join lateral (
      select first_id, places from anchor_places
      where first_id between block.first_id and block.first_id + ${span - 1} order by first_id
    ) as p`.execute(db);
  const placed = new Set<number>();
  for (const { first_id, places } of rows) {
    for (const [at, place] of places.entries()) if (place !== nowhere) placed.add(first_id + at);
  }
  return new Set(ids.filter((id) => placed.has(id)));
}

/** As a subtree has them. */
export function packIds(ids: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(idBytes * ids.length);
  for (const [place, id] of ids.entries()) {
    bytes.writeUInt32BE(Math.floor(id / 0x1_0000_0000), idBytes * place);
    bytes.writeUInt32BE(id % 0x1_0000_0000, idBytes * place + 4);
  }
  return bytes;
}

export function unpackIds(bytes: Buffer): number[] {
  return Array.from(
    { length: bytes.length / idBytes },
    (_, place) =>
      bytes.readUInt32BE(idBytes * place) * 0x1_0000_0000 + bytes.readUInt32BE(idBytes * place + 4),
  );
}

/** The ids of the leaves at these places of a batch, and those places. */
export async function findIdsAt(
  db: Db,
  { batchId, from, to }: { batchId: number; from: number; to: number },
): Promise<{ id: number; place: number }[]> {
  const { rows } = await sql<{ place: number; ids: Buffer }>`
    select s.first_place + part.skipped as place,
           substring(s.ids from ${idBytes} * part.skipped + 1 for ${idBytes} * part.count) as ids
    from anchor_subtrees s
    cross join lateral (
      select greatest(${from} - s.first_place, 0) as skipped,
             least(${to}, s.first_place + octet_length(s.ids) / ${idBytes}) - greatest(${from}, s.first_place) as count
    ) as part
    where s.batch_id = ${batchId} and part.count > 0 order by s.first_place`.execute(db);
  return rows.flatMap((row) => unpackIds(row.ids).map((id, at) => ({ id, place: row.place + at })));
}

/** The id of a leaf of subtree `s`, by its place in there. */
export function leafIdAt(place: RawBuilder<unknown>): RawBuilder<number> {
  return sql`('x' || encode(substring(s.ids from ${idBytes} * (${place}) + 1 for ${idBytes}), 'hex'))::bit(64)::bigint`;
}
