/** `npm run release`: makes everything that a release consists of, the same bytes from the same commit. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { assemble, placeParts } from '../image/assemble.ts';
import { writeArchive } from './archive.ts';
import { billOfMaterials, licences } from './inventory.ts';
import { releaseNotes } from './notes.ts';
import { makePackage } from './package.ts';

const root = resolve(import.meta.dirname, '../..');
const usage = `npm run release -- [--out DIRECTORY] [--check] [--allow-changes] [--package-only]

  --out DIRECTORY   where to put the files (release/)
  --check           make everything twice, and fail if one byte differs
  --allow-changes   also from a checkout with changes that are not committed
  --package-only    without the root of the image
`;

export interface ReleaseOptions {
  /** Removed and made anew. */
  out: string;
  packageOnly?: boolean;
  /** See assemble. */
  parts?: string;
}

/** Returns the checksums, as they are in the file SHA256SUMS. */
export async function makeRelease({ out, packageOnly = false, parts }: ReleaseOptions): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { commit, time } = sourceOf();
  await mkdir(resolve(out, '..'), { recursive: true });
  // Beside its place, so that a kill leaves no half of a release there.
  const work = await mkdtemp(`${resolve(out)}.`);
  const made = join(work, 'made');
  try {
    await mkdir(made);
    const image = join(work, 'image');
    const folder = join(work, 'package');
    if (packageOnly) {
      await placeParts(folder, parts);
    } else {
      await assemble(image, { parts });
      await placeParts(folder, image);
    }
    const texts = {
      [`holdfast-${version}.cdx.json`]: billOfMaterials({ commit, time }),
      'LICENSES.txt': licences(),
      'RELEASE-NOTES.md': await releaseNotes(version),
    };
    for (const [name, text] of Object.entries(texts)) await writeFile(join(made, name), text);

    await makePackage(folder);
    await writeFile(join(folder, 'LICENSES.txt'), texts['LICENSES.txt'] ?? '');
    const file = join(made, `holdfast-${version}.tgz`);
    await writeArchive({ folder, file, prefix: 'package/', time, compressed: true });
    if (!packageOnly) {
      const name = `holdfast-${version}-root-${process.platform}-${process.arch}.tar`;
      await writeArchive({ folder: image, file: join(made, name), prefix: 'opt/holdfast/', time });
    }
    const sums = await checksums(made);
    await writeFile(join(made, 'SHA256SUMS'), sums);
    await rm(out, { recursive: true, force: true });
    await rename(made, out);
    return sums;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** The commit, and its time: nothing of when and where the release is made is in it. */
function sourceOf(): { commit: string; time: Date } {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const seconds = process.env.SOURCE_DATE_EPOCH ?? git('log', '-1', '--format=%ct');
  return { commit: git('rev-parse', 'HEAD'), time: new Date(Number(seconds) * 1_000) };
}

async function checksums(folder: string): Promise<string> {
  const lines: string[] = [];
  for (const name of (await readdir(folder)).sort()) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(folder, name)), hash);
    lines.push(`${hash.digest('hex')}  ${name}\n`);
  }
  return lines.join('');
}

function requireCommitted(): void {
  const changes = execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  if (changes === '') return;
  throw new Error(`These changes are not committed. Commit them, or add --allow-changes:\n${changes}`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: join(root, 'release') },
      check: { type: 'boolean', default: false },
      'allow-changes': { type: 'boolean', default: false },
      'package-only': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
  } else {
    if (!values['allow-changes']) requireCommitted();
    const packageOnly = values['package-only'];
    const sums = await makeRelease({ out: values.out, packageOnly });
    for (const name of await readdir(values.out)) {
      const { size } = await stat(join(values.out, name));
      console.log(`${(size / 1e6).toFixed(1).padStart(8)} MB  ${name}`);
    }
    if (values.check) {
      const again = `${values.out}.again`;
      const second = await makeRelease({ out: again, packageOnly });
      await rm(again, { recursive: true, force: true });
      if (second !== sums) throw new Error(`The second release differs:\n${sums}\n${second}`);
      console.log('Made twice: the same bytes.');
    }
  }
}

if (import.meta.main) void main();
