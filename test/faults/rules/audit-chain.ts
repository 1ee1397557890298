/** The audit log has one entry for every change, and its chain holds, checked by the program that the documents give. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitUntil } from '../../support/service/process.ts';
import type { Rule } from '../rule.ts';
import { expectNone, Violation } from '../violation.ts';
import { readPages } from './stored.ts';

const checker = join(import.meta.dirname, '../../../docs/check-audit-log.mjs');

export const auditChainHolds: Rule = {
  name: 'every change has one audit entry, and the chain of them holds',
  when: 'end',
  async check(fixture) {
    const { store, home, journal } = fixture;
    await waitUntil(
      async () =>
        (
          await store.query(`select 1 where (select count(*) from audit_entries)
            = (select coalesce(sum(count), 0) from audit_segments)`)
        ).length === 1,
    );
    const entries = await readPages<{ action: string }>(fixture, '/platform/audit-log');
    const file = join(home, 'audit-log.json');
    await writeFile(file, JSON.stringify(entries));
    const said = await new Promise<string>((resolve) =>
      execFile(process.execPath, [checker, file], (_error, stdout, stderr) => resolve(stdout + stderr)),
    );
    if (!said.startsWith(`ok: ${entries.length} entries`))
      throw new Violation('the audit chain is broken', [said]);

    const vaults = journal.things.filter(({ kind }) => kind === 'vault');
    const { files, assets } = journal;
    const count = <T>(list: T[], each: (one: T) => number) => list.reduce((sum, one) => sum + each(one), 0);
    const moved = (move: string) => vaults.flatMap(({ moves }) => moves).filter((one) => one === move).length;
    const expected = {
      'vault.create': vaults.length,
      'worker.create': journal.things.length - vaults.length,
      'vault.deactivate': moved('deactivate'),
      'vault.reactivate': moved('reactivate'),
      'file.create': files.length,
      'file.add_version': count(files, ({ versions }) => versions.length - 1),
      'file.transfer': count(files, ({ transfers }) => transfers.length),
      'file.validate': count(files, ({ validations }) => validations.length),
      'asset.create': assets.length,
      'maintenance.create': count(assets, ({ entries }) => entries.length),
      'maintenance.sign_off': count(assets, ({ entries }) => entries.filter(({ signed }) => signed).length),
    };
    expectNone(
      'actions without exactly one entry each',
      Object.entries(expected)
        .map(([action, changes]) => ({
          action,
          changes,
          entries: entries.filter((entry) => entry.action === action).length,
        }))
        .filter(({ changes, entries }) => changes !== entries),
    );
  },
};
