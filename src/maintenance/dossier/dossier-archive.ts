/** The ZIP archive of a dossier. Records the size and hash of every file for the list of contents. */
import { createHash } from 'node:crypto';
import { createZipArchive, type ZipArchive } from '../../holdings/evidence-package/zip-archive.ts';
import type { ListedFile } from '../dossier-check/dossier-format.ts';

export interface DossierArchive extends ZipArchive {
  /** The files so far. */
  contents: ListedFile[];
}

export function createDossierArchive(madeAt: Date): DossierArchive {
  const zip = createZipArchive(madeAt);
  const contents: ListedFile[] = [];
  return {
    ...zip,
    contents,
    async add(path, content, options) {
      const hash = createHash('sha256');
      let bytes = 0;
      const note = (piece: Uint8Array): Uint8Array => {
        hash.update(piece);
        bytes += piece.length;
        return piece;
      };
      async function* noted(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
        for await (const piece of pieces) yield note(piece);
      }
      await zip.add(path, content instanceof Uint8Array ? note(content) : noted(content), options);
      contents.push({ path, bytes, sha256: hash.digest('hex') });
    },
  };
}
