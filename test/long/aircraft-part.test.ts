/** The day of examples/aircraft-part against a whole service, and a look into the dossier that it leaves. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openDossier } from '../support/clients/dossier-reader.ts';
import { type Service, startService } from '../support/service/service.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-day-'));
let service: Service;
before(async () => {
  service = await startService({ chain: true, env: { HOLDFAST_ANCHOR_INTERVAL_MS: '200' } });
});
after(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

test('the example runs to its end, with the expected refusals, and leaves a dossier that verifies', async () => {
  const script = join(import.meta.dirname, '../../examples/aircraft-part/day.ts');
  const key = await service.onBehalfKey();
  const env = { ...process.env, HOLDFAST_URL: service.url, HOLDFAST_API_KEY: key, OUT_DIR: folder };
  const { code, stdout, stderr } = await new Promise<{ code: unknown; stdout: string; stderr: string }>(
    (resolve) => {
      execFile(process.execPath, [script], { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      );
    },
  );
  assert.equal(code, 0, stdout + stderr);
  assert.equal(stdout.match(/refused, as it should be/g)?.length, 6);
  assert.match(stdout, /The service signed as performed, on behalf of Mia/);
  assert.match(stdout, /Astrid signed as certified, with her own key/);
  const name =
    readdirSync(folder).find((name) => name.endsWith('.zip')) ?? assert.fail('there is no dossier');
  const { dossier, verdict } = await openDossier(join(folder, name));
  assert.equal(verdict.faultCount, 0, JSON.stringify(verdict.faults));
  assert.deepEqual(
    dossier.owners.map(({ vault }) => vault.name),
    ['Nordlys Engine Services', 'Fjord Air'],
  );
  assert.deepEqual(verdict.counts, { ...verdict.counts, entries: 2, signoffs: 6, attachments: 1 });
});
