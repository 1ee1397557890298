/** The subject of an entry or a sign-off: the asset with its owner's vault, and the worker, in their current state. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { isStatementFault } from '../../db/faults.ts';
import { gather } from '../../db/gather.ts';
import { vaultDeactivated } from '../../holdings/vaults/refused-seal.ts';
import { AppError } from '../../runtime/errors.ts';
import { noAsset } from '../assets/asset-access.ts';
import { type Licence, type StoredLicence, wholeLicence } from '../signing/licence.ts';
import type { Requirement } from '../signing/maintenance-entry.ts';
import { everyWork, plainWork } from './work-rules.store.ts';

export interface SubjectKey {
  workspaceId: string;
  assetId: string;
  /** The worker's address, in a form that the API accepts. */
  workerAddress: string;
  /** The type of the work, to find what a sign-off of it needs. */
  type?: string;
}

export interface Subject {
  /** By the rule of the asset or the workspace for the type of work; null if there is none. */
  rule: Requirement | null;
  /** The asset's owner. */
  vault: { id: string; address: string };
  worker: {
    id: string;
    /** EIP-55. */
    address: string;
    name: string;
    keyHolder: 'service' | 'worker' | 'passkey';
    licences: Licence[];
    /** The member of the workspace whom the worker is. */
    userId: string | null;
    /** Workers with the same identity are one person. */
    identity: string;
  };
}

interface SubjectRow {
  vault_id: string | null;
  vault_address: string;
  vault_status: 'active' | 'inactive';
  worker_id: string | null;
  worker_address: string;
  name: string;
  key_holder: 'service' | 'worker' | 'passkey';
  licences: StoredLicence[];
  user_id: string | null;
  identity: string;
  assigned: boolean;
  rule: Requirement | null;
}

/** Gathers the lookups of concurrent requests. */
export function createSubjectFinder(db: Db): (key: SubjectKey) => Promise<Subject> {
  const find = gather<SubjectKey, SubjectRow | undefined>({
    maxInFlight: 2,
    maxItems: 500,
    isItemFault: isStatementFault,
    run: (keys) => readSubjects(db, keys),
  });
  return async (key) => requireSubject(key, await find(key));
}

/**
 * Throws when the asset or the worker does not exist, the vault is deactivated, or the worker is not assigned to the asset.
 */
export async function findSubject(db: Db, key: SubjectKey): Promise<Subject> {
  const [row] = await readSubjects(db, [key]);
  return requireSubject(key, row);
}

function requireSubject({ assetId, workerAddress }: SubjectKey, row: SubjectRow | undefined): Subject {
  if (!row || row.vault_id === null) throw noAsset(assetId);
  if (row.worker_id === null) {
    throw new AppError('resource_not_found', `There is no worker ${workerAddress}.`);
  }
  if (row.vault_status !== 'active') throw vaultDeactivated(row.vault_address);
  if (!row.assigned) {
    throw new AppError(
      'conflict',
      `The worker ${row.worker_address} is not assigned to the asset ${assetId}. Assign the worker first.`,
    );
  }
  return {
    rule: row.rule,
    vault: { id: row.vault_id, address: row.vault_address },
    worker: {
      id: row.worker_id,
      address: row.worker_address,
      name: row.name,
      keyHolder: row.key_holder,
      licences: row.licences.map(wholeLicence),
      userId: row.user_id,
      identity: row.identity,
    },
  };
}

async function readSubjects(db: Db, keys: SubjectKey[]): Promise<SubjectRow[]> {
  const { rows } = await sql<SubjectRow>`
    select v.id as vault_id, v.address as vault_address, v.status as vault_status, w.id as worker_id,
      w.address as worker_address, w.name, w.key_holder, w.licences, w.user_id, w.identity,
      exists (
        select 1 from asset_workers a where a.workspace_id = wanted.workspace_id and a.asset_id = wanted.asset_id
          and a.address = wanted.address
      ) as assigned, r.rule
    from unnest(${keys.map(({ workspaceId }) => workspaceId)}::text[], ${keys.map(({ assetId }) => assetId)}::text[],
                ${keys.map(({ workerAddress }) => workerAddress.toLowerCase())}::text[],
                ${keys.map(({ type = '' }) => plainWork(type))}::text[])
      with ordinality as wanted (workspace_id, asset_id, address, type, place)
    left join lateral (
      select vault_id from assets where workspace_id = wanted.workspace_id and asset_id = wanted.asset_id limit 1
    ) as a on true
    left join lateral (
      select id, address, status from vaults where workspace_id = wanted.workspace_id and id = a.vault_id limit 1
    ) as v on true
    left join lateral (
      select id, address, name, key_holder, licences, user_id, coalesce(identity, id) as identity from workers
      where workspace_id = wanted.workspace_id and lower(address) = wanted.address limit 1
    ) as w on true
    left join lateral (
      select jsonb_build_object('scope', scope, 'categories', categories, 'critical', critical) as rule from work_rules
      where workspace_id = wanted.workspace_id and asset_id in (wanted.asset_id, '')
        and type in (wanted.type, ${everyWork})
      order by asset_id = '', type = ${everyWork} limit 1
    ) as r on true
    order by wanted.place`.execute(db);
  return rows;
}
