/**
 * Dossiers: everything about an asset in one ZIP archive that can be read and verified without the service. It is written
 * while it is downloaded, page by page, so that an asset with a hundred thousand entries needs no more memory than one with
 * ten, and a slow reader holds neither a database connection nor a transaction.
 */
import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { findStoredChain } from '../../chain/stored-chain.ts';
import type { Db } from '../../db/database.ts';
import type { FileContents } from '../../holdings/files/file-content.ts';
import type { DocumentThread } from '../../pdf/document-thread.ts';
import type { Proof } from '../../proof/verify/proof.ts';
import { limitOf } from '../../runtime/budgets.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';
import { newId } from '../../runtime/ids.ts';
import type { AssetAccess } from '../assets/asset-access.ts';
import { type AssetKey, findAsset } from '../assets/assets.store.ts';
import {
  type Dossier,
  type DossierCounts,
  dossierFormat,
  dossierPaths,
  entriesPath,
} from '../dossier-check/dossier-format.ts';
import { anchorTimes } from '../dossier-check/dossier-ownership.ts';
import type { EntryView, View } from '../entries/maintenances.ts';
import { dueList } from '../intervals/asset-due.ts';
import type { Usage } from '../signing/maintenance-entry.ts';
import { createDossierArchive, type DossierArchive } from './dossier-archive.ts';
import { makeCertificate, writeCertificates } from './dossier-certificates.ts';
import { createDossierClocks, type DossierClocks } from './dossier-clocks.ts';
import { countEntries, type KeptEntry, keptEntries } from './dossier-entries.ts';
import { entryLines, filesOf, type LinesDeps } from './dossier-lines.ts';
import { createDossierPage } from './dossier-page.ts';
import { passkeyLines } from './dossier-passkeys.ts';
import { dossierReadme } from './dossier-readme.ts';
import { createDossierSeals, type DossierSeals, type DossierSealsDeps } from './dossier-seal.ts';
import {
  assetToJson,
  findInstallations,
  findOwners,
  findParts,
  historyText,
  versionLines,
} from './dossier-summary.ts';
import { createExportLimit } from './export-limit.ts';
import type { LogbookInput } from './logbook.ts';
import { type SentEntry, sendEntry } from './sent-entry.ts';

export interface Dossiers {
  /** The look is in the access log before anything is sent. On an error, the stream is aborted. */
  open(view: View, options: ExportOptions): Promise<{ dossierId: string; stream: Readable }>;
  /**
   * The release certificate of an entry, as the dossier has it. The look is in the access log before it is made; throws
   * conflict if nobody has certified the entry.
   */
  certificate(view: EntryView): Promise<Buffer>;
  /** The proof of dossier.json, for an archive that ended before it was confirmed. */
  proof: DossierSeals['proof'];
  /** How many dossiers a workspace is downloading from this node. */
  count(workspaceId: string): number;
}

export interface ExportOptions {
  withFiles: boolean;
  /** How long the archive may wait for the anchor of dossier.json, to end with its proof. */
  longestWaitMs: number;
}

export interface DossiersDeps extends DossierSealsDeps {
  assetAccess: Pick<AssetAccess, 'require' | 'requireWith'>;
  fileContents: FileContents;
  documents: Pick<DocumentThread, 'write'>;
}

/** Limits a part so that it can be read into memory, and so that no file has a million lines. */
const mostLinesOfPart = 1_000;
const mostBytesOfPart = 16 * 1024 * 1024;

export function createDossiers(deps: DossiersDeps): Dossiers {
  const page = createDossierPage();
  const running = createExportLimit();
  const seals = createDossierSeals(deps);
  return {
    count: running.count,
    proof: seals.proof,
    async certificate(view) {
      const { caller, assetId, maintenanceId } = view;
      await deps.assetAccess.require({ ...view, what: 'release certificate', targetId: maintenanceId });
      return makeCertificate(deps, { workspaceId: caller.workspaceId, assetId }, maintenanceId);
    },
    async open(view, { withFiles, longestWaitMs }) {
      const { caller, assetId } = view;
      await deps.assetAccess.require({ ...view, what: 'dossier' });
      const leave = running.enter(caller.workspaceId, limitOf(deps.limits, caller.limits, 'exports'));
      try {
        const key = { workspaceId: caller.workspaceId, assetId };
        const madeAt = new Date();
        // What can fail for every dossier must fail before the first byte.
        await seals.requireRoom(caller);
        const html = await page();
        const dossierId = newId('dos');
        const { entries, vault, ...described } = await describe(deps.db, key, madeAt);
        const known = {
          dossierId,
          ...described,
          workspaceId: key.workspaceId,
          attachmentsIncluded: withFiles,
        };
        const clocks = createDossierClocks({ chain: await findStoredChain(deps.db), at: madeAt });
        const archive = createDossierArchive(madeAt);
        archive.stream.once('close', leave);
        const writing = {
          ...{ ...deps, seals, caller, key, madeAt, vault, entries },
          ...{ known, clocks, html, longestWaitMs },
        };
        void write(archive, writing).catch(archive.fail);
        return { dossierId, stream: archive.stream };
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}

/** Reads everything from one snapshot. */
function describe(db: Db, key: AssetKey, madeAt: Date) {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (db) => {
      const asset = await findAsset(db, key);
      return {
        vault: { id: asset.vaultId, address: asset.vaultAddress },
        entries: await countEntries(db, key),
        asset: assetToJson(asset),
        ...(await findOwners(db, key)),
        installations: await findInstallations(db, key),
        parts: await findParts(db, key),
        due: await dueList(db, key, madeAt),
      };
    });
}

interface Writing extends Pick<DossiersDeps, 'db' | 'manyProofs' | 'fileContents' | 'documents'> {
  seals: DossierSeals;
  caller: Caller;
  key: AssetKey;
  madeAt: Date;
  /** The owner, whose key seals the dossier. */
  vault: { id: string; address: string };
  /** The number of the last entry: later ones are not part of it. */
  entries: number;
  longestWaitMs: number;
  known: Omit<Dossier, 'format' | 'madeAt' | 'developmentEvidence' | 'counts' | 'contents'>;
  clocks: DossierClocks;
  html: string;
}

async function write(archive: DossierArchive, writing: Writing): Promise<void> {
  const { db, documents, key, madeAt, entries, clocks, html } = writing;
  // Usage as the documents in the archive state it, so that a reader can recompute it.
  const usage = { hours: 0, cycles: 0 };
  const onUsage = ({ hours = 0, cycles = 0 }: Usage) => {
    usage.hours = Math.max(usage.hours, hours);
    usage.cycles = Math.max(usage.cycles, cycles);
  };
  const counts: DossierCounts = {
    versions: 0,
    entries: 0,
    provenEntries: 0,
    signoffs: 0,
    provenSignoffs: 0,
    certified: 0,
  };
  await archive.add(dossierPaths.page, Buffer.from(html));
  await archive.add(
    dossierPaths.versions,
    linesToBytes(versionLines(db, key, { counts, upTo: writing.known.asset.version, onUsage })),
  );
  const proven = await addHistory(archive, writing);
  const signers = new Set<string>();
  await addEntries(archive, writing, { counts, onUsage, onSigner: (address) => signers.add(address) });
  await addPasskeys(archive, writing, [...signers]);
  const known = {
    ...writing.known,
    asset: { ...writing.known.asset, usage },
    // As the proofs in the archive state it, in case the chain was rebuilt after `describe`.
    owners: writing.known.owners.map((owner, place) => ({ ...owner, since: proven[place] ?? owner.since })),
    developmentEvidence: clocks.isAnyDevelopment(),
  };
  await archive.add(dossierPaths.readme, Buffer.from(dossierReadme(known, { madeAt, chain: clocks.chain })));
  await archive.add(
    dossierPaths.logbook,
    documents.write({
      workspaceId: key.workspaceId,
      kind: 'logbook',
      input: { ...known, madeAt, chain: clocks.chain } satisfies LogbookInput,
      items: sentEntries(keptEntries(db, key, entries), clocks),
      part: true,
    }),
  );
  await writeCertificates(archive, writing, counts.certified);
  if (known.attachmentsIncluded) await addFiles(archive, writing);
  const dossier: Dossier = {
    format: dossierFormat,
    madeAt: madeAt.toISOString(),
    ...known,
    counts,
    contents: archive.contents,
  };
  await addSummary(archive, writing, `${JSON.stringify(dossier, null, 2)}\n`);
  archive.end();
}

/** dossier.json, and its proof if the chain confirms it in time; later the service has it. */
async function addSummary(archive: DossierArchive, writing: Writing, text: string): Promise<void> {
  const { seals, caller, key, vault, entries, known, longestWaitMs } = writing;
  const sealed = { dossierId: known.dossierId, digest: hash('sha256', text, 'buffer') };
  await seals.seal(caller, { ...sealed, assetId: key.assetId, vault, entries });
  await archive.add(dossierPaths.summary, Buffer.from(text));
  const proof = await seals.proofWithin({
    workspaceId: key.workspaceId,
    dossier: sealed,
    longestMs: longestWaitMs,
    isWanted: () => !archive.stream.destroyed,
  });
  if (proof) await archive.add(dossierPaths.seal, Buffer.from(`${JSON.stringify(proof, null, 2)}\n`));
}

/** Adds nothing while nothing is confirmed. Returns since when each owner is proven to have it. */
async function addHistory(
  archive: DossierArchive,
  { db, manyProofs, key, clocks }: Writing,
): Promise<string[]> {
  const proven: string[] = [];
  const onProof = async (proof: Proof) => {
    await clocks.add(proof);
    const [time] = anchorTimes(proof);
    const begins = proven.length === 0 || proof.kind === 'transfer';
    if (begins && time !== undefined) proven.push(new Date(time).toISOString());
  };
  const pieces = historyText({ db, manyProofs, onProof }, key);
  const first = await pieces.next();
  if (first.done) return proven;
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(String(first.value));
    for await (const piece of pieces) yield Buffer.from(piece);
  }
  await archive.add(dossierPaths.history, bytes());
  return proven;
}

async function addEntries(
  archive: DossierArchive,
  writing: Writing,
  on: Pick<LinesDeps, 'counts' | 'onUsage' | 'onSigner'>,
): Promise<void> {
  const { db, manyProofs, key, entries, known, clocks } = writing;
  const withFiles = known.attachmentsIncluded;
  const given = { db, manyProofs, onProof: clocks.add, withFiles, ...on };
  const lines = entryLines(keptEntries(db, key, entries), given);
  try {
    let line = await lines.next();
    for (let part = 1; !line.done; part += 1) {
      async function* bytes(): AsyncGenerator<Uint8Array> {
        for (let count = 0, size = 0; count < mostLinesOfPart && size < mostBytesOfPart; count += 1) {
          if (line.done) return;
          const piece = Buffer.from(`${line.value}\n`);
          size += piece.length;
          yield piece;
          line = await lines.next();
        }
      }
      await archive.add(entriesPath(part), bytes());
    }
  } finally {
    await lines.return(undefined);
  }
}

/** Adds nothing if none of them has a passkey. */
async function addPasskeys(
  archive: DossierArchive,
  { db, manyProofs, key, clocks }: Writing,
  signers: string[],
): Promise<void> {
  const lines = passkeyLines({ db, manyProofs, onProof: clocks.add }, key.workspaceId, signers);
  const first = await lines.next();
  if (first.done) return;
  async function* all(): AsyncGenerator<string> {
    yield String(first.value);
    yield* lines;
  }
  await archive.add(dossierPaths.passkeys, linesToBytes(all()));
}

async function addFiles(archive: DossierArchive, { db, fileContents, key, entries }: Writing): Promise<void> {
  for await (const { fileId, version, path } of filesOf(db, keptEntries(db, key, entries))) {
    try {
      const content = await fileContents.find(key.workspaceId, fileId, version);
      await archive.add(path, await content.read(), { size: content.size });
    } catch (error) {
      // Erased after it was listed; the dossier's verifier reports it as missing.
      if (!(error instanceof AppError && error.code === 'resource_not_found')) throw error;
    }
  }
}

async function* sentEntries(
  pages: AsyncIterable<KeptEntry[]>,
  clocks: DossierClocks,
): AsyncGenerator<SentEntry[]> {
  for await (const page of pages) yield page.map((kept) => sendEntry(kept, clocks));
}

async function* linesToBytes(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const line of lines) yield Buffer.from(`${line}\n`);
}
