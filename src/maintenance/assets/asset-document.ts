/** The content of an asset's version: the document that is hashed with a salt, and the rows to commit. */
import { firstLeaf, pendingLeaf } from '../../anchoring/batching/pending.ts';
import type { Write } from '../../db/writes.ts';
import { canonicalOf, recordContent } from '../../holdings/records/record-content.ts';
import { AppError } from '../../runtime/errors.ts';

export interface Usage {
  hours: number;
  cycles: number;
}

/** What an asset is; the leaf has its owner, as the vault that seals it. */
export interface AssetFields {
  name: string;
  serialNumber: string;
  partNumber: string;
  metadata: Record<string, unknown>;
  usage: Usage;
}

/** Where it is installed, or was last installed. */
export interface Installation {
  parentAssetId: string;
  installedAt: Date;
  /** Null while it is installed. */
  removedAt: Date | null;
}

export interface NewAssetVersion {
  workspaceId: string;
  assetId: string;
  version: number;
  vault: { id: string; address: string };
  fields: AssetFields;
  installation: Installation | null;
  previousLeaf?: Buffer;
  at: Date;
}

export interface MadeAssetVersion {
  leaf: Buffer;
  /** To be committed together. */
  writes: Write[];
}

const mostMetadataBytes = 64 * 1024;

/** RFC 8785 form; throws invalid_request when the metadata is too large or has no canonical form. */
export function canonicalMetadata(metadata: Record<string, unknown>): string {
  const text = canonicalOf(metadata, 'metadata');
  const bytes = Buffer.byteLength(text);
  if (bytes <= mostMetadataBytes) return text;
  throw new AppError(
    'invalid_request',
    `metadata has ${bytes} bytes, but at most ${mostMetadataBytes} are allowed. Attach a file for more.`,
  );
}

/** Throws invalid_request when the metadata has no canonical form. */
export function makeAssetVersion(made: NewAssetVersion): MadeAssetVersion {
  const { workspaceId, assetId, version, vault, fields, installation, at } = made;
  const { name, serialNumber, partNumber, metadata, usage } = fields;
  const document = {
    assetId,
    name,
    serialNumber,
    partNumber,
    metadata,
    usage,
    installation: installation && {
      parentAssetId: installation.parentAssetId,
      installedAt: installation.installedAt.toISOString(),
      removedAt: installation.removedAt?.toISOString() ?? null,
    },
  };
  const { data, salt, digest, bytes } = recordContent(document, 'asset');
  const { leaf, write } = pendingLeaf({
    workspaceId,
    kind: 'asset',
    subjectId: assetId,
    version,
    vault,
    digest,
    canonicalization: 'jcs',
    previousLeaf: made.previousLeaf ?? firstLeaf,
    claims: {},
    storedBytes: bytes,
  });
  return {
    leaf,
    writes: [
      {
        table: 'asset_versions',
        row: {
          workspace_id: workspaceId,
          asset_id: assetId,
          version,
          vault_id: vault.id,
          document: data,
          salt,
          digest,
          created_at: at,
        },
      },
      write,
    ],
  };
}
