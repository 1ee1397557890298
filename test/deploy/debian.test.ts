/** The Debian package: built, unpacked, and started from where it was unpacked. */
// tier: process
// own process: it loads a script with an await at its top level
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackage } from '../../deploy/debian/build.ts';
import { needs, pathOf } from '../support/programs/needs.ts';
import { longOnly } from '../support/service/long.ts';
import { startUntil } from '../support/service/process.ts';

needs('dpkg-deb').test(
  'the service runs from the unpacked package',
  {
    skip: longOnly,
    // Writes 300 MB three times: how long that takes is the disk's affair.
    timeout: 600_000,
  },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-debian-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const [file, root] = [join(folder, 'holdfast.deb'), join(folder, 'root')];
    await buildPackage(file, ['-Znone']);
    const ask = (...args: string[]) => execFileSync(pathOf('dpkg-deb'), args, { encoding: 'utf8' });
    assert.match(ask('--field', file, 'Version'), /^\d+\.\d+\.\d+\n$/);
    assert.match(ask('--ctrl-tarfile', file).slice(0, 4_000), /conffiles|control/);
    ask('--extract', file, root);

    const mode = (path: string) => statSync(join(root, path)).mode & 0o777;
    assert.equal(mode('etc/holdfast/holdfast.env'), 0o600);
    assert.equal(mode('usr/bin/holdfast'), 0o755);
    assert.equal(mode('lib/systemd/system/holdfast.service'), 0o644);
    assert.equal(mode('usr/share/man/man1/holdfast.1'), 0o644);
    assert.match(readFileSync(join(root, 'usr/share/zsh/vendor-completions/_holdfast'), 'utf8'), /^#compdef/);

    const settings = { HOLDFAST_DATA_DIR: join(folder, 'data'), PORT: '0', HOLDFAST_TEST_PACKAGES: '' };
    const program = join(root, 'opt/holdfast/bin/holdfast');
    const { running, match } = await startUntil(/is ready at (\S+)/, { program, args: ['serve'], settings });
    t.after(() => running.child.kill('SIGKILL'));
    assert.equal((await fetch(`${match[1]}/readyz`)).status, 200);
    running.child.kill('SIGTERM');
    assert.equal(await running.exited, 0);
  },
);
