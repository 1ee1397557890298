/** Assets: things that are maintained, each owned by a vault and anchored on every change. */
import { isDeepStrictEqual } from 'node:util';
import { auditWrite } from '../../access/audit/audit.ts';
import type { HistoryLeaf, HistoryProofs, HistoryStretch } from '../../anchoring/history-proofs.ts';
import type { Proofs } from '../../anchoring/proofs.ts';
import type { Db } from '../../db/database.ts';
import { violates } from '../../db/faults.ts';
import type { CommitTogether, Write } from '../../db/writes.ts';
import { explainRefusedSeal, vaultDeactivated } from '../../holdings/vaults/refused-seal.ts';
import type { Vaults } from '../../holdings/vaults/vaults.ts';
import type { Proof } from '../../proof/verify/proof.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import { requireSeen, type SeenVersions } from '../../runtime/seen-version.ts';
import { assetChanged, holdForChange, usageStated, writeNextVersion } from './asset-changes.ts';
import { type AssetFields, canonicalMetadata, makeAssetVersion } from './asset-document.ts';
import { checkAssetId } from './asset-id.ts';
import { type AssetSearch, type FoundAssets, searchAssets } from './asset-search.ts';
import { type GivenUsage, statedUsage } from './asset-usage.ts';
import {
  type AssetVersion,
  contentsOfLeaves,
  findAssetVersion,
  historyKinds,
  listAssetVersions,
  toContent,
} from './asset-versions.ts';
import {
  type Asset,
  type AssetKey,
  type AssetQuery,
  assetExists,
  findAsset,
  listAssets,
  type StoredAsset,
} from './assets.store.ts';

export interface Assets {
  /** `also`: rows to commit with the asset. */
  create(caller: Caller, input: NewAsset, also: (asset: Asset) => Write[]): Promise<Asset>;
  list(
    workspaceId: string,
    query: Omit<AssetQuery, 'vaultId'> & { vaultAddress?: string },
  ): Promise<StoredAsset[]>;
  /** Assets that match all words of `q`, newest first. */
  search(
    workspaceId: string,
    query: Omit<AssetSearch, 'vaultId'> & { vaultAddress?: string },
  ): Promise<FoundAssets>;
  get(workspaceId: string, assetId: string): Promise<Asset>;
  /** `seen`: refused when the asset is at another version. */
  update(
    caller: Caller,
    assetId: string,
    input: { change: ChangedFields; seen: SeenVersions },
  ): Promise<Asset>;
  /** Newest first. */
  versions(key: AssetKey, page: { before: number | undefined; limit: number }): Promise<AssetVersion[]>;
  /** Default: the newest version. */
  proof(key: AssetKey, version: number | undefined): Promise<Proof>;
  /** Its versions and transfers. */
  history(key: AssetKey, stretch: HistoryStretch): ReturnType<HistoryProofs['page']>;
}

export interface ChangedFields extends Partial<Omit<AssetFields, 'usage'>>, GivenUsage {}

export interface NewAsset extends Omit<ChangedFields, 'usageCorrection'> {
  vaultAddress: string;
  name: string;
  /** If absent, the service makes one. */
  assetId?: string;
}

export interface AssetsDeps {
  db: Db;
  commit: CommitTogether;
  vaults: Pick<Vaults, 'get'>;
  proofs: Pick<Proofs, 'make'>;
  historyProofs: Pick<HistoryProofs, 'page'>;
}

export function createAssets({ db, commit, vaults, proofs, historyProofs }: AssetsDeps): Assets {
  async function get(workspaceId: string, assetId: string): Promise<Asset> {
    return findAsset(db, { workspaceId, assetId });
  }

  async function vaultIdOf(workspaceId: string, address: string | undefined): Promise<string | undefined> {
    return address === undefined ? undefined : (await vaults.get(workspaceId, address)).id;
  }

  return {
    async create(caller, input, also) {
      const { workspaceId } = caller;
      if (input.assetId !== undefined) checkAssetId(input.assetId);
      const fields = fieldsOf(noFields, input, { ...noFields.usage, ...input.usage });
      const metadata = canonicalMetadata(fields.metadata);
      const [vault, isTaken] = await Promise.all([
        vaults.get(workspaceId, input.vaultAddress),
        // Before the shared statement, which a taken id would fail for everybody in it.
        input.assetId !== undefined && assetExists(db, { workspaceId, assetId: input.assetId }),
      ]);
      if (vault.status !== 'active') throw vaultDeactivated(vault.address);
      const assetId = input.assetId ?? newId('ast');
      if (isTaken) throw taken(assetId);
      const at = new Date();
      const { leaf, writes } = makeAssetVersion({
        workspaceId,
        assetId,
        version: 1,
        vault,
        fields,
        installation: null,
        at,
      });
      const asset: Asset = {
        assetId,
        vaultId: vault.id,
        vaultAddress: vault.address,
        ...fields,
        usageFromParents: noFields.usage,
        parentAssetId: null,
        version: 1,
        status: 'pending',
        anchor: null,
        createdAt: at,
        updatedAt: at,
      };
      const { name, serialNumber } = fields;
      try {
        await commit([
          {
            table: 'assets',
            row: {
              workspace_id: workspaceId,
              asset_id: assetId,
              vault_id: vault.id,
              name,
              serial_number: serialNumber,
              part_number: fields.partNumber,
              metadata,
              usage_hours: fields.usage.hours,
              usage_cycles: fields.usage.cycles,
              version: 1,
              last_leaf: leaf,
              created_at: at,
              updated_at: at,
            },
          },
          ...writes,
          ...usageStated({
            workspaceId,
            assetId,
            version: 1,
            before: noFields.usage,
            usage: fields.usage,
            at: null,
          }),
          auditWrite(caller, {
            action: 'asset.create',
            targetId: assetId,
            details: { vaultId: vault.id, name, serialNumber },
          }),
          assetChanged({ workspaceId, assetId, vaultId: vault.id, version: 1, at }),
          ...also(asset),
        ]);
      } catch (error) {
        if (!violates(error, 'assets_pkey')) explainRefusedSeal(error);
        throw taken(assetId, error);
      }
      return asset;
    },

    async list(workspaceId, { vaultAddress, ...query }) {
      return listAssets(db, workspaceId, { ...query, vaultId: await vaultIdOf(workspaceId, vaultAddress) });
    },

    async search(workspaceId, { vaultAddress, ...query }) {
      return searchAssets(db, workspaceId, { ...query, vaultId: await vaultIdOf(workspaceId, vaultAddress) });
    },

    get,

    async update(caller, assetId, { change, seen }) {
      await db.transaction().execute(async (db) => {
        const asset = await holdForChange(db, caller, assetId);
        requireSeen(seen, asset, `The asset ${assetId}`);
        const fields = fieldsOf(asset.fields, change, await statedUsage(db, asset, change));
        canonicalMetadata(fields.metadata);
        const details = changed(asset.fields, fields);
        if (Object.keys(details).length === 0) return;
        const { usageCorrection } = change;
        await writeNextVersion(db, asset, {
          caller,
          fields,
          ...(usageCorrection === undefined
            ? { action: 'asset.update', details }
            : { action: 'asset.correct_usage', details: { ...details, usageCorrection } }),
        });
      });
      return get(caller.workspaceId, assetId);
    },

    versions: (key, page) => listAssetVersions(db, key, page),

    async proof(key, version) {
      const found = await findAssetVersion(db, key, version);
      return proofs.make({
        workspaceId: key.workspaceId,
        kind: 'asset',
        subjectId: key.assetId,
        version: found.version,
        content: toContent(found),
      });
    },

    async history(key, stretch) {
      const { workspaceId, assetId } = key;
      await get(workspaceId, assetId);
      const contentsOf = (leaves: HistoryLeaf[]) => contentsOfLeaves(db, key, leaves);
      return historyProofs.page({
        workspaceId,
        subjectId: assetId,
        kinds: historyKinds,
        ...stretch,
        contentsOf,
      });
    },
  };
}

function taken(assetId: string, cause?: unknown): AppError {
  return new AppError('conflict', `There is already an asset ${assetId}.`, { cause });
}

const noFields: AssetFields = {
  name: '',
  serialNumber: '',
  partNumber: '',
  metadata: {},
  usage: { hours: 0, cycles: 0 },
};

function fieldsOf(before: AssetFields, given: ChangedFields, usage: AssetFields['usage']): AssetFields {
  return {
    name: given.name ?? before.name,
    serialNumber: given.serialNumber ?? before.serialNumber,
    partNumber: given.partNumber ?? before.partNumber,
    metadata: given.metadata ?? before.metadata,
    usage,
  };
}

/** The actual changes, for the audit log. */
function changed(before: AssetFields, after: AssetFields): Record<string, unknown> {
  const names = (['name', 'serialNumber', 'partNumber', 'metadata', 'usage'] as const).filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  );
  return Object.fromEntries(names.map((name) => [name, { from: before[name], to: after[name] }]));
}
