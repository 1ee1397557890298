/** Ways around the second person: alone, as somebody else, too late, twice, and after what it was about has changed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type ApprovalsFixture,
  asked,
  makeKey,
  openApprovalsFixture,
} from '../support/fixtures/approvals-fixture.ts';
import { api, type Person } from '../support/fixtures/people-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { waitUntil } from '../support/service/process.ts';

let fixture: ApprovalsFixture;
before(async () => {
  fixture = await openApprovalsFixture();
  await fixture.require(true);
});
after(() => fixture.close());

const erase = async (file: string, by: Person = fixture.developer) =>
  asked(await by.visitor.call('DELETE', `${api}/files/${file}/content`));
const askToErase = async (by?: Person) => {
  const file = await fixture.newFile();
  return { file, id: await erase(file, by) };
};
const isErased = async (file: string) =>
  (await fixture.service.call('GET', `${api}/files/${file}`)).json.erased;
const statusOf = async (id: string) =>
  (await fixture.query('select status from approvals where id = $1', [id]))[0].status;

test('who asked does not approve: not in person, not as the maker of the key, and not with another key', async () => {
  const { admin, owner, service } = fixture;
  const own = await askToErase(admin);
  assertError(await fixture.decide(admin, own.id), 'second_person_required', /yourself/);
  assertError(await fixture.decide(admin, own.id, 'refuse', { reason: 'x' }), 'second_person_required');

  const first = await fixture.keyOf(admin);
  const second = await fixture.keyOf(admin);
  const child = await service.call('POST', `${api}/api-keys`, { key: first.key, body: { name: 'child' } });
  const childId = asked(child);
  assert.equal((await fixture.decide(owner, childId)).status, 200);
  const collected = await service.call('POST', `${api}/approvals/${childId}/collect`, { key: first.key });
  for (const { key } of [first, second, { key: collected.json.key }]) {
    const file = await fixture.newFile();
    const id = asked(await service.call('DELETE', `${api}/files/${file}/content`, { key }));
    assertError(await fixture.decide(admin, id), 'second_person_required', /API key did that you made/);
    for (const other of [first.key, second.key, collected.json.key, service.key]) {
      const path = `${api}/approvals/${id}/approve`;
      assertError(
        await service.call('POST', path, { key: other, body: {} }),
        'forbidden',
        /does not accept API keys/,
      );
    }
    assert.equal(await isErased(file), false);
    // The person behind the key can withdraw it.
    assert.equal((await fixture.decide(admin, id, 'withdraw')).status, 200);
  }
});

test('neither a viewer, nor a lower role than the step needs, nor somebody without a fresh proof approves', async () => {
  const { developer, admin, owner } = fixture;
  const viewer = await fixture.member('viewer');
  const { file, id } = await askToErase();
  assertError(await fixture.decide(viewer, id), 'forbidden', /role developer/);
  const onBehalf = asked(await makeKey(admin.visitor, ['signoffs:on-behalf']));
  assertError(await fixture.decide(developer, onBehalf), 'forbidden', /role admin/);
  await fixture.query(`update sessions set confirmed_at = now() - interval '11 minutes' where user_id = $1`, [
    owner.id,
  ]);
  assertError(await fixture.decide(owner, id), 'step_up_required');
  // Refusing takes nothing.
  assert.equal((await fixture.decide(owner, onBehalf, 'refuse', { reason: 'no' })).status, 200);
  await fixture.query('update sessions set confirmed_at = now() where user_id = $1', [owner.id]);
  // A role that was lowered since the session began counts at once.
  const deputy = await fixture.member('developer');
  await fixture.query(`update members set role = 'viewer' where user_id = $1`, [deputy.id]);
  assertError(await fixture.decide(deputy, id), 'forbidden');
  assert.equal(await isErased(file), false);
});

test('another workspace neither sees nor decides it', async () => {
  const { service, owner } = fixture;
  const { id } = await askToErase();
  const stranger = await service.makeKey({ newWorkspace: true });
  const path = `${api}/approvals/${id}`;
  assertError(await service.call('GET', path, { key: stranger }), 'resource_not_found');
  assert.deepEqual((await service.call('GET', `${api}/approvals`, { key: stranger })).json, []);
  for (const step of ['withdraw', 'collect'])
    assertError(await service.call('POST', `${path}/${step}`, { key: stranger }), 'resource_not_found');
  const made = await owner.visitor.call('POST', `${api}/workspaces`, { body: { name: 'Elsewhere' } });
  const headers = { 'x-workspace-id': made.json.id };
  for (const step of ['approve', 'refuse']) {
    const body = { reason: 'mine' };
    const answer = await owner.visitor.call('POST', `${path}/${step}`, { body, headers });
    assertError(answer, 'resource_not_found');
  }
  assert.equal(await statusOf(id), 'open');
});

test('a transfer to a vault that erases sooner counts as erasing', async () => {
  const { developer, owner, otherVaultAddress, service } = fixture;
  const transfer = (file: string) =>
    developer.visitor.call('POST', `${api}/files/${file}/transfer`, {
      body: { destinationVaultAddress: otherVaultAddress },
    });
  const retain = async (fileDays: number | null) => {
    await fixture.query('delete from retention_rules');
    if (fileDays === null) return;
    await fixture.query(
      `insert into retention_rules (workspace_id, vault_id, kind, days)
       select workspace_id, id, 'file', $2 from vaults where address = $1`,
      [otherVaultAddress, fileDays],
    );
  };
  const setRules = async (rules: object) => {
    const id = asked(await fixture.setRules(rules, fixture.admin));
    assert.equal((await fixture.decide(owner, id)).status, 200);
  };
  await setRules({ transfer: false });
  try {
    assert.equal((await transfer(await fixture.newFile())).status, 202);
    await retain(1);
    const file = await fixture.newFile();
    const id = asked(await transfer(file));
    const { effect } = (await owner.visitor.call('GET', `${api}/approvals/${id}`)).json;
    assert.equal(effect.erasesSooner, true);
    assert.equal((await service.call('GET', `${api}/files/${file}`)).json.status, 'pending');
    assert.deepEqual(await fixture.query('select 1 from transfers where subject_id = $1', [file]), []);
    assert.equal((await fixture.decide(owner, id)).status, 200);
    assert.equal((await fixture.query('select 1 from transfers where subject_id = $1', [file])).length, 1);
  } finally {
    await retain(null);
    await fixture.require(true);
  }
});

test('two who approve at the same moment take the step once', async () => {
  const { admin, owner, developer, otherVaultAddress } = fixture;
  for (let round = 0; round < 5; round += 1) {
    const file = await fixture.newFile();
    const body = { destinationVaultAddress: otherVaultAddress };
    const id = asked(await developer.visitor.call('POST', `${api}/files/${file}/transfer`, { body }));
    const answers = await Promise.all([admin, owner, admin, owner].map((by) => fixture.decide(by, id)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
    assert.equal((await fixture.query('select 1 from transfers where subject_id = $1', [file])).length, 1);
    const decided = await fixture.query(
      `select 1 from audit_entries where target_id = $1 and action = 'approval.approve'`,
      [id],
    );
    assert.equal(decided.length, 1);
  }
});

test('it is not taken once its time is over, and its end is told', async () => {
  const { owner, developer } = fixture;
  const { file, id } = await askToErase();
  await fixture.query(
    `update approvals set requested_at = now() - interval '1 hour', expires_at = now() where id = $1`,
    [id],
  );
  assertError(await fixture.decide(owner, id), 'conflict', /expired at/);
  assertError(await fixture.decide(developer, id, 'withdraw'), 'conflict');
  const shown = await developer.visitor.call('GET', `${api}/approvals/${id}`);
  assert.equal(shown.json.status, 'expired');
  assert.equal(shown.json.decidedAt, shown.json.expiresAt);
  // Asked for again, it is another request; the old one ends.
  assert.notEqual(await erase(file), id);
  assert.equal(await statusOf(id), 'expired');
  assert.equal(await isErased(file), false);
  await waitUntil(async () => {
    const { json } = await owner.visitor.call('GET', `${api}/events?limit=1000`);
    const isEnd = ({ type, data }: { type: string; data: Record<string, string> }) =>
      type === 'approval.decided' && data.approval_id === id && data.decision === 'expired';
    return json.some(isEnd);
  });
});

test('it is not taken for somebody who has left, who was demoted, or whose key is revoked', async () => {
  const { owner, admin, service } = fixture;
  const leaver = await fixture.member('developer');
  const demoted = await fixture.member('developer');
  const { key, id: keyId } = await fixture.keyOf(admin);
  const [left, lowered] = [await askToErase(leaver), await askToErase(demoted)];
  const file = await fixture.newFile();
  const byKey = asked(await service.call('DELETE', `${api}/files/${file}/content`, { key }));
  const members = `${api}/members`;
  assert.equal((await owner.visitor.call('DELETE', `${members}/${leaver.id}`)).status, 204);
  const role = { body: { role: 'viewer' } };
  assert.equal((await owner.visitor.call('PATCH', `${members}/${demoted.id}`, role)).status, 200);
  assert.equal((await admin.visitor.call('DELETE', `${api}/api-keys/${keyId}`)).status, 204);
  for (const id of [left.id, lowered.id, byKey])
    assertError(await fixture.decide(owner, id), 'conflict', /may not do it any more/);
  for (const one of [left.file, lowered.file, file]) assert.equal(await isErased(one), false);
  assert.equal((await fixture.decide(owner, left.id, 'refuse', { reason: 'has left' })).status, 200);
});

test('it is not taken when it would do something else by now, or may not be done any more', async () => {
  const { owner, developer, vaultAddress, otherVaultAddress } = fixture;
  const { service } = fixture;
  const changed = await askToErase();
  const body = { vaultAddress, contentHash: `0x${'ab'.repeat(32)}` };
  const version = await service.call('POST', `${api}/files/${changed.file}/versions`, {
    body: { ...body, name: 'x' },
  });
  assert.equal(version.status, 202, version.text);
  // A version without bytes changes nothing of the erasure, but does of a transfer.
  assert.equal((await fixture.decide(owner, changed.id)).status, 200);
  const record = await fixture.newRecord();
  const erasing = asked(await developer.visitor.call('DELETE', `${api}/records/${record}/data`));
  await service.call('POST', `${api}/records/${record}/versions`, { body: { data: { secret: 'newer' } } });
  assertError(await fixture.decide(owner, erasing), 'conflict', /not what it was when it was asked for/);
  const file = await fixture.newFile();
  const destination = { destinationVaultAddress: otherVaultAddress };
  const transfer = (to: object) =>
    developer.visitor.call('POST', `${api}/files/${file}/transfer`, { body: to });
  const moving = asked(await transfer(destination));
  await service.call('POST', `${api}/files/${file}/versions`, { body: { ...body, name: 'x' } });
  assertError(await fixture.decide(owner, moving), 'conflict', /not what it was/);

  const held = await askToErase();
  const hold = { fileId: held.file, held: true, reason: 'Dispute 9' };
  assert.equal((await service.call('PUT', `${api}/holds`, { body: hold })).status, 200);
  assertError(await fixture.decide(owner, held.id), 'on_hold', /Dispute 9/);
  assert.equal(await isErased(held.file), false);
  assert.equal(await statusOf(held.id), 'open', 'it can be approved once the hold is released');
  await service.call('PUT', `${api}/holds`, { body: { ...hold, held: false } });
  assert.equal((await fixture.decide(owner, held.id)).status, 200);
  assert.equal(await isErased(held.file), true);
});

test('when the rule is turned off meanwhile, what was asked for still takes a second person', async () => {
  const { owner, developer } = fixture;
  const { file, id } = await askToErase();
  await fixture.require(false);
  assertError(await fixture.decide(developer, id), 'second_person_required');
  assert.equal((await fixture.decide(owner, id)).status, 200);
  assert.equal(await isErased(file), true);
  await fixture.require(true);
});

test('a workspace has at most a hundred open requests', async () => {
  const { developer, owner } = fixture;
  await fixture.query(
    `insert into approvals (workspace_id, id, step, input, effect, role, digest, requested_kind, requested_by,
       requested_at, expires_at)
     select workspace_id, 'apr_' || n, 'api_key.create', '{}', '{}', 'developer', sha256(n::text::bytea), 'user', 'usr_x',
       now(), now() + interval '1 hour'
     from members, generate_series(1, 101) n where user_id = $1`,
    [developer.id],
  );
  const file = await fixture.newFile();
  const answer = await developer.visitor.call('DELETE', `${api}/files/${file}/content`);
  assertError(answer, 'conflict', /100 requests .* wait/);
  await fixture.query(`delete from approvals where requested_by = 'usr_x'`);
  assert.equal((await fixture.decide(owner, await erase(file))).status, 200);
});
