/**
 * Checks that every confirmed record was announced, and none that is not there. No index leads from a record to its
 * event; so all events are read once, and a bit for each leaf notes that its event was seen: 12 MB for 100 million.
 */
import { sql } from 'kysely';
import type { Finding, Pass } from '../check.ts';
import type { Db } from '../db/database.ts';
import { rowsPass } from '../db/rows-pass.ts';

/** What was announced in full before the events were read; what moved since is for the next run. */
interface Start {
  lastBatch: number;
  unfinished: Set<number>;
}

export function announcementPasses(db: Db): [Pass, Pass] {
  const seen = createBits();
  let start: Start | undefined;

  const events = rowsPass<EventRow>({
    db,
    what: 'announcements of records',
    table: 'events',
    key: [
      { column: 'e.workspace_id', member: 'workspace_id' },
      { column: 'e.id', member: 'id' },
    ],
    pageRows: 2_000,
    // All are read, whatever their type: a page takes as long whether there is something in it or not.
    read: ({ where, end }) => sql<EventRow>`
      select e.workspace_id, e.id, case when e.type = 'record.anchor.confirmed' then e.envelope end as envelope
      from events e where ${where} ${end}`,
    async judge(rows) {
      const told = rows.flatMap(announcementOf);
      const leaves = await leavesOf(db, told);
      for (const leaf of leaves) if (leaf !== null) seen.add(leaf);
      return told.filter((_, place) => leaves[place] === null).map(unknown);
    },
  });

  const leaves = rowsPass<LeafRow>({
    db,
    what: 'confirmed records',
    table: 'anchor_leaves',
    key: [{ column: 'l.id', member: 'id' }],
    pageRows: 5_000,
    read: ({ where, end }) => sql<LeafRow>`
      select l.id, l.workspace_id, l.kind, l.subject_id, l.version, l.batch_id,
             coalesce(b.status in ('confirmed', 'finalized') and l.place < b.announced, false) as announced,
             l.kind <> 'record' or exists (
               select 1 from records r
               where r.workspace_id = l.workspace_id and r.id = l.subject_id and r.version = l.version
             ) as has_record
      from anchor_leaves l left join anchor_batches b on b.id = l.batch_id
      where ${where} ${end}`,
    judge: (rows) => rows.flatMap((row) => judge(row, isSettled(row, start) && !seen.has(row.id))),
  });

  return [
    {
      ...events,
      async count() {
        start = await readStart(db);
        return events.count();
      },
    },
    leaves,
  ];
}

interface EventRow {
  workspace_id: string;
  id: string;
  envelope: string | null;
}

interface LeafRow {
  id: number;
  workspace_id: string;
  kind: string;
  subject_id: string;
  version: number;
  batch_id: number | null;
  announced: boolean;
  has_record: boolean;
}

interface Announcement {
  workspace: string;
  event: string;
  record: string;
  version: number;
}

function isSettled({ batch_id }: LeafRow, start: Start | undefined): boolean {
  return (
    batch_id !== null && start !== undefined && batch_id <= start.lastBatch && !start.unfinished.has(batch_id)
  );
}

async function readStart(db: Db): Promise<Start> {
  const { rows } = await sql<{ last: number | null }>`select max(id) as last from anchor_batches`.execute(db);
  const unfinished = await sql<{ id: number }>`
    select id from anchor_batches where status in ('batched', 'submitted', 'set_aside')
    union all
    select id from anchor_batches where status in ('confirmed', 'finalized') and announced < size`.execute(
    db,
  );
  return { lastBatch: rows[0]?.last ?? 0, unfinished: new Set(unfinished.rows.map(({ id }) => id)) };
}

/** One that cannot be read is a finding of the events themselves. */
function announcementOf({ workspace_id: workspace, id: event, envelope }: EventRow): Announcement[] {
  if (envelope === null) return [];
  try {
    const { data } = JSON.parse(envelope) as { data: { record_id: string; version: number } };
    return [{ workspace, event, record: String(data.record_id), version: Number(data.version) }];
  } catch {
    return [];
  }
}

async function leavesOf(db: Db, told: Announcement[]): Promise<(number | null)[]> {
  if (told.length === 0) return [];
  const { rows } = await sql<{ id: number | null }>`
    select leaf.id from unnest(
      ${told.map(({ workspace }) => workspace)}::text[], ${told.map(({ record }) => record)}::text[],
      ${told.map(({ version }) => version)}::integer[]
    ) with ordinality as told (workspace_id, record_id, version, place)
    left join lateral (
      select l.id from anchor_leaves l
      where l.workspace_id = told.workspace_id and l.subject_id = told.record_id and l.kind = 'record'
        and l.version = told.version
      limit 1
    ) as leaf on true
    order by told.place`.execute(db);
  return rows.map(({ id }) => id);
}

function unknown({ workspace, event, record, version }: Announcement): Finding {
  return {
    rule: 'announced_unknown',
    ids: { workspace, event, record, version },
    message: `The event ${event} announces the record ${record}, version ${version}, which has no leaf.`,
    advice: 'Rows were removed from the database: look for the record in a backup.',
  };
}

function judge(row: LeafRow, unseen: boolean): Finding[] {
  if (row.kind !== 'record') return [];
  const { workspace_id: workspace, subject_id: record, version, batch_id } = row;
  const findings: Finding[] = [];
  if (!row.has_record) {
    findings.push({
      rule: 'leaf_without_record',
      ids: { workspace, record, version },
      message: `The record ${record}, version ${version}, has a leaf, and is not stored itself.`,
      advice: 'The row was removed from the database: restore it from a backup.',
    });
  }
  if (row.announced && unseen) {
    findings.push({
      rule: 'record_unannounced',
      ids: { workspace, record, version, batch: Number(batch_id) },
      message: `The record ${record}, version ${version}, is confirmed, and there is no event that says so.`,
      advice: 'Subscribers do not know of it: tell them, and look for the event in a backup.',
    });
  }
  return findings;
}

/** A set of small whole numbers, one bit each. */
function createBits() {
  let bits = new Uint8Array(1024);
  return {
    add(number: number): void {
      const at = number >> 3;
      if (at >= bits.length) {
        const larger = new Uint8Array(Math.max(at + 1, 2 * bits.length));
        larger.set(bits);
        bits = larger;
      }
      bits[at] = (bits[at] ?? 0) | (1 << (number & 7));
    },
    has: (number: number) => (((bits[number >> 3] ?? 0) >> (number & 7)) & 1) === 1,
  };
}
