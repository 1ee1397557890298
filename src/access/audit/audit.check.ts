/** Checks the audit log: every entry is unchanged and in the chain of its workspace, and the chain has no other. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { type AsOf, rowsPass, timeOf } from '../../db/rows-pass.ts';
import { writtenIds, writtenIn } from '../../db/written-since.ts';
import type { Check, Finding } from '../../runtime/check.ts';
import { idBound, packId } from '../../runtime/ids.ts';
import { type DigestedRow, entryDigest } from './audit.ts';
import {
  chainHash,
  findPlaces,
  firstHash,
  keyOf,
  lastPlace,
  linksOf,
  type Place,
  type SegmentRow,
} from './audit-segments.ts';

interface Entry extends DigestedRow {
  digest: Buffer;
  late: boolean;
}

interface Segment extends SegmentRow {
  first_id: Buffer;
  last_id: Buffer;
  previous_sequence: number | null;
  previous_hash: Buffer | null;
}

export function auditCheck(db: Db, asOf?: AsOf): Check {
  return {
    name: 'audit',
    passes: [
      rowsPass<Entry>({
        db,
        what: 'audit entries',
        table: 'audit_entries',
        written: [writtenIds(db, 'audit_entries', 'aud')],
        key: [
          { column: 'e.workspace_id', member: 'workspace_id' },
          { column: 'e.id', member: 'id' },
        ],
        read: ({ where, end }) => sql<Entry>`
          select e.workspace_id, e.id, e.at, e.actor_kind, e.actor_id, e.action, e.target_id, e.request_id, e.details,
                 e.digest, e.at < ${timeOf(asOf)} - interval '1 minute' as late
          from audit_entries e where ${where} ${end}`,
        async judge(rows) {
          const places = await findPlaces(db, rows);
          return rows.flatMap((row) => judgeEntry(row, places.get(keyOf(row)) ?? []));
        },
      }),
      rowsPass<Segment>({
        db,
        what: 'segments of the audit chain',
        table: 'audit_segments',
        written: [
          writtenIn(
            db,
            'audit_segments',
            (since) => sql`
              select min(s.first_sequence) from audit_segments s
              where s.workspace_id = g.value and s.last_id >= ${packId('aud', `${idBound('aud', since)}${'0'.repeat(16)}`)}`,
          ),
        ],
        pageRows: 100,
        key: [
          { column: 'c.workspace_id', member: 'workspace_id' },
          { column: 'c.first_sequence', member: 'first_sequence' },
        ],
        read: ({ where, end }) => sql<Segment>`
          select c.workspace_id, c.first_sequence, c.first_id, c.last_id, c.ids, c.hashes,
                 previous.sequence as previous_sequence, previous.hash as previous_hash
          from audit_segments c
          left join lateral (
            select ${lastPlace} from audit_segments s
            where s.workspace_id = c.workspace_id and s.first_sequence < c.first_sequence
            order by s.first_sequence desc limit 1
          ) as previous on true
          where ${where} ${end}`,
        async judge(rows) {
          const digests = await findDigests(db, rows);
          return rows.flatMap((row) => judgeSegment(row, digests));
        },
      }),
    ],
  };
}

function judgeEntry(row: Entry, places: Place[]): Finding[] {
  const { workspace_id: workspace, id: entry } = row;
  const findings: Finding[] = [];
  const find = (rule: string, message: string, advice: string) =>
    findings.push({ rule, ids: { workspace, entry }, message, advice });
  if (!entryDigest(row).equals(row.digest)) {
    find(
      'audit_entry_changed',
      `The audit entry ${entry} does not match its digest.`,
      'Somebody changed the row in the database: compare it with a backup.',
    );
  }
  if (places.length === 0 && row.late) {
    find(
      'audit_entry_unchained',
      `The audit entry ${entry} is not in its hash chain after more than a minute.`,
      'Start the service if it is stopped; otherwise look for the loop audit-chain in /readyz and in the log.',
    );
  }
  if (places.length > 1) {
    find(
      'audit_entry_chained_twice',
      `The audit entry ${entry} has more than one place in its hash chain: ${places.map(({ sequence }) => sequence).join(', ')}.`,
      'Somebody changed the segments of the chain in the database: compare them with a backup.',
    );
  }
  return findings;
}

/** The digests of all entries of these segments. */
async function findDigests(db: Db, segments: Segment[]): Promise<Map<string, Buffer>> {
  const keys = segments.flatMap((segment) =>
    linksOf(segment).map(({ id }) => ({ workspace_id: segment.workspace_id, id })),
  );
  const { rows } = await sql<{ workspace_id: string; id: string; digest: Buffer }>`
    select e.workspace_id, e.id, e.digest
    from unnest(${keys.map((key) => key.workspace_id)}::text[], ${keys.map(({ id }) => id)}::text[]) as k (workspace_id, id)
    join audit_entries e on e.workspace_id = k.workspace_id and e.id = k.id`.execute(db);
  return new Map(rows.map((row) => [keyOf(row), row.digest]));
}

function judgeSegment(segment: Segment, digests: Map<string, Buffer>): Finding[] {
  const { workspace_id: workspace, first_sequence: first } = segment;
  const findings: Finding[] = [];
  const find = (ids: Finding['ids'], rule: string, message: string, advice: string) =>
    findings.push({ rule, ids: { workspace, ...ids }, message, advice });
  const links = linksOf(segment);
  const bytes = links.map(({ id }) => packId('aud', id) as Buffer).sort(Buffer.compare);
  if (!bytes[0]?.equals(segment.first_id) || !bytes.at(-1)?.equals(segment.last_id)) {
    find(
      { sequence: first },
      'audit_segment_bounds',
      `The segment of the audit chain that begins with number ${first} says that it has other entries than it has.`,
      'Somebody changed the row in the database: compare it with a backup.',
    );
  }
  if ((segment.previous_sequence ?? 0) !== first - 1) {
    find(
      { sequence: first },
      'audit_chain_gap',
      `A segment of the audit chain begins with number ${first}, but the one before ends with number ${segment.previous_sequence ?? 0}.`,
      'A segment was removed from the database, or changed: look for it in a backup.',
    );
    return findings;
  }
  let previous = segment.previous_hash ?? firstHash;
  for (const { id: entry, sequence, hash } of links) {
    const digest = digests.get(keyOf({ workspace_id: workspace, id: entry }));
    if (digest === undefined) {
      find(
        { entry },
        'audit_chain_gap',
        `The audit entry ${entry}, number ${sequence}, is missing.`,
        'An entry was removed from the database: look for it in a backup.',
      );
    } else if (!chainHash(previous, digest).equals(hash)) {
      find(
        { entry },
        'audit_chain_broken',
        `The hash of audit entry ${entry}, number ${sequence}, does not follow from the previous entry.`,
        'An entry was changed, removed or inserted: compare this one and the previous one with a backup.',
      );
    }
    previous = hash;
  }
  return findings;
}
