/**
 * The seal of a dossier: the vault that owns the asset seals the digest of dossier.json, which lists every other file, and it
 * is anchored like everything else. It counts as an anchor of the workspace.
 */
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { auditWrite } from '../../access/audit/audit.ts';
import { firstLeaf, pendingLeaf } from '../../anchoring/batching/pending.ts';
import { awaitsInclusion } from '../../anchoring/evidence/inclusions.ts';
import type { ManyProofs } from '../../anchoring/many-proofs.ts';
import type { Proofs } from '../../anchoring/proofs.ts';
import type { Db } from '../../db/database.ts';
import type { CommitTogether } from '../../db/writes.ts';
import type { Proof, ProofContent } from '../../proof/verify/proof.ts';
import { budgetExceeded, type Limits, limitOf } from '../../runtime/budgets.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import type { AssetAccess } from '../assets/asset-access.ts';
import type { View } from '../entries/maintenances.ts';

export interface NewDossier {
  dossierId: string;
  assetId: string;
  /** The owner when the export began. */
  vault: { id: string; address: string };
  /** How many entries it has. */
  entries: number;
  /** SHA-256 of dossier.json. */
  digest: Buffer;
}

export interface DossierSeals {
  /** Throws budget_exceeded when the workspace may anchor nothing more today. */
  requireRoom(caller: Caller): Promise<void>;
  seal(caller: Caller, dossier: NewDossier): Promise<void>;
  /** The proof, as soon as it is confirmed and its block was read; null if the first takes longer, or is not wanted any more. */
  proofWithin(waiting: AwaitedProof): Promise<Proof | null>;
  /** The look is in the access log before it is answered; throws conflict before the confirmation. */
  proof(view: View & { dossierId: string }): Promise<Proof>;
}

export interface AwaitedProof {
  workspaceId: string;
  dossier: Pick<NewDossier, 'dossierId' | 'digest'>;
  longestMs: number;
  isWanted(): boolean;
}

export interface DossierSealsDeps {
  db: Db;
  commit: CommitTogether;
  assetAccess: Pick<AssetAccess, 'requireWith'>;
  makeProof: Proofs['make'];
  manyProofs: ManyProofs;
  limits: Limits;
}

const pollMs = 200;

export function createDossierSeals(deps: DossierSealsDeps): DossierSeals {
  const { db, commit, assetAccess, makeProof, manyProofs, limits } = deps;

  const lookAtDossier = assetAccess.requireWith<{ id: string; digest: Buffer }>({
    name: 'dossier',
    columns: ['id', 'digest'],
    from: `dossiers d
      where d.workspace_id = looked.workspace_id and d.id = looked.target_id and d.asset_id = looked.asset_id limit 1`,
  });

  return {
    async requireRoom(caller) {
      const limit = limitOf(limits, caller.limits, 'anchors_per_day');
      if (limit === null) return;
      const { rows } = await sql<{ used: number }>`
        select used from budget_use(${caller.workspaceId}, 'anchors_per_day', (now() at time zone 'UTC')::date)`.execute(
        db,
      );
      if ((rows[0]?.used ?? 0) >= limit) throw budgetExceeded('anchors_per_day', limit);
    },

    async seal(caller, { dossierId, assetId, vault, entries, digest }) {
      const { workspaceId } = caller;
      const { write } = pendingLeaf({
        workspaceId,
        kind: 'dossier',
        subjectId: dossierId,
        version: 1,
        vault,
        digest,
        canonicalization: 'raw',
        previousLeaf: firstLeaf,
        claims: { assetId },
      });
      const row = { workspace_id: workspaceId, id: dossierId, asset_id: assetId, vault_id: vault.id };
      await commit([
        { table: 'dossiers', row: { ...row, entries, digest } },
        write,
        auditWrite(caller, {
          action: 'asset.seal_dossier',
          targetId: assetId,
          details: { dossierId, entries },
        }),
      ]);
    },

    async proofWithin({ workspaceId, dossier, longestMs, isWanted }) {
      const request = requestOf(workspaceId, dossier);
      for (const end = performance.now() + longestMs; ; ) {
        const [found] = await manyProofs([request]);
        const proof = typeof found === 'object' ? found : null;
        // The dossier keeps this proof, so it should be one that needs no chain node.
        if (proof && !(await awaitsInclusion(db, proof.merkle.root))) return proof;
        const leftMs = end - performance.now();
        if (leftMs <= 0 || !isWanted()) return proof;
        await setTimeout(Math.min(pollMs, leftMs));
      }
    },

    async proof({ dossierId, ...view }) {
      const { row } = await lookAtDossier({ ...view, what: 'dossier proof', targetId: dossierId });
      if (row) return makeProof(requestOf(view.caller.workspaceId, { dossierId, digest: row.digest }));
      throw new AppError('resource_not_found', `There is no dossier ${dossierId} of this asset.`);
    },
  };
}

function requestOf(workspaceId: string, { dossierId, digest }: AwaitedProof['dossier']) {
  const content: ProofContent = {
    algorithm: 'sha-256',
    digest: `0x${digest.toString('hex')}`,
    canonicalization: 'raw',
    salt: null,
  };
  return { workspaceId, kind: 'dossier', subjectId: dossierId, version: 1, content };
}
