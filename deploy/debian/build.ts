/**
 * Builds a Debian package from a checkout with its packages: node deploy/debian/build.ts FILE.deb
 * It has the same files as the image, in /opt/holdfast, with the unit for systemd. Needs dpkg-deb, and no network.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { completionScript } from '../../src/cli/completion.ts';
import { createProgram } from '../../src/cli/program.ts';
import { assemble } from '../image/assemble.ts';

const here = import.meta.dirname;
/** Names of processors in Node.js and in Debian. */
const architectures: Record<string, string> = { x64: 'amd64', arm64: 'arm64' };
const completions = {
  bash: 'usr/share/bash-completion/completions/holdfast',
  zsh: 'usr/share/zsh/vendor-completions/_holdfast',
  fish: 'usr/share/fish/vendor_completions.d/holdfast.fish',
};
const scripts = ['postinst', 'prerm', 'postrm'];

export interface PackageOptions {
  /** Arguments of dpkg-deb; a strong one takes minutes. */
  compression?: string[];
  /** See assemble. */
  parts?: string;
}

export async function buildPackage(file: string, options: PackageOptions = {}): Promise<void> {
  const { compression = ['-Zxz'], ...given } = options;
  const { version, description } = JSON.parse(readFileSync(join(here, '../../package.json'), 'utf8'));
  const architecture = architectures[process.arch];
  if (architecture === undefined) throw new Error(`Debian has no name for ${process.arch}.`);
  const root = mkdtempSync(join(tmpdir(), 'holdfast-deb-'));
  try {
    await assemble(join(root, 'opt/holdfast'), given);
    place('../systemd/holdfast.service', 'lib/systemd/system/holdfast.service', 0o644);
    place('../systemd/holdfast.sysusers', 'usr/lib/sysusers.d/holdfast.conf', 0o644);
    place('holdfast.env', 'etc/holdfast/holdfast.env', 0o600);
    place('holdfast.sh', 'usr/bin/holdfast', 0o755);
    place('../../docs/holdfast.1', 'usr/share/man/man1/holdfast.1', 0o644);
    for (const [shell, path] of Object.entries(completions)) {
      mkdirSync(dirname(join(root, path)), { recursive: true, mode: 0o755 });
      writeFileSync(join(root, path), completionScript(shell as keyof typeof completions, createProgram()), {
        mode: 0o644,
      });
    }
    for (const script of scripts) place(`${script}.sh`, `DEBIAN/${script}`, 0o755);
    const control = [
      'Package: holdfast',
      `Version: ${version}`,
      `Architecture: ${architecture}`,
      'Maintainer: Holdfast <holdfast@localhost>',
      'Section: database',
      'Priority: optional',
      'Depends: libc6, libstdc++6, systemd (>= 252)',
      `Description: ${description}`,
    ];
    writeFileSync(join(root, 'DEBIAN/control'), `${control.join('\n')}\n`);
    // An upgrade asks before it replaces what the operator has changed.
    writeFileSync(join(root, 'DEBIAN/conffiles'), '/etc/holdfast/holdfast.env\n');
    chmodSync(root, 0o755);
    execFileSync('dpkg-deb', ['--root-owner-group', ...compression, '--build', root, file], {
      stdio: 'ignore',
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }

  function place(from: string, to: string, mode: number): void {
    const target = join(root, to);
    mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
    copyFileSync(join(here, from), target);
    chmodSync(target, mode);
  }
}

async function main(): Promise<void> {
  const [file] = process.argv.slice(2);
  if (file === undefined || existsSync(file)) throw new Error('Give a file that does not exist yet.');
  await buildPackage(resolve(file));
}

if (import.meta.main) void main();
