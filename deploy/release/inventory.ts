/** What a release consists of: the bill of materials (CycloneDX), and the licences of all packages with their texts. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

interface LockedPackage {
  version: string;
  license?: string;
  dev?: boolean;
  devOptional?: boolean;
  link?: boolean;
}

interface Component {
  'bom-ref': string;
  properties?: { name: string; value: string }[];
}

interface Dependency {
  ref: string;
  dependsOn: string[];
}

/** npm gives it another serial number and time with each call; here both follow from the commit. */
export function billOfMaterials({ commit, time }: { commit: string; time: Date }): string {
  const npm = execFileSync('sh', ['-c', 'readlink -f "$(command -v npm)"'], { encoding: 'utf8' }).trim();
  const options = ['--sbom-format', 'cyclonedx', '--package-lock-only', '--omit', 'dev'];
  const text = execFileSync(process.execPath, [npm, 'sbom', ...options], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const bill = JSON.parse(text);
  const hex = createHash('sha256').update(`holdfast ${commit}`).digest('hex');
  // A UUID of version 8: of our own making.
  const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  bill.serialNumber = `urn:uuid:${uuid}`;
  bill.metadata.timestamp = time.toISOString();
  // The version of npm on the machine that makes the release says nothing about the release.
  delete bill.metadata.tools;
  // Our own packages that only install others.
  const own = new Set<string>(
    bill.components.filter(isPrivate).map((component: Component) => component['bom-ref']),
  );
  bill.components = bill.components.filter((component: Component) => !own.has(component['bom-ref']));
  bill.dependencies = bill.dependencies
    .filter(({ ref }: Dependency) => !own.has(ref))
    .map(({ ref, dependsOn }: Dependency) => ({ ref, dependsOn: dependsOn.filter((one) => !own.has(one)) }));
  for (const component of bill.components) {
    // Where it was downloaded from, which may be a mirror; the hash says what it is.
    component.externalReferences = component.externalReferences?.filter(
      ({ type }: { type: string }) => type !== 'distribution',
    );
  }
  return `${JSON.stringify(bill, null, 2)}\n`;
}

function isPrivate({ properties }: Component): boolean {
  return (
    properties?.some(({ name, value }) => name === 'cdx:npm:package:private' && value === 'true') === true
  );
}

/** Every package that is in the release or bundled into its pages, with its licence; texts that repeat are printed once. */
export function licences(): string {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const packages = Object.entries(lock.packages as Record<string, LockedPackage>)
    .filter(
      ([path, { dev, devOptional, link }]) =>
        path.startsWith('node_modules/') && !dev && !devOptional && !link,
    )
    .map(([path, { version, license }]) => ({
      name: `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)} ${version}`,
      license: license ?? declared(path),
      text: textOf(path),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const list = packages.map(({ name, license }) => `${name}: ${license}`);
  const texts = Map.groupBy(packages, ({ text }) => text);
  texts.delete('');
  const printed = [...texts].map(([text, users]) => {
    const names = [...new Set(users.map(({ name }) => name))].join(', ');
    return `${'-'.repeat(80)}\n${names}\n\n${text}\n`;
  });
  return `Packages in this release, and their licences\n\n${[...new Set(list)].join('\n')}\n\n${printed.join('\n')}`;
}

function declared(path: string): string {
  const file = join(root, path, 'package.json');
  if (!existsSync(file)) return 'not declared';
  const { license, licenses } = JSON.parse(readFileSync(file, 'utf8'));
  return license?.type ?? license ?? licenses?.[0]?.type ?? namedBy(textOf(path)) ?? 'not declared';
}

/** Some packages declare nothing and have the text alone, which begins with its name. */
function namedBy(text: string): string | null {
  const [first = ''] = text.split('\n');
  const known = {
    MIT: /^(The )?MIT License/i,
    ISC: /^(The )?ISC License/i,
    'Apache-2.0': /^Apache License/i,
  };
  return Object.entries(known).find(([, title]) => title.test(first.trim()))?.[0] ?? null;
}

/** Empty for a package of another platform, which is not installed here. */
function textOf(path: string): string {
  const folder = join(root, path);
  if (!existsSync(folder)) return '';
  const file = readdirSync(folder)
    .sort()
    .find((name) => /^(licen[cs]e|copying)/i.test(name));
  return file ? readFileSync(join(folder, file), 'utf8').trim().replaceAll('\r\n', '\n') : '';
}
