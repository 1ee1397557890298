/** `holdfast promote` beside a running service: the next seals have a new epoch, and everything still fits together. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { command } from '../support/service/commands.ts';
import { createTestDatabase, withClient } from '../support/service/database.ts';
import { type RunningService, type Settings, serve, waitUntil } from '../support/service/process.ts';
import { callerAt } from '../support/service/service.ts';

const platform = '/api-v1/platform';
const longestMs = 60_000;

let dir: string;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let settings: Settings;
let service: RunningService;
let call: ReturnType<typeof callerAt>;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-promote-'));
  database = await createTestDatabase();
  settings = {
    HOLDFAST_DATA_DIR: join(dir, 'data'),
    DATABASE_URL: database.url,
    HOLDFAST_ANCHOR_INTERVAL_MS: '200',
  };
  service = await serve(settings);
  const made = await command(settings, 'keys', 'create', '--name', 'test', '--json');
  call = callerAt(service.url, JSON.parse(made.stdout).key);
});
after(async () => {
  service?.child.kill('SIGTERM');
  await service?.exited;
  await database?.drop();
  await rm(dir, { recursive: true, force: true });
});

async function provedRecord(vaultAddress: string, n: number) {
  const { json } = await call('POST', `${platform}/records`, { body: { vaultAddress, data: { n } } });
  return waitUntil(async () => {
    const answer = await call('GET', `${platform}/records/${json.id}/proof`);
    return answer.status === 200 ? answer.json : null;
  }, longestMs);
}

test('a promotion during service begins an epoch, and its numbers are exact in proofs', async () => {
  const vault = (await call('POST', `${platform}/vaults`, { body: { name: 'V' } })).json;
  const before = await provedRecord(vault.address, 1);
  assert.equal(before.seal.sequence, '1');

  const told = await command(settings, 'promote', '--json');
  assert.equal(told.code, 0, told.stderr);
  const { sealEpoch, ...rest } = JSON.parse(told.stdout);
  assert.deepEqual(rest, {});
  const after = await provedRecord(vault.address, 2);
  assert.equal(BigInt(after.seal.sequence) >> 32n, BigInt(sealEpoch));
  assert.ok(BigInt(after.seal.sequence) > BigInt(Number.MAX_SAFE_INTEGER));
  // The seal before is named by its id, which stands in the path of its own proof.
  assert.equal(after.seal.previousSeal, before.merkle.proof[before.seal.depth]);

  await writeFile(join(dir, 'proof.json'), JSON.stringify(after));
  const verified = await command(settings, 'verify', join(dir, 'proof.json'), '--json');
  const { steps } = JSON.parse(verified.stdout) as { steps: { name: string; status: string }[] };
  assert.equal(steps.find(({ name }) => name === 'seal')?.status, 'pass', verified.stdout);
  assert.equal(steps.find(({ name }) => name === 'path')?.status, 'pass', verified.stdout);

  const again = await command(settings, 'promote');
  assert.equal(again.code, 0, again.stderr);
  const [, next = ''] = /^Epoch (\d+) of seal numbers has begun/.exec(again.stdout) ?? [];
  assert.ok(Number(next) > sealEpoch, again.stdout);
  const { rows } = await withClient({ connectionString: database.url }, (client) =>
    client.query(
      "select target_id, details from audit_entries where action = 'database.promote' order by id",
    ),
  );
  assert.deepEqual(
    rows.map(({ target_id }) => target_id),
    [`seal-epoch-${sealEpoch}`, `seal-epoch-${next}`],
  );
  const fsck = await command(settings, 'fsck', '--only', 'anchors,audit', '--json');
  assert.equal(fsck.code, 0, fsck.stdout + fsck.stderr);
});

test('there is nothing to promote where there is no installation', async () => {
  const wrong = await command({ HOLDFAST_DATA_DIR: join(dir, 'nowhere') }, 'promote');
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /There is no Holdfast installation/);
});
