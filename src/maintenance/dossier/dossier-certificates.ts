/**
 * The release certificates of a dossier: one document for each of the newest, and shared volumes for all others. Or that of a
 * single entry, which is the same.
 */
import { buffer } from 'node:stream/consumers';
import type { ManyProofs } from '../../anchoring/many-proofs.ts';
import { findStoredChain } from '../../chain/stored-chain.ts';

import type { Db } from '../../db/database.ts';
import type { DocumentThread } from '../../pdf/document-thread.ts';
import { AppError } from '../../runtime/errors.ts';
import { type AssetKey, findAsset } from '../assets/assets.store.ts';
import { type Dossier, dossierPaths } from '../dossier-check/dossier-format.ts';
import { noMaintenance } from '../entries/maintenances.store.ts';
import type { DossierArchive } from './dossier-archive.ts';
import { createDossierClocks, type DossierClocks } from './dossier-clocks.ts';
import { findKeptEntry, isCertified, type KeptEntry, keptEntries } from './dossier-entries.ts';
import { contentOf } from './dossier-lines.ts';
import { assetToJson, findOwners } from './dossier-summary.ts';
import type { ReleaseInput } from './release-certificate.ts';
import { type SentEntry, sendEntry } from './sent-entry.ts';

/**
 * A document of its own takes some 40 ms to write and an entry in the archive's directory; a page of a volume takes 3 ms.
 */
const mostAlone = 200;
const mostOfVolume = 500;

export interface SingleCertificateDeps {
  db: Db;
  manyProofs: ManyProofs;
  documents: Pick<DocumentThread, 'write'>;
}

/** Throws resource_not_found, or conflict if nobody has certified the entry. */
export async function makeCertificate(
  { db, manyProofs, documents }: SingleCertificateDeps,
  { workspaceId, assetId }: AssetKey,
  maintenanceId: string,
): Promise<Buffer> {
  const key = { workspaceId, assetId };
  const kept = await findKeptEntry(db, key, maintenanceId);
  if (!kept) throw noMaintenance(maintenanceId);
  if (!isCertified(kept)) {
    throw new AppError(
      'conflict',
      `The maintenance entry ${maintenanceId} is not certified, so there is no release certificate.`,
    );
  }
  const madeAt = new Date();
  const clocks = createDossierClocks({ chain: await findStoredChain(db), at: madeAt });
  const content = contentOf(kept.hash, kept.salt);
  const asked = { workspaceId, subjectId: maintenanceId, kind: 'maintenance', version: 1, content };
  for (const proof of await manyProofs([asked])) if (typeof proof === 'object') await clocks.add(proof);
  const asset = assetToJson(await findAsset(db, key));
  const { owner } = await findOwners(db, key);
  const input = { asset, owner, chain: clocks.chain, madeAt, source: entriesFolder };
  const sent = sendEntry(kept, clocks);
  return buffer(documents.write({ workspaceId, kind: 'releaseCertificate', input: { ...input, sent } }));
}

/** Where the entries are in a dossier. */
const entriesFolder = 'entries';

export interface CertifiedInput {
  db: Db;
  documents: Pick<DocumentThread, 'write'>;
  key: AssetKey;
  madeAt: Date;
  /** The number of the last entry. */
  entries: number;
  known: Pick<Dossier, 'asset' | 'owner'>;
  clocks: DossierClocks;
}

/** `certified`: the number of certificates. The oldest share volumes. */
export async function writeCertificates(
  archive: DossierArchive,
  { db, documents, key, madeAt, entries: upTo, known, clocks }: CertifiedInput,
  certified: number,
): Promise<void> {
  if (certified === 0) return;
  const { asset, owner } = known;
  const input: ReleaseInput = { asset, owner, chain: clocks.chain, madeAt, source: entriesFolder };
  const part = { workspaceId: key.workspaceId, part: true };
  async function* entries(): AsyncGenerator<KeptEntry> {
    for await (const page of keptEntries(db, key, upTo)) yield* page.filter(isCertified);
  }
  const all = entries();
  try {
    let next = await all.next();
    let left = Math.max(0, certified - mostAlone);
    for (let volume = 1; left > 0 && !next.done; volume += 1) {
      async function* some(): AsyncGenerator<SentEntry> {
        for (let count = Math.min(left, mostOfVolume); count > 0 && !next.done; count -= 1) {
          yield sendEntry(next.value, clocks);
          next = await all.next();
        }
      }
      const name = `volume-${String(volume).padStart(3, '0')}.pdf`;
      await archive.add(
        `${dossierPaths.certificates}${name}`,
        documents.write({ ...part, kind: 'releaseVolume', input, items: some() }),
      );
      left -= mostOfVolume;
    }
    for (; !next.done; next = await all.next()) {
      await archive.add(
        `${dossierPaths.certificates}${nameOf(next.value)}`,
        documents.write({
          ...part,
          kind: 'releaseCertificate',
          input: { ...input, sent: sendEntry(next.value, clocks) },
        }),
      );
    }
  } finally {
    await all.return(undefined);
  }
}

function nameOf({ entry }: KeptEntry): string {
  return `${entry.performedAt.slice(0, 10)}-${entry.maintenanceId}.pdf`;
}
