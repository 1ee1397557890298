/** Files that were chosen or dropped: alone, or with the folder that they are in. */

export interface ChosenFiles {
  /** The folder; null: files alone. */
  folder: string | null;
  files: ChosenFile[];
  totalBytes: number;
}

export interface ChosenFile {
  /** Inside the folder, with slashes. */
  path: string;
  file: File;
}

/** Of an input for files or for a folder. */
export function chosenFiles(list: Iterable<File>): ChosenFiles {
  return inOrder(
    [...list].map((file) => ({
      path: file.webkitRelativePath === '' ? file.name : file.webkitRelativePath,
      file,
    })),
  );
}

/** Dropped on the page; folders are opened. */
export async function droppedFiles({ items }: DataTransfer): Promise<ChosenFiles> {
  // Before the first pause, after which the browser has taken them away.
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const found: ChosenFile[] = [];
  for (const entry of entries) await collect(entry, found);
  return inOrder(found);
}

async function collect(entry: FileSystemEntry, found: ChosenFile[]): Promise<void> {
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    found.push({ path: entry.fullPath.replace(/^\//, ''), file });
  } else if (isFolder(entry)) {
    const reader = entry.createReader();
    for (;;) {
      // At most a hundred at a time, and none at the end.
      const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
        reader.readEntries(resolve, reject),
      );
      if (some.length === 0) return;
      for (const one of some) await collect(one, found);
    }
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;

/** With one folder around all of them, paths are those inside it, as on the command line. */
function inOrder(found: ChosenFile[]): ChosenFiles {
  const folders = new Set(
    found.map(({ path }) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '')),
  );
  const [only = ''] = folders;
  const folder = folders.size === 1 && only !== '' ? only : null;
  const files =
    folder === null ? found : found.map(({ path, file }) => ({ path: path.slice(folder.length + 1), file }));
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { folder, files, totalBytes: files.reduce((sum, { file }) => sum + file.size, 0) };
}
