/** The part of the service for what vaults hold: records and files, with their proofs, certificates and figures. */
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { DefineStep } from '../access/approvals/steps.ts';
import type { Archive } from '../anchoring/archive/archive.ts';
import type { HistoryProofs } from '../anchoring/history-proofs.ts';
import type { Proofs } from '../anchoring/proofs.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { Blobs } from '../blobs/blobs.ts';
import type { Lead } from '../chain/chain.ts';
import { registryCodeHash } from '../chain/registry/registry.ts';
import type { Db } from '../db/database.ts';
import type { CommitTogether } from '../db/writes.ts';
import type { Part } from '../http/api/part.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { DocumentThread } from '../pdf/document-thread.ts';
import type { Limits } from '../runtime/budgets.ts';
import { type Changes, createWakeup, type Wakeup } from '../runtime/loop.ts';
import { auditAnchorsLoop } from './audit-proofs/audit-anchors.loop.ts';
import { auditProofRoutes } from './audit-proofs/audit-proof.routes.ts';
import { certificateRoutes } from './certificates/certificate.routes.ts';
import { createCertificates } from './certificates/certificates.ts';
import { readOperatorRoots } from './certificates/operator-roots.ts';
import { evidencePackageRoutes } from './evidence-package/evidence-package.routes.ts';
import { createEvidencePackages } from './evidence-package/evidence-packages.ts';
import { fileContentRoutes } from './files/file-content.routes.ts';
import { createFileContents, type FileContents } from './files/file-content.ts';
import { fileCustodyRoutes } from './files/file-custody.routes.ts';
import { eraseFileStep } from './files/file-erasure.ts';
import { fileRoutes } from './files/files.routes.ts';
import { createFiles } from './files/files.ts';
import { fileValidationLoop } from './files/validation/file-validation.loop.ts';
import { fileValidationRoutes } from './files/validation/file-validations.routes.ts';
import { createFileValidations } from './files/validation/file-validations.ts';
import { createFileValidator } from './files/validation/file-validator.ts';
import { erasureJournalLoop } from './holds/erasure-journal.loop.ts';
import { createErasureJournal, listErasures } from './holds/erasures.ts';
import { holdRoutes } from './holds/holds.routes.ts';
import { createHolds } from './holds/holds.ts';
import { statsRoutes } from './overview/stats.routes.ts';
import { createStats, type StatsDeps } from './overview/stats.ts';
import { usageRoutes } from './overview/usage.routes.ts';
import { createUsage, type NodeUse } from './overview/usage.ts';
import { eraseRecordStep } from './records/record-erasure.ts';
import { recordRoutes } from './records/records.routes.ts';
import { createRecords } from './records/records.ts';
import { retentionLoop } from './retention/retention.loop.ts';
import { retentionRoutes } from './retention/retention.routes.ts';
import { createRetentionRules, createRetentionWork, setRetentionStep } from './retention/retention.ts';
import { transactionRoutes } from './vaults/transactions.routes.ts';
import { createTransactions } from './vaults/transactions.ts';
import { vaultRoutes } from './vaults/vaults.routes.ts';
import { createVaults, type Vaults } from './vaults/vaults.ts';
import { type ChainRelayDeps, createChainRelay } from './verify-page/chain-relay.ts';
import { verifyPageRoutes } from './verify-page/verify-page.routes.ts';

export interface Holdings extends Part {
  vaults: Vaults;
  fileContents: FileContents;
}

export interface HoldingsDeps {
  db: Db;
  pool: Pool;
  commit: CommitTogether;
  keyring: Keyring;
  /** For steps that can need a second person. */
  defineStep: DefineStep;
  blobs: Blobs;
  blobStore: BlobStore;
  archive: Archive;
  /** How long backups and archived WAL are kept. */
  backupRetentionDays: number;
  onChain: OnChain;
  documents: DocumentThread;
  /** Woken after a commit that contains an event. */
  eventWakeup: Pick<Wakeup, 'wake'>;
  /** A PEM file with the roots that the operator chose for timestamps; null for those that ship. */
  tsaRootsFile: string | null;
  limits: Limits;
  /** Budget use that is counted on this node. */
  nodeUse: NodeUse;
  /** The state of the clocks beside the chain. */
  readClocks: StatsDeps['readClocks'];
  publicUrl(): string;
  changes: Changes;
  log: Logger;
}

interface OnChain extends ChainRelayDeps, Omit<StatsDeps, 'db' | 'readClocks'> {
  lead(): Lead | null;
  proofs: Proofs;
  historyProofs: HistoryProofs;
}

const dayMs = 24 * 60 * 60 * 1000;

export function createHoldings(deps: HoldingsDeps): Holdings {
  const { db, pool, commit, keyring, blobs, archive, onChain, documents, eventWakeup, changes, log } = deps;
  const { defineStep } = deps;
  const { proofs, historyProofs, registry } = onChain;
  const makeProof = proofs.make;
  const vaults = createVaults({ db, pool, commit, keyring, eventWakeup });
  const fileContents = createFileContents({ pool, blobs });
  const operatorRoots = readOperatorRoots(deps.tsaRootsFile);
  const validationWakeup = createWakeup();
  const validator = createFileValidator({
    db,
    proofs,
    registry: { address: registry, codeHash: registryCodeHash },
    eventWakeup,
    log,
  });
  const journal = createErasureJournal({ db, store: deps.blobStore, keyring, log });
  const goneFromBackups = (erasedAt: Date) =>
    new Date(erasedAt.getTime() + deps.backupRetentionDays * dayMs).toISOString();
  return {
    vaults,
    fileContents,
    loops: [
      auditAnchorsLoop(db),
      erasureJournalLoop(journal, changes),
      retentionLoop(createRetentionWork({ db, blobs, journal, archive })),
      fileValidationLoop(validator, { lead: onChain.lead, wakeup: validationWakeup, changes }),
    ],
    routes(app, shell) {
      vaultRoutes(app, { ...shell, vaults });
      transactionRoutes(app, { ...shell, vaults, transactions: createTransactions(pool) });
      recordRoutes(app, {
        ...shell,
        goneFromBackups,
        eraseRecord: eraseRecordStep(defineStep, { archive, journal, goneFromBackups }),
        records: createRecords({ db, pool, commit, vaults, archive, makeProof }),
      });
      retentionRoutes(app, {
        retention: createRetentionRules({ db, vaults }),
        setRetention: setRetentionStep(defineStep),
      });
      holdRoutes(app, {
        ...shell,
        goneFromBackups,
        holds: createHolds(db),
        listErasures: (workspaceId, page) => listErasures(db, workspaceId, page),
      });
      const files = createFiles({ db, pool, vaults, proofs, historyProofs });
      fileRoutes(app, { ...shell, files, eraseFile: eraseFileStep(defineStep, { blobs, journal }) });
      fileCustodyRoutes(app, { ...shell, files, defineStep });
      fileValidationRoutes(app, {
        ...shell,
        fileValidations: createFileValidations({
          pool,
          commit,
          vaults,
          makeProof,
          wakeup: validationWakeup,
        }),
      });
      fileContentRoutes(app, { fileContents });
      const certificates = createCertificates({
        ...{ db, pool, proofs, documents },
        operatorRoots: operatorRoots.map(({ anchor }) => anchor),
      });
      certificateRoutes(app, { certificates, publicUrl: deps.publicUrl });
      evidencePackageRoutes(app, {
        packages: createEvidencePackages({
          ...{ db, pool, proofs, archive, fileContents, certificates, operatorRoots },
        }),
        publicUrl: deps.publicUrl,
      });
      auditProofRoutes(app, { db, makeProof });
      statsRoutes(app, { db, readStats: createStats({ db, readClocks: deps.readClocks, ...onChain }) });
      usageRoutes(app, { readUsage: createUsage({ db, limits: deps.limits, node: deps.nodeUse }) });
      verifyPageRoutes(app, { chainRelay: createChainRelay(onChain) });
    },
  };
}
