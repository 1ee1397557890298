/** Maintenance entries of assets: recorded, shown to those who may see them, and proved. */

import type { Proofs } from '../../anchoring/proofs.ts';
import type { Proof, ProofContent } from '../../proof/verify/proof.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import type { AssetAccess } from '../assets/asset-access.ts';
import {
  type CreateMaintenance,
  type CreationDeps,
  createMaintenanceCreator,
} from './maintenance-creation.ts';
import {
  countMaintenances,
  type EntryFilters,
  type EntryPage,
  type EntryQuery,
  listMaintenances,
} from './maintenance-list.ts';
import {
  findMaintenance,
  findSignoff,
  noMaintenance,
  type WholeMaintenance,
  type WholeSignoff,
} from './maintenances.store.ts';

/** A viewer's look at an asset. */
export interface View {
  caller: Caller;
  assetId: string;
  viewerAddress: string;
}

export type EntryView = View & { maintenanceId: string };

export interface FoundMaintenance {
  chainId: number;
  maintenance: { assetId: string; maintenanceId: string; maintenanceHash: string };
}

/** Each look is in the access log before it is answered. */
export interface Maintenances {
  create: CreateMaintenance;
  /** The lookup of the public interface: the entry's hash and the chain for its anchor, even before it is anchored. */
  lookUp(view: EntryView): Promise<FoundMaintenance>;
  list(view: View, query: EntryQuery): Promise<EntryPage>;
  count(view: View, filters: EntryFilters): Promise<number>;
  get(view: EntryView): Promise<WholeMaintenance>;
  getSignoff(view: EntryView, number: number): Promise<WholeSignoff>;
  proof(view: EntryView): Promise<Proof>;
  signoffProof(view: EntryView, number: number): Promise<Proof>;
}

export interface MaintenancesDeps extends CreationDeps {
  assetAccess: AssetAccess;
  /** The configured chain; throws service_unavailable while it is unknown. */
  chainId(): number | Promise<number>;
  /** Throws when the entry is not confirmed yet. */
  makeProof: Proofs['make'];
}

export function createMaintenances(deps: MaintenancesDeps): Maintenances {
  const { db, assetAccess, chainId, makeProof } = deps;

  const lookAtEntry = assetAccess.requireWith<{ id: string; hash: Buffer }>({
    name: 'maintenance',
    columns: ['id', 'hash'],
    from: `maintenances m
      where m.workspace_id = looked.workspace_id and m.id = looked.target_id and m.asset_id = looked.asset_id limit 1`,
  });

  async function look({ maintenanceId, ...view }: EntryView, what: string): Promise<Buffer> {
    const { row } = await lookAtEntry({ ...view, what, targetId: maintenanceId });
    if (!row) throw noMaintenance(maintenanceId);
    return row.hash;
  }

  async function get(view: EntryView, what: string): Promise<WholeMaintenance> {
    await look(view, what);
    const { caller, assetId, maintenanceId } = view;
    const found = await findMaintenance(db, { workspaceId: caller.workspaceId, assetId, maintenanceId });
    if (!found) throw noMaintenance(maintenanceId);
    return found;
  }

  async function getSignoff(view: EntryView, number: number, what: string): Promise<WholeSignoff> {
    await look(view, what);
    const { caller, assetId, maintenanceId } = view;
    const key = { workspaceId: caller.workspaceId, assetId, maintenanceId, number };
    const found = await findSignoff(db, key);
    if (found) return found;
    throw new AppError(
      'resource_not_found',
      `The maintenance entry ${maintenanceId} has no sign-off ${number}.`,
    );
  }

  return {
    create: createMaintenanceCreator(deps),

    async lookUp(view) {
      const hash = await look(view, 'maintenance');
      const { assetId, maintenanceId } = view;
      return {
        chainId: await chainId(),
        maintenance: { assetId, maintenanceId, maintenanceHash: `0x${hash.toString('hex')}` },
      };
    },

    async list(view, query) {
      await assetAccess.require({ ...view, what: 'maintenances' });
      return listMaintenances(db, { workspaceId: view.caller.workspaceId, assetId: view.assetId, ...query });
    },

    async count(view, filters) {
      await assetAccess.require({ ...view, what: 'maintenance count' });
      const { caller, assetId } = view;
      return countMaintenances(db, { workspaceId: caller.workspaceId, assetId, ...filters });
    },

    get: (view) => get(view, 'maintenance details'),
    getSignoff: (view, number) => getSignoff(view, number, 'sign-off'),

    async proof(view) {
      const { maintenance, salt } = await get(view, 'maintenance proof');
      return makeProof({
        workspaceId: view.caller.workspaceId,
        kind: 'maintenance',
        subjectId: view.maintenanceId,
        version: 1,
        content: contentOf(maintenance.maintenanceHash, salt),
      });
    },

    async signoffProof(view, number) {
      const { signoff, salt } = await getSignoff(view, number, 'sign-off proof');
      return makeProof({
        workspaceId: view.caller.workspaceId,
        kind: 'signoff',
        subjectId: view.maintenanceId,
        version: number,
        content: contentOf(signoff.signoffHash, salt),
      });
    },
  };
}

function contentOf(digest: `0x${string}`, salt: Buffer): ProofContent {
  return { algorithm: 'sha-256', digest, canonicalization: 'jcs', salt: `0x${salt.toString('hex')}` };
}
