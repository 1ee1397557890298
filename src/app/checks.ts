/** All checks of `holdfast fsck` on one screen; the fault tests use them as their oracle. */
import type { PublicClient } from 'viem';
import { approvalsCheck } from '../access/approvals/approvals.check.ts';
import { auditCheck } from '../access/audit/audit.check.ts';
import { announcedKinds } from '../anchoring/anchored.check.ts';
import { anchorsCheck } from '../anchoring/anchors.check.ts';
import { announcementsCheck } from '../anchoring/announcements.check.ts';
import { archiveCheck } from '../anchoring/archive/archive.check.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { blobsCheck } from '../blobs/blobs.check.ts';
import { readingBlobs } from '../blobs/blobs.ts';
import { embeddedChainCheck } from '../chain/embedded/check/embedded-chain.check.ts';
import { blocksCheck } from '../chain/indexer/blocks.check.ts';
import { vaultTransactionsCheck } from '../chain/indexer/vault-transactions.check.ts';
import { lostCommitsCheck } from '../chain/sender/lost-commits.check.ts';
import { noncesCheck } from '../chain/sender/nonces.check.ts';
import { findStoredChain } from '../chain/stored-chain.ts';
import { type TimestampsCheckDeps, timestampsCheck } from '../clocks/timestamps.check.ts';
import type { Db } from '../db/database.ts';
import type { AsOf } from '../db/rows-pass.ts';
import { filesCheck } from '../holdings/files/files.check.ts';
import { fileValidationsCheck } from '../holdings/files/validation/file-validations.check.ts';
import { recordsCheck } from '../holdings/records/records.check.ts';
import { announcedTransfers } from '../holdings/transfers/transfers.check.ts';
import type { Keyring } from '../keys/keyring.ts';
import { signingKeysCheck } from '../keys/signing-keys.check.ts';
import { assetsCheck } from '../maintenance/assets/assets.check.ts';
import { dossiersCheck } from '../maintenance/dossier/dossiers.check.ts';
import { maintenancesCheck } from '../maintenance/entries/maintenances.check.ts';
import { passkeysCheck } from '../maintenance/passkeys/passkeys.check.ts';
import { publishedPagesCheck } from '../maintenance/published-pages/published-pages.check.ts';
import { type Check, type CheckOptions, type CheckReport, laterPass, runEach } from '../runtime/check.ts';
import { eventsCheck } from '../webhooks/deliveries/events.check.ts';

export interface CheckDeps {
  /** Only read; a read-only connection is enough. */
  db: Db;
  /** Called when needed; throws when the master key is not available. */
  keyring(): Promise<Pick<Keyring, 'signer' | 'open'>>;
  /** Opened when needed. */
  blobStore(): Promise<BlobStore>;
  /** Throws NotMade when the chain cannot be reached; the checks that need it are then skipped. */
  chain(): Promise<PublicClient>;
  /** How long the delivery log is kept. */
  retentionDays: number;
  asOf?: AsOf;
  /** The configured authorities, and their roots. */
  clocks: TimestampsCheckDeps['clocks'];
}

export function allChecks(deps: CheckDeps): Check[] {
  return [
    auditCheck(deps.db, deps.asOf),
    signingKeysCheck(deps),
    blobsCheck(deps),
    eventsCheck(deps),
    noncesCheck(deps.db),
    lostCommitsCheck(deps),
    blocksCheck(deps),
    embeddedChainCheck(deps.db),
    transactionsCheck(deps),
    anchorsCheck(deps),
    timestampsCheck(deps),
    recordsCheck(deps.db),
    archiveCheck({
      db: deps.db,
      blobs: async () => readingBlobs({ keyring: await deps.keyring(), store: await deps.blobStore() }),
    }),
    filesCheck(deps.db),
    fileValidationsCheck(deps.db),
    assetsCheck(deps.db),
    maintenancesCheck(deps.db),
    passkeysCheck(deps.db),
    approvalsCheck(deps.db),
    publishedPagesCheck(deps.db),
    dossiersCheck(deps.db),
    announcementsCheck(deps.db, [
      ...announcedKinds(),
      announcedTransfers('file'),
      announcedTransfers('asset'),
    ]),
  ];
}

/** `only`: names of checks; all if absent. */
export function runChecks(
  deps: CheckDeps,
  { only, ...options }: CheckOptions & { only?: readonly string[] } = {},
): Promise<CheckReport[]> {
  return runEach(
    allChecks(deps).filter(({ name }) => only === undefined || only.includes(name)),
    options,
  );
}

/** All of it needs the chain. */
function transactionsCheck({ db, chain }: CheckDeps): Check {
  const lists = laterPass('lists of vaults', async () => {
    const known = await findStoredChain(db);
    if (!known) return undefined;
    return vaultTransactionsCheck({ db, client: await chain(), embedded: known.embedded }).passes[0];
  });
  return { name: 'transactions', passes: [lists] };
}
