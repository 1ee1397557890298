/**
 * Checks the validations of files: each result follows from its parts, is anchored beside its version, and was announced.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../db/database.ts';
import { rowsPass } from '../../../db/rows-pass.ts';
import { writtenIds } from '../../../db/written-since.ts';
import type { Check, Finding } from '../../../runtime/check.ts';
import { idBound } from '../../../runtime/ids.ts';

export function fileValidationsCheck(db: Db): Check {
  const pass = rowsPass<Row>({
    db,
    what: 'validations of files',
    table: 'file_validations',
    written: [writtenIds(db, 'file_validations', 'val')],
    key: [
      { column: 'o.workspace_id', member: 'workspace_id' },
      { column: 'o.id', member: 'id' },
    ],
    read: ({ where, end }) => sql<Row>`
      select o.workspace_id, o.id, o.file_id, o.file_version, o.presented_hash, o.result, o.integrity,
             o.authenticity, o.ownership, o.validated_at, version.leaf as version_leaf,
             version.digest as version_digest, own.digest as leaf_digest, own.previous_leaf as leaf_previous,
             own.claims as leaf_claims
      from file_validations o
      left join lateral (
        select l.leaf, l.digest from anchor_leaves l
        where l.workspace_id = o.workspace_id and l.subject_id = o.file_id and l.kind = 'file'
          and l.version = o.file_version
        limit 1
      ) as version on true
      left join lateral (
        select l.digest, l.previous_leaf, l.claims from anchor_leaves l
        where l.workspace_id = o.workspace_id and l.subject_id = o.file_id and l.kind = 'validation'
          and l.version = o.number
        limit 1
      ) as own on true
      where ${where} ${end}`,
    async judge(rows) {
      const untold = await findUntold(db, rows);
      return rows.flatMap((row) => judge(row, untold.has(row.id)));
    },
  });
  return { name: 'validations', passes: [pass] };
}

interface Row {
  workspace_id: string;
  id: string;
  file_id: string;
  file_version: number;
  presented_hash: Buffer;
  result: 'valid' | 'invalid' | null;
  integrity: boolean | null;
  authenticity: boolean | null;
  ownership: boolean | null;
  validated_at: Date | null;
  version_leaf: Buffer | null;
  version_digest: Buffer | null;
  leaf_digest: Buffer | null;
  leaf_previous: Buffer | null;
  leaf_claims: string | null;
}

const restore = 'The row was changed in the database: restore it from a backup.';

function judge(row: Row, untold: boolean): Finding[] {
  const { workspace_id: workspace, id: validation, file_id: file } = row;
  const findings: Finding[] = [];
  const find = (rule: string, what: string, advice = restore) =>
    findings.push({
      rule,
      ids: { workspace, file, validation },
      message: `The validation ${validation} of the file ${file} ${what}.`,
      advice,
    });
  if (row.version_leaf === null || row.version_digest === null) {
    find('validation_without_version', `belongs to version ${row.file_version}, which does not exist`);
    return findings;
  }
  if (row.result === null) return findings;
  const valid = row.integrity === true && row.authenticity === true && row.ownership === true;
  const intact = row.presented_hash.equals(row.version_digest);
  if ((row.result === 'valid') !== valid || row.integrity !== intact) {
    find('validation_result', 'has a result that does not follow from what was presented');
  }
  if (row.leaf_digest === null || row.leaf_previous === null) {
    find('validation_without_leaf', 'is completed and has no leaf: its result will never be anchored');
  } else if (
    !row.leaf_digest.equals(row.presented_hash) ||
    !row.leaf_previous.equals(row.version_leaf) ||
    !claimsFit(row)
  ) {
    find('validation_leaf_differs', 'has a leaf that does not match it');
  }
  if (untold) {
    find(
      'validation_untold',
      'is completed, but there is no event for it',
      'Subscribers were not notified: tell them, and look for the event in a backup.',
    );
  }
  return findings;
}

/** Erased claims cannot be compared; the check of the leaves covers their hash. */
function claimsFit(row: Row): boolean {
  if (row.leaf_claims === null) return true;
  try {
    const claims = JSON.parse(row.leaf_claims);
    return (
      claims.validationId === row.id &&
      claims.fileVersion === row.file_version &&
      claims.result === row.result &&
      claims.integrity === row.integrity &&
      claims.authenticity === row.authenticity &&
      claims.ownership === row.ownership &&
      claims.validatedAt === row.validated_at?.toISOString()
    );
  } catch {
    return false;
  }
}

/** The event is made with the result, so its id is from about the same time, unless the clock was changed meanwhile. */
const windowMs = 60_000;

/** Ids of completed validations without an event. */
async function findUntold(db: Db, rows: Row[]): Promise<Set<string>> {
  const completed = rows.filter(({ result }) => result !== null);
  const nearby = await withoutEvent(db, completed, ({ validated_at }) => {
    const at = validated_at?.getTime() ?? 0;
    return [idBound('evt', new Date(at - windowMs)), idBound('evt', new Date(at + windowMs))];
  });
  // Only for these, all events of their workspaces are read.
  const anywhere = await withoutEvent(db, nearby, () => ['', '~']);
  return new Set(anywhere.map(({ id }) => id));
}

async function withoutEvent(
  db: Db,
  rows: Row[],
  boundsOf: (row: Row) => [from: string, to: string],
): Promise<Row[]> {
  if (rows.length === 0) return [];
  const list = (values: string[]): RawBuilder<unknown> => sql`${values}::text[]`;
  const bounds = rows.map(boundsOf);
  const { rows: untold } = await sql<{ id: string }>`
    select o.id
    from unnest(${list(rows.map((row) => row.workspace_id))}, ${list(rows.map(({ id }) => id))},
                ${list(bounds.map(([from]) => from))}, ${list(bounds.map(([, to]) => to))})
      as o (workspace_id, id, first, last)
    where not exists (
      select 1 from events e
      where e.workspace_id = o.workspace_id and e.id >= o.first and e.id < o.last
        and e.type = 'file.validation.completed' and position('"' || o.id || '"' in e.envelope) > 0
    )`.execute(db);
  const ids = new Set(untold.map(({ id }) => id));
  return rows.filter(({ id }) => ids.has(id));
}
