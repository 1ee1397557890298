/** The audit log as an outsider checks it: with the script from docs/, on what the API gives out. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let dir: string;
before(async () => {
  service = await startService();
  dir = await mkdtemp(join(tmpdir(), 'holdfast-audit-'));
});
after(async () => {
  await service.close();
  await rm(dir, { recursive: true });
});

function check(entries: unknown[]): Promise<string> {
  const file = join(dir, 'log.json');
  const script = join(import.meta.dirname, '../../docs/check-audit-log.mjs');
  return new Promise((resolve, reject) => {
    writeFile(file, JSON.stringify(entries)).then(
      () => execFile(process.execPath, [script, file], (_error, stdout) => resolve(stdout)),
      reject,
    );
  });
}

test('the chain verifies, and reveals an entry that was changed, removed or inserted', async () => {
  const { address } = (
    await service.call('POST', '/api-v1/platform/vaults', { body: { name: 'Ünïcode 🔏' } })
  ).json;
  await service.call('PUT', `/api-v1/platform/vaults/${address}`, {
    body: { name: 'renamed', description: '"' },
  });
  await service.call('PATCH', `/api-v1/platform/vaults/${address}/deactivate`);
  const log = await waitUntil(async () => {
    const { json } = await service.call('GET', '/api-v1/platform/audit-log');
    return json.length === 5 && json.every((entry: { sequence: number | null }) => entry.sequence !== null)
      ? json
      : null;
  });
  assert.match(await check(log), /^ok: 5 entries/);
  assert.deepEqual(
    log.map(({ action }: { action: string }) => action),
    ['vault.deactivate', 'vault.update', 'vault.create', 'api_key.create', 'workspace.create'],
  );

  const second = log.findIndex(({ sequence }: { sequence: number }) => sequence === 2);
  assert.match(
    await check(log.with(second, { ...log[second], targetId: 'key_other' })),
    /^broken: entry 2 .* was changed/,
  );
  assert.match(await check(log.toSpliced(second, 1)), /^broken: entry 2 is missing/);
  const forged = log.with(second, { ...log[second], hash: log[0].hash });
  assert.match(await check(forged), /^broken: entry 2 .* does not follow/);
});
