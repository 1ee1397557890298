/** A dossier that was unpacked to a folder: its files from the browser, by their path below the folder. */
import type { DossierFiles } from '../../src/maintenance/dossier-check/dossier-files.ts';
import { dossierPaths } from '../../src/maintenance/dossier-check/dossier-format.ts';

/** Files of a chosen folder; the dossier may be in a subfolder. */
export function openFolder(all: Iterable<[path: string, file: Blob]>): DossierFiles {
  const given = [...all];
  const summary = given
    .map(([path]) => path)
    .filter((path) => path === dossierPaths.summary || path.endsWith(`/${dossierPaths.summary}`))
    .sort((one, other) => one.length - other.length)[0];
  const base = summary === undefined ? '' : summary.slice(0, -dossierPaths.summary.length);
  const files = new Map(
    given
      .filter(([path]) => path.startsWith(base))
      .map(([path, file]): [string, Blob] => [path.slice(base.length), file])
      // Files that operating systems add to folders.
      .filter(([path]) => !/(^|\/)(\.DS_Store|Thumbs\.db|desktop\.ini)$/.test(path)),
  );
  return {
    names: () => [...files.keys()],
    open(path) {
      const file = files.get(path);
      return file ? pieces(file) : null;
    },
  };
}

export interface Dropped {
  /** A ZIP archive, or a folder with everything below it. */
  dossier: File | Map<string, File> | null;
  /** The proof of dossier.json, or a trust file. */
  documents: File[];
}

export async function droppedFiles(data: DataTransfer): Promise<Dropped> {
  const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const folder = entries.find((entry) => entry.isDirectory);
  const given = [...data.files];
  const isDocument = ({ name }: File) => /\.json$/i.test(name);
  const documents = given.filter(isDocument);
  if (!folder) return { dossier: given.find((file) => !isDocument(file)) ?? null, documents };
  const files = new Map<string, File>();
  await walk(folder as FileSystemDirectoryEntry, files);
  return { dossier: files, documents };
}

async function walk(folder: FileSystemDirectoryEntry, files: Map<string, File>): Promise<void> {
  const reader = folder.createReader();
  for (;;) {
    // Entries come in portions; an empty one is the end.
    const found = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (found.length === 0) return;
    for (const entry of found) {
      if (entry.isDirectory) await walk(entry as FileSystemDirectoryEntry, files);
      else {
        const file = await new Promise<File>((resolve, reject) =>
          (entry as FileSystemFileEntry).file(resolve, reject),
        );
        files.set(entry.fullPath.slice(1), file);
      }
    }
  }
}

async function* pieces(file: Blob): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
