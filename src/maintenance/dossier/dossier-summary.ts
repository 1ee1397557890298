/** What a dossier states about the asset itself: its owners, its installations, its versions and their proofs. */
import { sql } from 'kysely';
import {
  type AnchorColumns,
  anchorColumns,
  anchorStateOf,
  anchorToJson,
  joinAnchor,
  leafKey,
} from '../../anchoring/anchored.ts';
import { type HistoryPosition, positionAfter, readHistoryLeaves } from '../../anchoring/history-proofs.ts';
import type { ManyProofs } from '../../anchoring/many-proofs.ts';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { historyFormat } from '../../proof/verify/history.ts';
import type { Proof } from '../../proof/verify/proof.ts';
import type { Usage } from '../assets/asset-document.ts';
import { contentsOfLeaves, historyKinds } from '../assets/asset-versions.ts';
import { type Asset, type AssetKey, findAsset } from '../assets/assets.store.ts';
import type { Dossier, DossierCounts, VersionLine } from '../dossier-check/dossier-format.ts';

export type Owners = Pick<Dossier, 'owner' | 'owners'>;

const pageSize = 200;

export function assetToJson(asset: Asset): Dossier['asset'] {
  const { assetId, name, serialNumber, partNumber, metadata, usage, version, parentAssetId } = asset;
  const { usageFromParents } = asset;
  return {
    ...{ usageFromParents, assetId, name, serialNumber, partNumber, metadata, usage, version, parentAssetId },
    ...anchorToJson(asset),
    createdAt: asset.createdAt.toISOString(),
    updatedAt: asset.updatedAt.toISOString(),
  };
}

interface OwnerRow extends AnchorColumns {
  id: string;
  number: number;
  completed_at: Date;
  name: string;
  address: string;
}

export async function findOwners(db: Db, key: AssetKey): Promise<Owners> {
  const { workspaceId, assetId } = key;
  const { rows: first } = await sql<{ name: string; address: string; created_at: Date }>`
    select v.name, v.address, d.created_at
    from asset_versions d join vaults v on v.workspace_id = d.workspace_id and v.id = d.vault_id
    where d.workspace_id = ${workspaceId} and d.asset_id = ${assetId} and d.version = 1`.execute(db);
  const { rows } = await sql<OwnerRow>`
    select t.id, t.number, t.completed_at, v.name, v.address,
      ${sql.raw(anchorColumns)}
    from transfers t
    join vaults v on v.workspace_id = t.workspace_id and v.id = t.to_vault_id
    ${sql.raw(joinAnchor(leafKey('transfer', 't')))}
    where t.workspace_id = ${workspaceId} and t.subject_id = ${assetId} and t.completed_at is not null
    order by t.number`.execute(db);
  const owners: Owners['owners'] = [
    ...first.map(({ name, address, created_at }) => ({
      vault: { address, name },
      since: created_at.toISOString(),
      transfer: null,
    })),
    ...rows.map((row) => ({
      vault: { address: row.address, name: row.name },
      since: row.completed_at.toISOString(),
      transfer: { id: row.id, number: row.number, ...anchorToJson(anchorStateOf(row)) },
    })),
  ];
  const { vaultAddress } = await findAsset(db, key);
  return { owner: owners.at(-1)?.vault ?? { address: vaultAddress, name: '' }, owners };
}

export async function findInstallations(
  db: Db,
  { workspaceId, assetId }: AssetKey,
): Promise<Dossier['installations']> {
  const rows = await db
    .selectFrom('asset_installations')
    .select(['number', 'parent_asset_id', 'installed_at', 'removed_at'])
    .where('workspace_id', '=', workspaceId)
    .where('asset_id', '=', assetId)
    .orderBy('number')
    .execute();
  return rows.map((row) => ({
    number: row.number,
    parentAssetId: row.parent_asset_id,
    installedAt: row.installed_at.toISOString(),
    removedAt: row.removed_at?.toISOString() ?? null,
  }));
}

/** More than any machine has; the newest are returned. */
const mostParts = 10_000;

export async function findParts(db: Db, { workspaceId, assetId }: AssetKey): Promise<Dossier['parts']> {
  const { rows } = await sql<PartRow>`
    select i.asset_id, a.name, a.serial_number, a.part_number, i.installed_at, i.removed_at
    from asset_installations i
    join assets a on a.workspace_id = i.workspace_id and a.asset_id = i.asset_id
    where i.workspace_id = ${workspaceId} and i.parent_asset_id = ${assetId}
    order by i.installed_at desc, i.asset_id desc limit ${mostParts}`.execute(db);
  return rows.reverse().map((row) => ({
    assetId: row.asset_id,
    name: row.name,
    serialNumber: row.serial_number,
    partNumber: row.part_number,
    installedAt: row.installed_at.toISOString(),
    removedAt: row.removed_at?.toISOString() ?? null,
  }));
}

interface PartRow {
  asset_id: string;
  name: string;
  serial_number: string;
  part_number: string;
  installed_at: Date;
  removed_at: Date | null;
}

/**
 * The anchored documents up to a version, oldest first: one text each, without a line feed. Calls `onUsage` with what the
 * last one states.
 */
export async function* versionLines(
  db: Db,
  { workspaceId, assetId }: AssetKey,
  { counts, upTo, onUsage }: { counts: DossierCounts; upTo: number; onUsage(usage: Usage): void },
): AsyncGenerator<string> {
  for (let last = 0; ; ) {
    const rows = await db
      .selectFrom('asset_versions')
      .select(['version', 'document', 'salt', 'digest', 'created_at'])
      .where('workspace_id', '=', workspaceId)
      .where('asset_id', '=', assetId)
      .where('version', '>', last)
      .where('version', '<=', upTo)
      .orderBy('version')
      .limit(pageSize)
      .execute();
    for (const { version, document, salt, digest, created_at } of rows) {
      const line: Omit<VersionLine, 'document'> = {
        version,
        digest: fromBytea(digest),
        salt: fromBytea(salt),
        createdAt: created_at.toISOString(),
      };
      if (version === upTo) onUsage(JSON.parse(document).usage);
      yield `${JSON.stringify(line).slice(0, -1)},"document":${document}}`;
      counts.versions += 1;
      last = version;
    }
    if (rows.length < pageSize) return;
  }
}

/** `holdfast/history@1` in pieces; yields nothing while the first version is not confirmed. */
export async function* historyText(
  { db, manyProofs, onProof }: { db: Db; manyProofs: ManyProofs; onProof(proof: Proof): Promise<void> },
  key: AssetKey,
): AsyncGenerator<string> {
  const { workspaceId, assetId: subjectId } = key;
  const subject = { workspaceId, id: subjectId };
  const of = { workspaceId, subjectId, kinds: historyKinds };
  const head = `{"format":"${historyFormat}","subject":${JSON.stringify(subject)},"proofs":[`;
  let before = head;
  let after: HistoryPosition | undefined;
  for (let more = true; more; ) {
    const leaves = await readHistoryLeaves(db, of, { after, limit: pageSize });
    const contents = await contentsOfLeaves(db, key, leaves);
    const proofs = await manyProofs(
      contents.map((content, place) => {
        const { kind = '', version = 0 } = leaves[place] ?? {};
        return { workspaceId, kind, subjectId, version, content };
      }),
    );
    const known = proofs.findIndex((proof) => typeof proof !== 'object');
    for (const proof of known < 0 ? proofs : proofs.slice(0, known)) {
      if (typeof proof === 'object') await onProof(proof);
      yield `${before}${JSON.stringify(proof)}`;
      before = ',';
    }
    more = known < 0 && leaves.length === pageSize;
    after = positionAfter(historyKinds, leaves, after);
  }
  if (before !== head) yield ']}\n';
}
