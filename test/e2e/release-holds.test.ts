/** Files that are attached to a certified entry: kept until a certified correction takes its place. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sendForm } from '../support/clients/upload.ts';
import { type AssetFixture, fromNow, openAssetFixture } from '../support/fixtures/asset-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { type Service, startService } from '../support/service/service.ts';

const platform = '/api-v1/platform';

let service: Service;
let fixture: AssetFixture;

before(async () => {
  service = await startService({ runLoops: false });
  fixture = openAssetFixture(service);
});
after(() => service.close());

const licences = [{ scope: '*', number: 'DK.66.1', authority: 'EASA', expiresAt: null }];

async function newRoom() {
  const vault = await fixture.newVault();
  const assetId = await fixture.newAsset({ vaultAddress: vault.address });
  const [worker, certifier] = [await fixture.newWorker(), await fixture.newWorker()];
  await fixture.call('POST', assetId, 'workers/', { body: { workers: [worker, certifier] } });
  await service.call('PATCH', `/api-v1/damc/workers/${certifier}/`, { body: { licences } });
  return {
    vault,
    async upload(text: string): Promise<string> {
      const answer = await sendForm(service, `${platform}/files`, {
        parts: [
          ['vaultAddress', vault.address],
          ['file', new File([text], 'report.txt')],
        ],
      });
      return answer.json.id;
    },
    async record(fileIds: string[], more: object = {}): Promise<string> {
      const work = { workerAddress: worker, type: 'repair', summary: 'Seal', performedAt: fromNow(-1000) };
      const body = { ...work, fileIds, ...more };
      const answer = await fixture.call('POST', assetId, 'maintenances/', { body });
      assert.equal(answer.status, 202, answer.text);
      return answer.json.maintenanceId;
    },
    async sign(id: string, role: 'performed' | 'certified') {
      const body = { workerAddress: role === 'performed' ? worker : certifier, role };
      const answer = await fixture.call('POST', assetId, `maintenances/${id}/signoffs/`, {
        body,
        key: await service.onBehalfKey(),
      });
      assert.equal(answer.status, 201, answer.text);
    },
    async certify(id: string) {
      await this.sign(id, 'performed');
      await this.sign(id, 'certified');
    },
  };
}

const erase = (id: string, query = '') => service.call('DELETE', `${platform}/files/${id}/content${query}`);
const isErased = async (id: string) =>
  (
    await fixture.sql(
      'select bool_and(erased_at is not null) as erased from file_versions where file_id = $1',
      [id],
    )
  ).rows[0].erased as boolean;

test('from its certification on, an attached file cannot be erased, and other files can', async () => {
  const room = await newRoom();
  const [attached, other] = [await room.upload('measured'), await room.upload('draft')];
  const entry = await room.record([attached]);
  await room.sign(entry, 'performed');
  assert.equal((await erase(other)).status, 204);
  await room.sign(entry, 'certified');
  const refused = await erase(attached);
  assertError(
    refused,
    'on_hold',
    new RegExp(`Version 1 of the file ${attached} is attached to the certified`),
  );
  assert.match(refused.text, new RegExp(entry));
  assert.equal(await isErased(attached), false);
  assertError(await erase(attached, '?version=1'), 'on_hold');
});

test('an entry that is not certified holds nothing', async () => {
  const room = await newRoom();
  const attached = await room.upload('only inspected');
  const entry = await room.record([attached]);
  await room.sign(entry, 'performed');
  assert.equal((await erase(attached)).status, 204);
  // What was erased before is certified all the same, and stays erased.
  await room.sign(entry, 'certified');
  assert.equal(await isErased(attached), true);
});

test('the hold ends when a correction is certified without the file, not when it is made', async () => {
  const room = await newRoom();
  const [wrong, right] = [await room.upload('wrong report'), await room.upload('right report')];
  const first = await room.record([wrong]);
  await room.certify(first);
  const second = await room.record([wrong], { supersedes: first });
  const third = await room.record([right], { supersedes: second });
  await room.sign(third, 'performed');
  assertError(await erase(wrong), 'on_hold');
  await room.sign(third, 'certified');
  assertError(await erase(right), 'on_hold');
  assert.equal((await erase(wrong)).status, 204);
});

test('an erasure that races with the certification comes first or is refused', async () => {
  const room = await newRoom();
  for (let round = 0; round < 5; round += 1) {
    const attached = await room.upload(`race ${round}`);
    const entry = await room.record([attached]);
    await room.sign(entry, 'performed');
    const [answer] = await Promise.all([erase(attached), room.sign(entry, 'certified')]);
    assert.equal(answer.status === 204, await isErased(attached), answer.text);
    if (answer.status !== 204) assertError(answer, 'on_hold');
    assert.equal((await erase(attached)).status, answer.status, 'it stays so');
  }
});
