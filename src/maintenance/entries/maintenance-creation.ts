/** Records entries: checks what is given, makes the entry, and adds it to the chain of its asset. */
import { auditWrite } from '../../access/audit/audit.ts';
import type { Db } from '../../db/database.ts';
import type { Write } from '../../db/writes.ts';
import { canonicalOf } from '../../holdings/records/record-content.ts';
import { explainRefusedSeal } from '../../holdings/vaults/refused-seal.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { earliestWork, type ReadData, readData } from '../signing/maintenance-entry.ts';
import { createEntryAdder, type OnCorrected } from './entry-additions.ts';
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

export interface CreationDeps {
  db: Db;
  onCorrected: OnCorrected;
}

export function createMaintenanceCreator({ db, onCorrected }: CreationDeps): CreateMaintenance {
  const findSubject = createSubjectFinder(db);
  const add = createEntryAdder(db, onCorrected);

  return async (caller, input, also) => {
    const { workspaceId } = caller;
    const { assetId, workerAddress, data = {}, files: given = [], supersedes = null } = input;
    const { usage, closes } = read(data);
    const type = input.type.trim();
    const { vault, worker, rule } = await findSubject({ workspaceId, assetId, workerAddress, type });
    const files = await findAttached(db, { workspaceId, assetId, vault, supersedes }, given);
    await requireClosable(db, { workspaceId, assetId }, closes);
    const { summary, performedAt } = input;
    const requires = rule ?? { scope: type, categories: [], critical: false };
    const work = { type, summary, performedAt, data, usage, files, supersedes, requires };
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
    await add({
      ...{ workspaceId, assetId, maintenanceId, supersedes, at: made.at },
      also: [
        auditWrite(caller, { action: 'maintenance.create', targetId: maintenanceId, details }),
        ...also(created),
      ],
    }).catch(explainRefusedSeal);
    return created;
  };
}

function read(data: Record<string, unknown>): ReadData {
  // Checked before it becomes part of the entry, so that a message names the field as the caller knows it.
  canonicalOf(data, 'data');
  if (Object.hasOwn(data, 'scope')) {
    throw new AppError(
      'scope_not_accepted',
      'data.scope is not accepted: which licence the work needs follows from its type, or from a rule of the asset.',
    );
  }
  const found = readData(data);
  if (typeof found === 'string') throw new AppError('invalid_request', found);
  return found;
}
