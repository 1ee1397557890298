/** A dossier with sign-offs by passkey: they are checked offline, with what was anchored about the passkeys. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { checkDossier } from '../../src/maintenance/dossier-check/dossier-check.ts';
import { dossierPaths, type PasskeyLine } from '../../src/maintenance/dossier-check/dossier-format.ts';
import { filesOfZip } from '../support/clients/zip-bytes.ts';
import { licence } from '../support/fixtures/maintenance-fixture.ts';
import { openPasskeyFixture, type PasskeyFixture } from '../support/fixtures/passkey-fixture.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: PasskeyFixture;
before(async () => {
  service = await startService({ chain: true, env: { HOLDFAST_ANCHOR_INTERVAL_MS: '200' } });
  fixture = await openPasskeyFixture(service);
});
after(() => service.close());

type Files = Map<string, Buffer>;

const check = (files: Files) =>
  checkDossier(
    {
      names: () => [...files.keys()],
      open: (path) => {
        const bytes = files.get(path);
        return bytes
          ? (async function* () {
              yield bytes;
            })()
          : null;
      },
    },
    {},
  );

/** With the passkeys changed, and listed as they are then; the seal does not cover that. */
function withPasskeys(files: Files, change: (lines: PasskeyLine[]) => PasskeyLine[]): Files {
  const lines = (files.get(dossierPaths.passkeys)?.toString() ?? '').trim().split('\n');
  const changed = change(lines.map((line) => JSON.parse(line)));
  const bytes = Buffer.from(changed.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const summary = JSON.parse(files.get(dossierPaths.summary)?.toString() ?? '');
  for (const file of summary.contents) {
    if (file.path !== dossierPaths.passkeys) continue;
    file.bytes = bytes.length;
    file.sha256 = createHash('sha256').update(bytes).digest('hex');
  }
  const made = new Map(files).set(dossierPaths.passkeys, bytes);
  made.set(dossierPaths.summary, Buffer.from(JSON.stringify(summary)));
  made.delete(dossierPaths.seal);
  return made;
}

test('holds, and shows a passkey that is missing, another one, unconfirmed then, or revoked before', async () => {
  const { vault } = fixture;
  const assets = '/api-v1/damc/assets/';
  const post = async (path: string, body: object) => {
    const answer = await service.call('POST', `${assets}${path}`, { body });
    assert.ok(answer.status < 300, answer.text);
    return answer.json;
  };
  const { assetId } = await post('', { vaultAddress: vault.address, name: 'Pump' });
  const mechanic = await fixture.passkeyWorker();
  const certifier = await fixture.passkeyWorker({ licences: [licence('repair', 'DK.66.50')] });
  await post(`${assetId}/workers/`, { workers: [mechanic.worker, certifier.worker] });
  const { maintenanceId: id } = await post(`${assetId}/maintenances/`, {
    ...{ workerAddress: mechanic.worker, type: 'repair', summary: 'Seal replaced' },
    performedAt: '2026-01-15T09:30:00Z',
  });
  for (const [{ worker: workerAddress, passkey }, role] of [
    [mechanic, 'performed'],
    [certifier, 'certified'],
  ] as const) {
    const url = `${assetId}/maintenances/${id}/signoffs/`;
    const asked = await service.call(
      'GET',
      `${assets}${url}request/?workerAddress=${workerAddress}&role=${role}`,
    );
    const { signedAt, passkey: request } = asked.json;
    await post(url, { workerAddress, role, signedAt, assertion: passkey.sign(request) });
  }
  await fixture.revoke(certifier.worker, certifier.id);
  await waitUntil(async () => {
    const proof = await service.call(
      'GET',
      `/api-v1/damc/workers/${certifier.worker}/passkeys/statements/2/proof/`,
    );
    return proof.status === 200;
  });
  const path = `/api-v1/damc/assets/${assetId}/dossier/?viewerAddress=${vault.address}&wait=30`;
  const response = await fetch(service.url + path, { headers: { 'x-api-key': service.key } });
  assert.equal(response.status, 200);
  const files = await filesOfZip(Buffer.from(await response.arrayBuffer()));
  const verdict = await check(files);
  assert.deepEqual(verdict.faults, []);
  assert.equal(verdict.counts.signoffs, 2);

  const faultsOf = async (change: (lines: PasskeyLine[]) => PasskeyLine[]) =>
    (await check(withPasskeys(files, change))).faults.map(({ message }) => message).join('\n');
  assert.equal(await faultsOf((lines) => lines), '');
  assert.match(await faultsOf(() => []), /registration of its passkey is missing/);
  assert.match(
    await faultsOf((lines) => lines.filter(({ number }) => number !== 1)),
    /does not follow the one before.*registration of its passkey is missing/s,
  );
  const changed = (name: string, value: unknown, at: number) =>
    faultsOf((lines) =>
      lines.map((line, place) =>
        place === at ? ({ ...line, document: { ...line.document, [name]: value } } as PasskeyLine) : line,
      ),
    );
  assert.match(await changed('publicKey', '0x00', 0), /was changed.*not the one that the worker registered/s);
  assert.match(await changed('confirmedAt', '2099-01-01T00:00:00.000Z', 0), /before anybody had confirmed/);
  const revoked = (await filesLines(files)).findIndex(({ document }) => 'revokedAt' in document);
  assert.match(await changed('revokedAt', '2000-01-01T00:00:00.000Z', revoked), /had been revoked/);
});

async function filesLines(files: Files): Promise<PasskeyLine[]> {
  const text = files.get(dossierPaths.passkeys)?.toString().trim() ?? '';
  return text.split('\n').map((line) => JSON.parse(line));
}
