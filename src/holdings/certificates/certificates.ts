/** Certificates of files: collects what is known about a version and has the document written. */

import { buffer } from 'node:stream/consumers';
import type { Pool } from 'pg';
import { isLeaf, leafKey } from '../../anchoring/anchored.ts';
import { joinPlace } from '../../anchoring/leaves/leaf-places.ts';
import type { Proofs } from '../../anchoring/proofs.ts';
import { findStoredChain } from '../../chain/stored-chain.ts';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import type { DocumentThread } from '../../pdf/document-thread.ts';
import type { TrustAnchor } from '../../proof/rfc3161/certificates.ts';
import { noFile, noFileVersion } from '../files/files.store.ts';
import { certificateClocks } from './certificate-clocks.ts';
import type { CertificateInput, CustodyEntry } from './certificate-input.ts';

export interface CertificateRequest {
  workspaceId: string;
  fileId: string;
  /** Default: the newest. */
  version: number | undefined;
  /** The public page that checks proofs. */
  verifyUrl: string;
}

export interface Certificate {
  version: number;
  pdf: Buffer;
}

export interface Certificates {
  /**
   * Throws AppError resource_not_found, conflict before the confirmation, or service_unavailable when too many are being
   * made.
   */
  make(request: CertificateRequest): Promise<Certificate>;
}

export interface CertificatesDeps {
  db: Db;
  pool: Pool;
  proofs: Pick<Proofs, 'make'>;
  documents: Pick<DocumentThread, 'write'>;
  /** Roots that the operator chose; none for those that ship. */
  operatorRoots: readonly TrustAnchor[];
  now?(): Date;
}

/** Shows only the newest entries of a long custody; a certificate is not a history. */
const custodyShown = 10;

export function createCertificates(deps: CertificatesDeps): Certificates {
  const { db, pool, proofs, documents, operatorRoots, now } = deps;
  return {
    async make({ workspaceId, fileId, version, verifyUrl }) {
      // Read before the proof: a version that is final here is final in the proof, too. At worst a final version is called
      // provisional.
      const row = await findVersion(pool, { workspaceId, fileId, version });
      const proof = await proofs.make({
        workspaceId,
        kind: 'file',
        subjectId: fileId,
        version: row.version,
        content: {
          algorithm: 'sha-256',
          digest: fromBytea(row.content_hash),
          canonicalization: row.canonicalization,
          salt: null,
        },
      });
      const chain = await findStoredChain(db);
      if (chain === null) throw new Error('a proof without a chain');
      const madeAt = now?.() ?? new Date();
      const input: CertificateInput = {
        madeAt,
        verifyUrl,
        clocks: await certificateClocks(proof, {
          ...{ chain, operatorRoots, at: madeAt },
          isFinal: row.status === 'finalized',
        }),
        isBitcoinPending: row.bitcoin_pending,
        firstAnchoredAt: row.first_anchored_time === null ? null : new Date(row.first_anchored_time * 1000),
        workspace: { id: workspaceId, name: row.workspace_name },
        vault: { id: row.vault_id, name: row.vault_name, address: row.vault_address },
        file: {
          id: fileId,
          name: row.name,
          version: row.version,
          newestVersion: row.newest_version,
          mediaType: row.media_type,
          size: row.size,
          canonicalization: row.canonicalization,
          createdAt: row.created_at,
          expiresAt: row.expires_at,
          erased: erasedOf(row),
        },
        proof,
        ...(await findCustody(pool, workspaceId, fileId)),
      };
      const pdf = await buffer(documents.write({ workspaceId, kind: 'certificate', input }));
      return { version: row.version, pdf };
    },
  };
}

function erasedOf({ erased_at, gone_at }: VersionRow): CertificateInput['file']['erased'] {
  if (erased_at === null) return null;
  return { at: gone_at ?? erased_at, bytesKept: gone_at === null };
}

interface VersionRow {
  version: number;
  newest_version: number;
  name: string;
  media_type: string;
  size: number | null;
  canonicalization: 'raw' | 'hmac-sha256';
  content_hash: Buffer;
  created_at: Date;
  expires_at: Date | null;
  erased_at: Date | null;
  /** When the bytes were erased for all files that have them; null while they exist. */
  gone_at: Date | null;
  vault_id: string;
  vault_name: string;
  vault_address: string;
  workspace_name: string;
  /** Status of the batch; null while there is none. */
  status: string | null;
  first_anchored_time: number | null;
  bitcoin_pending: boolean;
}

async function findVersion(
  pool: Pool,
  { workspaceId, fileId, version }: Omit<CertificateRequest, 'verifyUrl'>,
): Promise<VersionRow> {
  const { rows } = await pool.query<VersionRow | { version: null }>({
    name: 'certificate-version',
    text: `select v.version, f.version as newest_version, v.name, v.media_type, v.size, v.canonicalization,
                  v.content_hash, v.created_at, v.expires_at, v.erased_at, k.erased_at as gone_at, v.vault_id,
                  s.name as vault_name, s.address as vault_address, w.name as workspace_name, b.status,
                  l.first_anchored_time, exists (
                    select from timestamps t
                    where t.batch_id = b.id and t.kind = 'opentimestamps' and not t.complete
                  ) as bitcoin_pending
           from files f
           join workspaces w on w.id = f.workspace_id
           left join file_versions v on v.workspace_id = f.workspace_id and v.file_id = f.id
             and v.version = coalesce($3, f.version)
           left join blobs k on k.workspace_id = v.workspace_id and k.id = v.blob_id
           left join vaults s on s.workspace_id = v.workspace_id and s.id = v.vault_id
           left join anchor_leaves l on ${isLeaf(leafKey('file', 'v'))} ${joinPlace}
           left join anchor_batches b on b.id = placed.batch_id
           where f.workspace_id = $1 and f.id = $2`,
    values: [workspaceId, fileId, version ?? null],
  });
  const [row] = rows;
  if (!row) throw noFile(fileId);
  if (row.version === null) throw noFileVersion(fileId, version);
  return row;
}

interface CustodyRow {
  place: number;
  total: number;
  kind: string;
  version: number;
  name: string;
  address: string;
  to_name: string | null;
  to_address: string | null;
  block_number: number | null;
  block_time: number | null;
}

async function findCustody(
  pool: Pool,
  workspaceId: string,
  fileId: string,
): Promise<Pick<CertificateInput, 'custody' | 'custodyLeftOut'>> {
  const { rows } = await pool.query<CustodyRow>({
    name: 'certificate-custody',
    text: `select l.place, l.total, l.kind, l.version, v.name, v.address, tv.name as to_name,
                  tv.address as to_address, b.block_number, b.block_time
           from (
             select workspace_id, subject_id, kind, version, vault_id, batch_id,
                    (row_number() over (order by id))::integer as place, (count(*) over ())::integer as total
             from placed_leaves
             where workspace_id = $1 and subject_id = $2 and kind in ('file', 'transfer')
           ) as l
           join vaults v on v.workspace_id = l.workspace_id and v.id = l.vault_id
           left join anchor_batches b on b.id = l.batch_id and b.status in ('confirmed', 'finalized')
           left join transfers t on l.kind = 'transfer' and t.workspace_id = l.workspace_id
             and t.subject_id = l.subject_id and t.number = l.version
           left join vaults tv on tv.workspace_id = t.workspace_id and tv.id = t.to_vault_id
           where l.place = 1 or l.place > l.total - $3::integer
           order by l.place`,
    values: [workspaceId, fileId, custodyShown],
  });
  return { custody: rows.map(toEntry), custodyLeftOut: (rows[0]?.total ?? 0) - rows.length };
}

function toEntry({ kind, version, name, address, ...row }: CustodyRow): CustodyEntry {
  const { to_name, to_address, block_number, block_time } = row;
  return {
    kind: kind === 'file' ? 'version' : 'transfer',
    number: version,
    vault: { name, address },
    to: to_name === null || to_address === null ? null : { name: to_name, address: to_address },
    anchor:
      block_number === null || block_time === null
        ? null
        : { blockNumber: block_number, at: new Date(block_time * 1000) },
  };
}
