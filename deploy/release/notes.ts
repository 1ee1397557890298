/** The notes of a release: its entry in the changelog, and what its migrations say about going back. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { knownMigrations, readMigration } from '../../src/db/migrations/migration-files.ts';

const root = resolve(import.meta.dirname, '../..');

export async function releaseNotes(version: string): Promise<string> {
  const entry = changelogEntry(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version);
  return `# Holdfast ${version}\n\n${entry}\n\n## Upgrade\n\n${await upgradeNote()}\n`;
}

/** Under the version; before it is released, under Unreleased. */
export function changelogEntry(changelog: string, version: string): string {
  for (const title of [version, 'Unreleased']) {
    const [, found] = changelog.split(new RegExp(`^## \\[${title.replaceAll('.', '\\.')}\\].*$`, 'm'));
    if (found) return (found.split(/^## \[/m)[0] ?? '').trim();
  }
  throw new Error(`CHANGELOG.md has no entry for ${version} and none under Unreleased`);
}

async function upgradeNote(): Promise<string> {
  const previous = previousRelease();
  if (previous === null) return 'This is the first release.';
  const known = await knownMigrations();
  const added = known.filter((name) => !previous.migrations.has(name));
  const migrations = await Promise.all(added.map((name) => readMigration(name)));
  const unfit = migrations.filter(
    ({ compatibleSince }) => compatibleSince === null || !previous.migrations.has(compatibleSince),
  );
  if (unfit.length === 0) {
    return `The database is compatible with the previous release, ${previous.tag}: its nodes go on working beside new ones, and can be started again. New migrations: ${added.join(', ') || 'none'}.`;
  }
  return `The database is not compatible with the previous release, ${previous.tag}: stop all its nodes before the first new one starts. Going back means restoring a backup. The reason: ${unfit.map(({ name }) => name).join(', ')}.`;
}

function previousRelease(): { tag: string; migrations: Set<string> } | null {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const tag = git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^').trim();
    const files = git('ls-tree', '--name-only', tag, 'migrations/').split('\n');
    return { tag, migrations: new Set(files.map((file) => file.replace(/^migrations\/|\.sql$/g, ''))) };
  } catch {
    return null;
  }
}
