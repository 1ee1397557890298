/** The release certificates of a dossier: one document for each of the newest, and shared volumes for all others. */

import type { Db } from '../../db/database.ts';
import type { DocumentThread } from '../../pdf/document-thread.ts';
import type { AssetKey } from '../assets/assets.store.ts';
import { type Dossier, dossierPaths } from '../dossier-check/dossier-format.ts';
import type { DossierArchive } from './dossier-archive.ts';
import type { DossierClocks } from './dossier-clocks.ts';
import { isCertified, type KeptEntry, keptEntries } from './dossier-entries.ts';
import type { ReleaseInput } from './release-certificate.ts';
import { type SentEntry, sendEntry } from './sent-entry.ts';

/**
 * A document of its own takes some 40 ms to write and an entry in the archive's directory; a page of a volume takes 3 ms.
 */
const mostAlone = 200;
const mostOfVolume = 500;

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
  const input: ReleaseInput = { asset, owner, chain: clocks.chain, madeAt, source: 'entries' };
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
