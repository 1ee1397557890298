/** The part of the service for the maintenance of assets: entries, sign-offs, intervals, workers, dossiers. */
import type { Pool } from 'pg';
import type { DefineStep } from '../access/approvals/steps.ts';
import type { HistoryProofs } from '../anchoring/history-proofs.ts';
import type { ManyProofs } from '../anchoring/many-proofs.ts';
import type { Proofs } from '../anchoring/proofs.ts';
import type { Db } from '../db/database.ts';
import type { CommitTogether } from '../db/writes.ts';
import type { FileContents } from '../holdings/files/file-content.ts';
import type { Vaults } from '../holdings/vaults/vaults.ts';
import type { Part } from '../http/api/part.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { DocumentThread } from '../pdf/document-thread.ts';
import type { Limits } from '../runtime/budgets.ts';
import { createAssetAccess } from './assets/asset-access.ts';
import { assetInstallRoutes } from './assets/asset-installs.routes.ts';
import { createAssetInstalls } from './assets/asset-installs.ts';
import { assetTransferRoutes } from './assets/asset-transfers.routes.ts';
import { assetVersionRoutes } from './assets/asset-versions.routes.ts';
import { assetRoutes } from './assets/assets.routes.ts';
import { createAssets } from './assets/assets.ts';
import { dossierRoutes } from './dossier/dossier.routes.ts';
import { createDossiers } from './dossier/dossier.ts';
import { entrySignoffRoutes } from './entries/entry-signoffs.routes.ts';
import { maintenanceRoutes } from './entries/maintenances.routes.ts';
import { createMaintenances } from './entries/maintenances.ts';
import { tellWithdrawn } from './entries/withdrawn-releases.store.ts';
import { workRulesRoutes } from './entries/work-rules.routes.ts';
import { refuseRetired } from './intervals/asset-due.ts';
import { assetIntervalRoutes } from './intervals/asset-intervals.routes.ts';
import { createAssetIntervals, followCorrections } from './intervals/asset-intervals.ts';
import { passkeyRoutes } from './passkeys/passkeys.routes.ts';
import { createPasskeys } from './passkeys/passkeys.ts';
import { createRegistrationLinks } from './passkeys/registration-links.ts';
import { registrationRoutes } from './passkeys/registrations.routes.ts';
import { createRegistrations } from './passkeys/registrations.ts';
import { assetPageRoutes } from './published-pages/asset-page.routes.ts';
import { publishedPageRoutes } from './published-pages/published-pages.routes.ts';
import { createPublishedPages } from './published-pages/published-pages.ts';
import { createShownPages } from './published-pages/shown.ts';
import { signPageRoutes } from './sign-page/sign-page.routes.ts';
import { signRequestRoutes } from './sign-page/sign-requests.routes.ts';
import { createSignRequests } from './sign-page/sign-requests.ts';
import { workOrderRoutes } from './sign-page/work-orders.routes.ts';
import { createWorkOrders } from './sign-page/work-orders.ts';
import { organisationRoutes } from './signoffs/organisation.routes.ts';
import { signoffRulesRoutes } from './signoffs/signoff-rules.routes.ts';
import { signoffRoutes } from './signoffs/signoffs.routes.ts';
import { createSignoffs } from './signoffs/signoffs.ts';
import { assetViewerRoutes } from './viewers/asset-viewers.routes.ts';
import { createAssetViewers } from './viewers/asset-viewers.ts';
import { createAssetWorkers } from './viewers/asset-workers.ts';
import { workerRoutes } from './workers/workers.routes.ts';
import { createWorkers } from './workers/workers.ts';

export interface Maintenance extends Part {
  /** Dossiers that a workspace is exporting on this node. */
  exports(workspaceId: string): number;
}

export interface MaintenanceDeps {
  db: Db;
  pool: Pool;
  commit: CommitTogether;
  keyring: Keyring;
  /** For steps that can need a second person. */
  defineStep: DefineStep;
  vaults: Vaults;
  fileContents: FileContents;
  onChain: { proofs: Proofs; historyProofs: HistoryProofs; manyProofs: ManyProofs };
  documents: DocumentThread;
  /** The configured chain. */
  chainId(): number | Promise<number>;
  limits: Limits;
  publicUrl(): string;
}

export function createMaintenance(deps: MaintenanceDeps): Maintenance {
  const { db, pool, commit, keyring, vaults, fileContents, onChain, documents, limits } = deps;
  const { publicUrl } = deps;
  const { proofs, historyProofs, manyProofs } = onChain;
  const assetAccess = createAssetAccess(pool);
  const assets = createAssets({ db, commit, vaults, proofs, historyProofs });
  const dossiers = createDossiers({
    ...{ db, commit, assetAccess, manyProofs, fileContents, documents, limits },
    makeProof: proofs.make,
  });
  return {
    exports: dossiers.count,
    routes(app, shell) {
      workerRoutes(app, { ...shell, workers: createWorkers({ db, commit, keyring }) });
      assetRoutes(app, { ...shell, assets, assetAccess });
      assetVersionRoutes(app, { ...shell, assets, assetAccess });
      assetTransferRoutes(app, { ...shell, assets, db, defineStep: deps.defineStep });
      assetViewerRoutes(app, {
        ...shell,
        db,
        assets,
        assetViewers: createAssetViewers(db),
        assetWorkers: createAssetWorkers(db),
      });
      assetInstallRoutes(app, {
        ...shell,
        assets,
        assetInstalls: createAssetInstalls({ db, refuseRetired }),
      });
      assetIntervalRoutes(app, {
        ...shell,
        db,
        assets,
        assetIntervals: createAssetIntervals(db),
        assetAccess,
      });
      const maintenances = createMaintenances({
        db,
        async onCorrected(db, corrections) {
          await followCorrections(db, corrections);
          await tellWithdrawn(db, corrections);
        },
        assetAccess,
        chainId: deps.chainId,
        makeProof: proofs.make,
      });
      maintenanceRoutes(app, { ...shell, maintenances });
      const signoffs = createSignoffs({ db, keyring, publicUrl });
      signoffRoutes(app, { ...shell, signoffs });
      workRulesRoutes(app, { db });
      const registrations = createRegistrations({ db, keyring, publicUrl });
      registrationRoutes(app, {
        registrations,
        links: createRegistrationLinks({ db, registrations, publicUrl }),
      });
      passkeyRoutes(app, {
        ...shell,
        db,
        passkeys: createPasskeys({ db, publicUrl }),
        makeProof: proofs.make,
      });
      signPageRoutes(app);
      const signRequests = createSignRequests({
        ...{ db, signoffs, maintenances, assets, fileContents, publicUrl },
      });
      signRequestRoutes(app, { ...shell, signRequests });
      workOrderRoutes(app, {
        workOrders: createWorkOrders({ signRequests, maintenances, assets, documents }),
      });
      signoffRulesRoutes(app, { db });
      organisationRoutes(app, { db });
      entrySignoffRoutes(app, { maintenances });
      publishedPageRoutes(app, { ...shell, assets, publishedPages: createPublishedPages(db), publicUrl });
      assetPageRoutes(app, {
        shownPages: createShownPages({ db, makeProof: proofs.make, fileContents }),
      });
      dossierRoutes(app, { dossiers });
    },
  };
}
