/** Adds versions to records; concurrent additions share a commit, and no two get the same number. */
import { sql } from 'kysely';
import { auditWrite } from '../../access/audit/audit.ts';
import type { Archive } from '../../anchoring/archive/archive.ts';
import { isArchived } from '../../anchoring/archive/archived-rows.ts';
import type { Db } from '../../db/database.ts';
import { gatherWrites } from '../../db/fault-lanes.ts';
import { isStatementFault } from '../../db/faults.ts';
import { insertAll, type Write } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { explainRefusedSeal, vaultDeactivated } from '../vaults/refused-seal.ts';
import type { VaultStatus } from '../vaults/vaults.store.ts';
import { type MadeVersion, nextVersion, type RecordContent } from './record-content.ts';
import type { RecordVersion } from './records.store.ts';

export interface VersionAddition {
  caller: Caller;
  id: string;
  content: RecordContent;
  /** Rows to commit with the version. */
  also(record: RecordVersion): Write[];
}

export function createVersionAdder(
  db: Db,
  archive: Pick<Archive, 'bringBack'>,
): (addition: VersionAddition) => Promise<RecordVersion> {
  const add = gatherWrites<VersionAddition, RecordVersion | AppError>({
    maxInFlight: 1,
    maxItems: 200,
    workspaceOf: ({ caller }) => caller.workspaceId,
    isItemFault: isStatementFault,
    run: (additions) => db.transaction().execute((db) => addAll(db, additions)),
  });
  return async (addition) => {
    const result = await add(addition).catch(explainRefusedSeal);
    if (!(result instanceof AppError)) return result;
    if (result.code !== 'resource_not_found') throw result;
    const { caller, id } = addition;
    if (!(await isSomewhere(db, caller.workspaceId, id))) throw result;
    await db.transaction().execute((db) => archive.bringBack(db, caller.workspaceId, [id]));
    // Also when there was nothing to bring back: somebody else may have.
    const again = await add(addition).catch(explainRefusedSeal);
    if (again instanceof AppError) throw again;
    return again;
  };
}

/** In the archive, or brought back from it meanwhile: an id that nobody has costs the others no second look. */
async function isSomewhere(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select ${sql.raw(isArchived('wanted.workspace_id', 'wanted.id'))}
      or exists (select from records r where r.workspace_id = wanted.workspace_id and r.id = wanted.id) as found
    from (values (${workspaceId}::text, ${id}::text)) as wanted (workspace_id, id)`.execute(db);
  return rows[0]?.found === true;
}

/** In the order of arrival; a refused addition does not affect the others. */
async function addAll(db: Db, additions: VersionAddition[]): Promise<(RecordVersion | AppError)[]> {
  const newest = await lockNewest(db, additions);
  const made: MadeVersion[] = [];
  const more: Write[] = [];
  const results = additions.map(({ caller, id, content, also }) => {
    const { workspaceId } = caller;
    const before = newest.get(keyOf(workspaceId, id));
    if (!before) return noRecord(id);
    const { vault } = before;
    if (vault.status !== 'active') return vaultDeactivated(vault.address);
    const { externalId } = before;
    const next = nextVersion({ workspaceId, vault, externalId, content }, before);
    newest.set(keyOf(workspaceId, id), { ...before, version: next.record.version, leaf: next.leaf });
    made.push(next);
    more.push(
      auditWrite(caller, {
        action: 'record.add_version',
        targetId: id,
        details: { version: next.record.version },
      }),
      ...also(next.record),
    );
    return next.record;
  });
  if (made.length === 0) return results;
  await insertAll(db, [...made.map(({ write }) => write), ...more]);
  return results;
}

interface Newest {
  workspaceId: string;
  id: string;
  version: number;
  externalId: string;
  leaf: Buffer;
  vault: { id: string; address: string; status: VaultStatus };
}

interface NewestRow {
  workspace_id: string;
  id: string;
  version: number;
  external_id: string | null;
  leaf: Buffer;
  vault_id: string;
  address: string;
  status: VaultStatus;
}

/** The newest version of each existing record, locked against other additions until the transaction ends. */
async function lockNewest(db: Db, additions: VersionAddition[]): Promise<Map<string, Newest>> {
  const wanted = [
    ...new Map(
      additions.map(({ caller, id }) => [
        keyOf(caller.workspaceId, id),
        { workspaceId: caller.workspaceId, id },
      ]),
    ).values(),
  ];
  const keys = sql`unnest(${wanted.map(({ workspaceId }) => workspaceId)}::text[],
                          ${wanted.map(({ id }) => id)}::text[]) as wanted (workspace_id, id)`;
  // Locks the first version in place of the record: it always exists, whereas the newest version may change during the wait.
  // A common order, so that two groups never deadlock.
  await sql`
    select 1 from ${keys}
    join records r on r.workspace_id = wanted.workspace_id and r.id = wanted.id and r.version = 1
    order by r.workspace_id, r.id for update of r`.execute(db);
  // A separate statement, which sees what was committed during the wait.
  const { rows } = await sql<NewestRow>`
    select r.workspace_id, r.id, r.version, r.external_id, r.leaf, r.vault_id, v.address, v.status
    from ${keys}
    cross join lateral (
      select * from records
      where workspace_id = wanted.workspace_id and id = wanted.id order by version desc limit 1
    ) as r
    join vaults v on v.workspace_id = r.workspace_id and v.id = r.vault_id`.execute(db);
  return new Map(rows.map((row) => [keyOf(row.workspace_id, row.id), toNewest(row)]));
}

function toNewest(row: NewestRow): Newest {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    version: row.version,
    externalId: row.external_id ?? '',
    leaf: row.leaf,
    vault: { id: row.vault_id, address: row.address, status: row.status },
  };
}

function keyOf(workspaceId: string, id: string): string {
  return `${workspaceId} ${id}`;
}

export function noRecordVersion(id: string, version: number): AppError {
  return new AppError('resource_not_found', `There is no version ${version} of the record ${id}.`);
}

export function noRecord(id: string): AppError {
  return new AppError('resource_not_found', `There is no record ${id}.`);
}
