/**
 * Records entries. Entries that only add rows share commits with everything else; a correction waits for the lock of the
 * entry that it corrects, also in a group.
 */
import { sql } from 'kysely';
import { auditWrite } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import { isStatementFault } from '../../db/faults.ts';
import { gather } from '../../db/gather.ts';
import { type CommitTogether, insertAll, type Write } from '../../db/writes.ts';
import { canonicalOf } from '../../holdings/records/record-content.ts';
import { explainRefusedSeal } from '../../holdings/vaults/refused-seal.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { earliestWork, type ReadData, readData } from '../signing/maintenance-entry.ts';
import { makeEntry } from './maintenance-content.ts';
import { findAttached, type GivenFile } from './maintenance-files.ts';
import { createSubjectFinder } from './maintenance-subject.ts';
import { requireClosable } from './open-defects.ts';

export interface NewMaintenance {
  assetId: string;
  workerAddress: string;
  type: string;
  summary: string;
  performedAt: Date;
  data?: Record<string, unknown> | undefined;
  files?: GivenFile[] | undefined;
  supersedes?: string | undefined;
}

export interface CreatedMaintenance {
  assetId: string;
  maintenanceId: string;
  maintenanceHash: `0x${string}`;
  status: 'pending';
}

/** `also`: rows to commit with the entry. */
export type CreateMaintenance = (
  caller: Caller,
  input: NewMaintenance,
  also: (created: CreatedMaintenance) => Write[],
) => Promise<CreatedMaintenance>;

/** An entry that replaces an older one. */
export interface Correction {
  workspaceId: string;
  supersedes: string;
  maintenanceId: string;
}

export interface CreationDeps {
  db: Db;
  commit: CommitTogether;
  /** Updates references to the older entries, in the same transaction. */
  onCorrected(db: Db, corrections: Correction[]): Promise<void>;
}

export function createMaintenanceCreator({ db, commit, onCorrected }: CreationDeps): CreateMaintenance {
  const findSubject = createSubjectFinder(db);
  const addInTurn = gather<Addition, AppError | null>({
    maxInFlight: 1,
    maxItems: 200,
    isItemFault: isStatementFault,
    run: (additions) => db.transaction().execute((db) => addAll(db, additions, onCorrected)),
  });

  return async (caller, input, also) => {
    const { workspaceId } = caller;
    const { assetId, workerAddress, data = {}, files: given = [], supersedes = null } = input;
    const { usage, closes } = read(data);
    const { vault, worker } = await findSubject({ workspaceId, assetId, workerAddress });
    const files = await findAttached(db, { workspaceId, assetId, vault, supersedes }, given);
    await requireClosable(db, { workspaceId, assetId }, closes);
    const { summary, performedAt } = input;
    const type = input.type.trim();
    const work = { type, summary, performedAt, data, usage, files, supersedes };
    const made = makeEntry({ workspaceId, assetId, vault, worker, ...work });
    if (performedAt > made.recordedAt) {
      throw new AppError(
        'invalid_request',
        `performedAt ${performedAt.toISOString()} is in the future: only work that has been done can be recorded.`,
      );
    }
    if (performedAt < earliestWork) {
      throw new AppError('invalid_request', 'performedAt must not be before the year 1900.');
    }
    const { maintenanceId, maintenanceHash } = made;
    const created: CreatedMaintenance = { assetId, maintenanceId, maintenanceHash, status: 'pending' };
    const shared = given.filter(({ share }) => share).map(({ fileId }) => fileId);
    const details = {
      assetId,
      type,
      workerId: worker.id,
      ...(supersedes !== null && { supersedes }),
      ...(shared.length > 0 && { shared }),
    };
    const writes = [
      ...made.writes,
      auditWrite(caller, { action: 'maintenance.create', targetId: maintenanceId, details }),
      ...also(created),
    ];
    if (supersedes === null) {
      await commit(writes).catch(explainRefusedSeal);
    } else {
      const refused = await addInTurn({ workspaceId, assetId, supersedes, maintenanceId, writes }).catch(
        explainRefusedSeal,
      );
      if (refused) throw refused;
    }
    return created;
  };
}

function read(data: Record<string, unknown>): ReadData {
  // Checked before it becomes part of the entry, so that a message names the field as the caller knows it.
  canonicalOf(data, 'data');
  const found = readData(data);
  if (typeof found === 'string') throw new AppError('invalid_request', found);
  return found;
}

interface Addition extends Correction {
  assetId: string;
  writes: Write[];
}

/** In the order of arrival; a refused addition does not affect the others. */
async function addAll(
  db: Db,
  additions: Addition[],
  onCorrected: CreationDeps['onCorrected'],
): Promise<(AppError | null)[]> {
  const corrected = await lockCorrected(db, additions);
  const accepted: Addition[] = [];
  const results = additions.map((addition) => {
    const { workspaceId, assetId, supersedes } = addition;
    const entry = corrected.get(keyOf(workspaceId, supersedes));
    const refused = refusalOf(assetId, supersedes, entry);
    if (refused || !entry) return refused;
    entry.superseded = true;
    accepted.push(addition);
    return null;
  });
  await insertAll(
    db,
    accepted.flatMap(({ writes }) => writes),
  );
  await onCorrected(db, accepted);
  return results;
}

interface Corrected {
  assetId: string;
  superseded: boolean;
}

function refusalOf(assetId: string, id: string, entry: Corrected | undefined): AppError | null {
  if (!entry) return new AppError('resource_not_found', `There is no maintenance entry ${id} to supersede.`);
  if (entry.assetId !== assetId) {
    return new AppError('conflict', `The maintenance entry ${id} belongs to another asset.`);
  }
  if (!entry.superseded) return null;
  return new AppError(
    'conflict',
    `The maintenance entry ${id} is already superseded. Supersede the newest entry.`,
  );
}

/** The entries to correct, locked against other corrections and sign-offs until the transaction ends. */
async function lockCorrected(db: Db, additions: Addition[]): Promise<Map<string, Corrected>> {
  const keys = sql`unnest(${additions.map(({ workspaceId }) => workspaceId)}::text[],
                          ${additions.map(({ supersedes }) => supersedes)}::text[]) as wanted (workspace_id, id)`;
  // A common order, so that two groups never deadlock.
  await sql`
    select 1 from ${keys}
    join maintenances m on m.workspace_id = wanted.workspace_id and m.id = wanted.id
    order by m.workspace_id, m.id for no key update of m`.execute(db);
  // A separate statement, which sees what was committed during the wait.
  const { rows } = await sql<{ workspace_id: string; id: string; asset_id: string; superseded: boolean }>`
    select m.workspace_id, m.id, m.asset_id, exists (
      select 1 from maintenances s where s.workspace_id = m.workspace_id and s.supersedes = m.id
    ) as superseded
    from ${keys}
    cross join lateral (
      select * from maintenances where workspace_id = wanted.workspace_id and id = wanted.id limit 1
    ) as m`.execute(db);
  return new Map(
    rows.map((row) => [
      keyOf(row.workspace_id, row.id),
      { assetId: row.asset_id, superseded: row.superseded },
    ]),
  );
}

function keyOf(workspaceId: string, id: string): string {
  return `${workspaceId} ${id}`;
}
