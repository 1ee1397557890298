/** Unpacks an evidence package into a folder, and runs the commands of its README.txt there, as a reader would. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import yauzl from 'yauzl';
import { pathWithPrograms } from '../programs/needs.ts';

export interface UnpackedPackage {
  folder: string;
  /** In the order of the archive. */
  names: string[];
  readme: string;
  read(name: string): Promise<Buffer>;
  /** The lines of README.txt that begin with four spaces. */
  commands: string[];
  /** What a command prints, errors included. */
  run(command: string): Promise<{ code: number; output: string }>;
  close(): Promise<void>;
}

export async function unpackPackage(archive: Buffer): Promise<UnpackedPackage> {
  return openFolder(await filesIn(archive));
}

/** The same for files that are not in an archive. */
export async function openFolder(files: Map<string, Uint8Array>): Promise<UnpackedPackage> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-package-'));
  for (const [name, bytes] of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), bytes, { flag: 'wx' });
  }
  const read = (name: string) => readFile(join(folder, name));
  const readme = (await read('README.txt')).toString();
  return {
    ...{ folder, names: [...files.keys()], readme, read },
    commands: readme.split('\r\n').flatMap((line) => (/^ {4}\S/.test(line) ? [line.trim()] : [])),
    run: (command) =>
      new Promise((resolve) => {
        const env = { ...process.env, PATH: pathWithPrograms(), PYTHONDONTWRITEBYTECODE: '1' };
        execFile('sh', ['-c', command], { cwd: folder, env }, (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code) : 0, output: `${stdout}${stderr}` }),
        );
      }),
    close: () => rm(folder, { recursive: true }),
  };
}

/** Also checks sizes and CRCs. */
async function filesIn(archive: Buffer): Promise<Map<string, Uint8Array>> {
  const zip = await yauzl.fromBufferPromise(archive);
  const files = new Map<string, Uint8Array>();
  for await (const entry of zip.eachEntry()) {
    files.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
  }
  return files;
}
