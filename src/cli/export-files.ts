/** Files of an export: their bytes under names that are safe, compared with their digest, and every version with its proof. */
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { exportName, foldedName } from './export-names.ts';
import type { Exporter, Thing } from './exporter.ts';

interface FileVersion extends Thing {
  name: string;
  contentHash: string;
  size: number | null;
  erased: boolean;
  /** Inside the folder of the export; null: there are no bytes. */
  path: string | null;
}

export async function exportFiles(exporter: Exporter): Promise<void> {
  const taken = new Set<string>();
  const files = await exporter.log('files', ({ id, path }: FileVersion) => {
    if (path) taken.add(foldedName(path));
    return id;
  });
  const older = await exporter.log('file-versions', ({ id, version }: FileVersion) => `${id} ${version}`);
  for await (const page of exporter.list('/platform/files', 'files')) {
    for (const newest of page as FileVersion[]) {
      const { id } = newest;
      if (files.has(id)) continue;
      await exporter.save(`/platform/files/${id}/history`, `histories/${id}.json`, { id, what: 'history' });
      if (newest.version > 1)
        for await (const versions of exporter.list(`/platform/files/${id}/versions`, `versions of ${id}`))
          for (const file of versions as FileVersion[])
            if (file.version < newest.version && !older.has(`${id} ${file.version}`))
              await older.append({
                ...file,
                path: await version(exporter, file, `files/${id}.v${file.version}`),
              });
      const name = exportName(newest.name, id, (one) => taken.has(foldedName(`files/${one}`)));
      taken.add(foldedName(`files/${name}`));
      await files.append({ ...newest, path: await version(exporter, newest, `files/${name}`) });
      exporter.progress();
    }
  }
}

/** Its proof and its bytes; resolves with where they are. */
async function version(exporter: Exporter, file: FileVersion, path: string): Promise<string | null> {
  const { id, version, contentHash, size, erased } = file;
  const url = `/platform/files/${id}`;
  const of = `${id} version ${version}`;
  await exporter.save(`${url}/proof?version=${version}`, `proofs/${id}.v${version}.json`, {
    id: of,
    what: 'proof',
  });
  const reason = erased ? 'It was erased.' : size === null ? 'Only its hash was given.' : null;
  if (reason !== null) {
    await exporter.missing({ id: of, what: 'content' }, reason);
    return null;
  }
  const draft = join(exporter.folder, `files/${id}.v${version}.part`);
  const got = await exporter.calls.download(`${url}/content?version=${version}`, draft);
  if ('refused' in got || got.digest !== contentHash) {
    const why = 'refused' in got ? got.refused : 'The bytes that were sent have another digest.';
    await exporter.missing({ id: of, what: 'content' }, why);
    await rm(draft, { force: true });
    return null;
  }
  await rename(draft, join(exporter.folder, path));
  return path;
}
