/** The check at the end of a restore: what the backup caught under way is not late, however long ago that was. */
// tier: process
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  backUp,
  closeBackupFixture,
  config,
  database,
  dir,
  emptyDatabase,
  newEvent,
  openBackupFixture,
  workspaceId,
} from '../../test/support/fixtures/backup-fixture.ts';
import { command } from '../../test/support/service/commands.ts';
import { auditWrite } from '../access/audit/audit.ts';
import { operatorIn } from '../access/workspaces/workspaces.ts';
import { insertAll } from '../db/writes.ts';
import type { CheckReport } from '../runtime/check.ts';

before(openBackupFixture);
after(closeBackupFixture);

const hourMs = 3_600_000;

test('what nobody had gone on with when the backup was made is not late in what was restored', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() - hourMs });
  await insertAll(database.db, [
    auditWrite(operatorIn(workspaceId), { action: 'vault.update', targetId: 'vlt_1' }),
    newEvent('under way'),
  ]);
  const file = join(dir, 'under-way.tar');
  await backUp(file);
  t.mock.timers.reset();

  assert.ok('file' in config.masterKey);
  const settings = { DATABASE_URL: await emptyDatabase(), HOLDFAST_DATA_DIR: join(dir, 'under-way') };
  const restored = await command(settings, 'restore', file, '--key-file', config.masterKey.file, '--json');
  assert.deepEqual(lateIn(JSON.parse(restored.stdout).fsck), []);
  const later = await command(settings, 'fsck', '--only', 'audit,events', '--json');
  assert.deepEqual(lateIn(JSON.parse(later.stdout)), ['audit_entry_unchained', 'event_without_place']);
});

/** The backup of the fixture has other faults. */
function lateIn({ checks }: { checks: CheckReport[] }): string[] {
  const rules = checks.flatMap(({ findings }) => findings.map(({ rule }) => rule));
  return [...new Set(rules)].filter((rule) => /unchained|without_place/.test(rule)).sort();
}
