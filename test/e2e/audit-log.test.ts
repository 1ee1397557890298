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

async function check(entries: unknown[], ...proofs: object[]): Promise<string> {
  const file = join(dir, 'log.json');
  const others = proofs.map((_, place) => join(dir, `proof-${place}.json`));
  for (const [place, path] of others.entries()) await writeFile(path, JSON.stringify(proofs[place]));
  const script = join(import.meta.dirname, '../../docs/check-audit-log.mjs');
  return new Promise((resolve, reject) => {
    writeFile(file, JSON.stringify(entries)).then(
      () => execFile(process.execPath, [script, file, ...others], (_error, stdout) => resolve(stdout)),
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

  const waiting = { ...log[0], id: 'aud_waiting', sequence: null, hash: null };
  assert.match(await check([...log, waiting]), /not in the chain yet, so not checked: aud_waiting \(vault/);
  const foreign = { ...waiting, workspaceId: 'ws_other' };
  assert.match(await check([...log, foreign]), /^broken: entry aud_waiting is of the workspace ws_other/);

  // As the service answers for its anchor; the proof itself is for `holdfast verify`.
  const { workspaceId, hash, digest } = log[second];
  const before = log.find(({ sequence }: { sequence: number }) => sequence === 1);
  const proof = {
    ...{ kind: 'audit-log', subject: { workspaceId, id: workspaceId } },
    ...{ content: { digest: `0x${hash}` }, claims: { sequence: 2 } },
  };
  const content = Buffer.from(before.hash + digest, 'hex').toString('base64');
  const proven = { sequence: 2, content, proof };
  assert.match(await check(log), /\nno proof was given/);
  assert.match(await check(log, proven, proven), /^ok: 5 entries.*\nentry 2 is the one that its proof names/);
  const cases: [answer: object, why: RegExp][] = [
    [
      { ...proven, proof: { ...proof, content: { digest: `0x${log[0].hash}` } } },
      /^broken: entry 2 is not the one that was anchored: the log was rewritten/,
    ],
    [{ ...proven, content: '' }, /^broken: entry 2 is not the one/],
    [
      { ...proven, proof: { ...proof, claims: { sequence: 3 } } },
      /^broken: the proof of entry 2 claims entry 3/,
    ],
    [
      { ...proven, proof: { ...proof, subject: { workspaceId: 'ws_other', id: 'ws_other' } } },
      /^broken: the proof of entry 2 is not about the audit log of /,
    ],
    [
      { ...proven, sequence: 9, proof: { ...proof, claims: { sequence: 9 } } },
      /^broken: entry 9 was anchored, but the log ends with entry 5/,
    ],
  ];
  for (const [answer, why] of cases) assert.match(await check(log, proven, answer), why);
});
