/** Things that are under way while their vault is deactivated or their asset is handed over: they are not sealed by it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type FixtureVault,
  type MaintenanceFixture,
  openMaintenanceFixture,
} from '../support/fixtures/maintenance-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

const platform = '/api-v1/platform';

let service: Service;
let fixture: MaintenanceFixture;
before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openMaintenanceFixture(service);
});
after(() => service.close());

/** Has the request come as far as its commit before `meanwhile` happens; gives what it is answered in the end. */
function overtaken(ask: () => Promise<Answer>, meanwhile: () => Promise<unknown>): Promise<Answer> {
  return withClient({ connectionString: service.databaseUrl }, async (client) => {
    await client.query('begin');
    await client.query('lock table anchor_leaves in share row exclusive mode');
    const asked = ask();
    await waitUntil(async () => {
      const { rows } = await client.query(
        "select 1 from pg_locks where relation = 'anchor_leaves'::regclass and not granted",
      );
      return rows[0] ?? null;
    }, 60_000);
    await meanwhile();
    await client.query('commit');
    return asked;
  });
}

/** Has the request come as far as the asset, which changes hands before the request has it. */
function overtakenBySale(ask: () => Promise<Answer>, { id }: FixtureVault): Promise<Answer> {
  return withClient({ connectionString: service.databaseUrl }, async (client) => {
    await client.query('begin');
    await client.query('update assets set vault_id = $1 where asset_id = $2', [id, fixture.assetId]);
    const asked = ask();
    await waitUntil(async () => {
      const { rows } = await client.query(
        'select 1 from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))',
      );
      return rows[0] ?? null;
    }, 60_000);
    await client.query('commit');
    return asked;
  });
}

const leaves = async () =>
  (await fixture.sql('select count(*)::int as n from anchor_leaves')).rows[0].n as number;

async function setStatus({ address }: FixtureVault, status: 'deactivate' | 'reactivate'): Promise<void> {
  const answer = await service.call('PATCH', `${platform}/vaults/${address}/${status}`);
  assert.equal(answer.status, 200, answer.text);
}

test('a request in progress does not commit after its vault was deactivated', async () => {
  const { vault, worker } = fixture;
  const vaultAddress = vault.address;
  const [corrected, signed] = [await fixture.made(), await fixture.made()];
  const record = await service.call('POST', `${platform}/records`, { body: { vaultAddress, data: {} } });
  const post = (path: string, body: object) => service.call('POST', path, { body });
  for (const ask of [
    () => post(`${platform}/records`, { vaultAddress, data: { a: 1 } }),
    () => post(`${platform}/records/batch`, { vaultAddress, records: [{ data: {} }, { data: {} }] }),
    () => post(`${platform}/records/${record.json.id}/versions`, { data: { b: 1 } }),
    () => post('/api-v1/damc/assets/', { vaultAddress, name: 'Late' }),
    () => fixture.post(),
    () => fixture.post({ supersedes: corrected.maintenanceId }),
    () => fixture.signOff(signed.maintenanceId, { workerAddress: worker, role: 'performed' }),
  ]) {
    const before = await leaves();
    const answer = await overtaken(ask, () => setStatus(vault, 'deactivate'));
    assertError(answer, 'vault_deactivated', new RegExp(vaultAddress));
    assert.equal(await leaves(), before, 'nothing was stored');
    await setStatus(vault, 'reactivate');
    const again = await ask();
    assert.ok(again.status < 300, again.text);
  }
});

test('a request in progress is not sealed by the former owner after an asset was transferred', async () => {
  const { vault, worker } = fixture;
  const other = await fixture.newVault();
  const { maintenanceId } = await fixture.made();
  for (const ask of [
    () => fixture.post(),
    () => fixture.post({ supersedes: maintenanceId }),
    () => fixture.signOff(maintenanceId, { workerAddress: worker, role: 'performed' }),
  ]) {
    const before = await leaves();
    const answer = await overtakenBySale(ask, other);
    assertError(answer, 'conflict', /transferred in the meantime/);
    assert.equal(await leaves(), before, 'nothing was stored');
    await fixture.sql('update assets set vault_id = $1 where asset_id = $2', [vault.id, fixture.assetId]);
  }
});

test('a vault can be deactivated during a transfer to it, and then accepts no other', async () => {
  const [from, to] = [await fixture.newVault(), await fixture.newVault()];
  const send = async (name: string) => {
    const file = await service.call('POST', `${platform}/files`, {
      body: { vaultAddress: from.address, name, contentHash: `0x${'ab'.repeat(32)}` },
    });
    const body = { destinationVaultAddress: to.address };
    return service.call('POST', `${platform}/files/${file.json.id}/transfer`, { body });
  };
  assert.equal((await send('before')).status, 202);
  await setStatus(to, 'deactivate');
  assertError(await send('after'), 'vault_deactivated');
});
