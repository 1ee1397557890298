/**
 * Checks that every confirmed leaf was announced, and that every announcement has a leaf. No index leads from a thing to its
 * event, so all events are read once, and one bit per leaf notes that its event was seen: 12 MB for 100 million.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { rowsPass } from '../db/rows-pass.ts';
import { slackMs, writtenIds, writtenNumbers } from '../db/written-since.ts';
import type { Check, Finding, Pass } from '../runtime/check.ts';
import type { Announced } from './anchored.check.ts';

/** The batches that were fully announced before the events were read; later changes are left to the next run. */
interface Start {
  lastBatch: number;
  unfinished: Set<number>;
}

export function announcementsCheck(db: Db, kinds: Announced[]): Check {
  const seen = createBits();
  let start: Start | undefined;

  const events = rowsPass<EventRow>({
    db,
    what: 'announcements',
    table: 'events',
    written: [writtenIds(db, 'events', 'evt')],
    key: [
      { column: 'e.workspace_id', member: 'workspace_id' },
      { column: 'e.id', member: 'id' },
    ],
    pageRows: 2_000,
    // Reads events of all types: a page takes the same time whether or not it has any of these types.
    read: ({ where, end }) => sql<EventRow>`
      select e.workspace_id, e.id, e.type,
             case when e.type = any (${kinds.flatMap(({ event }) => event?.type ?? [])}::text[]) then e.envelope end as envelope
      from events e where ${where} ${end}`,
    async judge(rows) {
      const findings: Finding[] = [];
      for (const kind of kinds) {
        const told = rows.flatMap((row) => announcementOf(row, kind));
        const meant = await leavesOf(db, told, kind);
        for (const leaf of meant.flat()) seen.add(leaf);
        findings.push(
          ...told.filter((_, place) => meant[place]?.length === 0).map((one) => unknown(one, kind)),
        );
      }
      return findings;
    },
  });

  const leaves = leavesPass();
  return {
    name: 'announcements',
    passes: [
      { ...started(events), since: (time) => events.since?.(time).map(started) ?? [] },
      // The events begin earlier, whatever the clocks of the nodes say: none of these leaves is announced before them.
      { ...leaves, since: (time) => leaves.since?.(new Date(time.getTime() + slackMs)) ?? [] },
    ],
  };

  function started(pass: Pass): Pass {
    return {
      ...pass,
      async count() {
        start = await readStart(db);
        return pass.count();
      },
    };
  }

  function leavesPass(): Pass {
    const perKind = (value: (kind: Announced, place: number) => RawBuilder<unknown>) =>
      sql`case ${sql.join(
        kinds.map((kind, place) => sql`when ${kind.isOne} then ${value(kind, place)}`),
        sql` `,
      )} end`;
    return rowsPass<LeafRow>({
      db,
      what: 'confirmed leaves',
      table: 'anchor_leaves',
      written: [writtenNumbers(db, { table: 'anchor_leaves' })],
      key: [{ column: 'l.id', member: 'id' }],
      pageRows: 5_000,
      read: ({ where, end }) => sql<LeafRow>`
        select l.id, l.workspace_id, ${perKind((_, place) => sql`${sql.lit(place)}`)} as kind, l.subject_id, l.version,
               l.batch_id, l.announced_before,
               coalesce(b.status in ('confirmed', 'finalized') and l.place < b.announced, false) as announced,
               ${perKind(({ isStored }) => isStored)} as is_stored
        from placed_leaves l left join anchor_batches b on b.id = l.batch_id
        where ${where} ${end}`,
      judge: (rows) =>
        rows.flatMap((row) => {
          const kind = row.kind === null ? undefined : kinds[row.kind];
          return kind ? judge(row, kind, { unseen: isSettled(row, start) && !seen.has(row.id) }) : [];
        }),
    });
  }
}

interface EventRow {
  workspace_id: string;
  id: string;
  type: string;
  /** Null for types that announce nothing. */
  envelope: string | null;
}

interface LeafRow {
  id: number;
  workspace_id: string;
  /** Index into `kinds`; null when the leaf is of none of them. */
  kind: number | null;
  subject_id: string;
  version: number;
  batch_id: number | null;
  /** With an anchor of an earlier proof format, and not a second time. */
  announced_before: boolean;
  announced: boolean;
  is_stored: boolean | null;
}

interface Announcement {
  workspace: string;
  event: string;
  subject: string;
  data: Record<string, unknown>;
}

/** Whether its event was there before the events were read. */
function isSettled({ announced_before, announced, batch_id }: LeafRow, start: Start | undefined): boolean {
  if (announced_before) return true;
  if (!announced || batch_id === null || start === undefined) return false;
  return batch_id <= start.lastBatch && !start.unfinished.has(batch_id);
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

/** An envelope that cannot be parsed is reported by the check of the events. */
function announcementOf(
  { workspace_id: workspace, id: event, type, envelope }: EventRow,
  kind: Announced,
): Announcement[] {
  if (envelope === null || type !== kind.event?.type) return [];
  try {
    const { data } = JSON.parse(envelope) as { data: Record<string, unknown> };
    return [{ workspace, event, subject: String(data[kind.event.idMember]), data }];
  } catch {
    return [];
  }
}

async function leavesOf(db: Db, told: Announcement[], { leaves }: Announced): Promise<number[][]> {
  const found: number[][] = told.map(() => []);
  if (told.length === 0) return found;
  const { rows } = await sql<{ place: number; id: number }>`
    select told.place, leaf.id from unnest(
      ${told.map(({ workspace }) => workspace)}::text[], ${told.map(({ subject }) => subject)}::text[],
      ${told.map(({ data }) => JSON.stringify(data))}::jsonb[]
    ) with ordinality as told (workspace_id, subject_id, data, place)
    cross join lateral (${leaves}) as leaf`.execute(db);
  for (const { place, id } of rows) found[place - 1]?.push(id);
  return found;
}

function unknown({ workspace, event, subject, data }: Announcement, { thing }: Announced): Finding {
  const version = typeof data.version === 'number' ? { version: data.version } : {};
  return {
    rule: 'announced_unknown',
    ids: { workspace, event, [thing]: subject, ...version },
    message: `The event ${event} announces the ${thing} ${subject}, which has no leaf.`,
    advice: `Rows were removed from the database: look for the ${thing} in a backup.`,
  };
}

function judge(row: LeafRow, { thing, event }: Announced, { unseen }: { unseen: boolean }): Finding[] {
  const { workspace_id: workspace, subject_id: subject, version, batch_id } = row;
  const batch = batch_id === null ? {} : { batch: batch_id };
  const findings: Finding[] = [];
  if (!row.is_stored) {
    findings.push({
      rule: `leaf_without_${thing}`,
      ids: { workspace, [thing]: subject, version },
      message: `The ${thing} ${subject}, version ${version}, has a leaf, but is not stored itself.`,
      advice: 'The row was removed from the database: restore it from a backup.',
    });
  }
  if (event && unseen) {
    findings.push({
      rule: `${thing}_unannounced`,
      ids: { workspace, [thing]: subject, version, ...batch },
      message: `The ${thing} ${subject}, version ${version}, was confirmed, but there is no event for it.`,
      advice: 'Subscribers were not notified: tell them, and look for the event in a backup.',
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
