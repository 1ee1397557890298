/** Steps that need a second person: asked for over the API or in a session, tried at once, taken with the approval. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type ApprovalsFixture,
  asked,
  assets,
  makeKey,
  openApprovalsFixture,
} from '../support/fixtures/approvals-fixture.ts';
import { api } from '../support/fixtures/people-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { waitUntil } from '../support/service/process.ts';
import type { Answer } from '../support/service/service.ts';

let fixture: ApprovalsFixture;
before(async () => {
  fixture = await openApprovalsFixture();
});
after(() => fixture.close());

const get = async (id: string, { visitor } = fixture.owner) =>
  (await visitor.call('GET', `${api}/approvals/${id}`)).json;
const actionsOf = async (targetId: string) =>
  (
    await fixture.query('select action, actor_id from audit_entries where target_id = $1 order by id', [
      targetId,
    ])
  ).map(({ action, actor_id }) => `${action} ${actor_id}`);

test('without rules, or where there is nobody else, nothing changes', async () => {
  const { visitor } = fixture.admin;
  const { json } = await visitor.call('GET', `${api}/approval-rules`);
  assert.deepEqual(json, {
    ...{ eraseContent: false, transfer: false, wideKeys: false, expiresAfterHours: 72, deciders: 2 },
  });
  const id = await fixture.newRecord();
  assert.equal((await visitor.call('DELETE', `${api}/records/${id}/data`)).status, 200);
  await fixture.query(`update members set role = 'developer' where user_id = $1`, [fixture.admin.id]);
  assertError(
    await fixture.setRules({ transfer: true }, fixture.owner),
    'conflict',
    /only one person .* Give a second person that role first/,
  );
  assertError(await fixture.setRules({ transfer: true }), 'forbidden', /role admin/);
  await fixture.query(`update members set role = 'admin' where user_id = $1`, [fixture.admin.id]);
  assert.deepEqual(await fixture.query('select * from approval_rules where transfer'), []);
});

test('every step waits for a second person, in a session and with a key, and is taken with the approval', async () => {
  const { admin, developer, owner, service, vaultAddress, otherVaultAddress } = fixture;
  await fixture.require(true);
  const { key, id: keyId } = await fixture.keyOf(admin);
  const byKey = (method: string, path: string, body?: object) => service.call(method, path, { key, body });
  const bySession = (method: string, path: string, body?: object) =>
    developer.visitor.call(method, path, { body });
  const [record, file, otherFile, asset] = [
    await fixture.newRecord(),
    await fixture.newFile(),
    await fixture.newFile(),
    await fixture.newAsset(),
  ];
  const destination = { destinationVaultAddress: otherVaultAddress };
  const steps: [string, Promise<Answer>, () => Promise<boolean>][] = [
    [
      'record.erase_data',
      byKey('DELETE', `${api}/records/${record}/data`),
      async () => (await byKey('GET', `${api}/records/${record}`)).json.erased,
    ],
    [
      'file.erase_content',
      bySession('DELETE', `${api}/files/${file}/content`),
      async () => (await byKey('GET', `${api}/files/${file}`)).json.erased,
    ],
    [
      'vault.set_retention',
      bySession('PUT', `${api}/vaults/${vaultAddress}/retention`, { recordDays: 3650, fileDays: null }),
      async () => (await byKey('GET', `${api}/vaults/${vaultAddress}/retention`)).json.recordDays === 3650,
    ],
    [
      'file.transfer',
      byKey('POST', `${api}/files/${otherFile}/transfer`, destination),
      async () =>
        (await fixture.query('select 1 from transfers where subject_id = $1', [otherFile])).length === 1,
    ],
    [
      'asset.transfer',
      bySession('POST', `${assets}/${asset}/transfer/`, destination),
      async () =>
        (await fixture.query('select 1 from transfers where subject_id = $1', [asset])).length === 1,
    ],
  ];
  for (const [step, asking, isDone] of steps) {
    const id = asked(await asking);
    assert.equal(await isDone(), false, step);
    const open = await get(id);
    assert.equal(open.step, step);
    assert.equal(open.status, 'open');
    assert.equal(open.role, 'developer');
    assert.equal(open.canDecide, true);
    assert.equal(open.requestedBy.personId, open.requestedBy.id === keyId ? admin.id : developer.id);
    const approved = await fixture.decide(owner, id, 'approve', { reason: 'Agreed' });
    assert.equal(approved.status, 200, approved.text);
    assert.equal(approved.json.status, 'approved');
    assert.deepEqual(approved.json.decidedBy, { kind: 'user', id: owner.id });
    assert.equal(approved.json.reason, 'Agreed');
    assert.equal(await isDone(), true, step);
    assertError(await fixture.decide(owner, id), 'conflict', /was approved before/);
    assert.deepEqual(await actionsOf(id), [
      `approval.request ${open.requestedBy.id}`,
      `approval.approve ${owner.id}`,
    ]);
  }
  // The step itself is logged as that of who asked, under the request of the approval.
  const [taken] = await fixture.query(
    `select e.actor_id, e.request_id, a.action from audit_entries e
     join audit_entries a on a.request_id = e.request_id and a.target_id <> e.target_id
     where e.action = 'file.transfer' and e.target_id = $1`,
    [otherFile],
  );
  assert.deepEqual([taken.actor_id, taken.action], [keyId, 'approval.approve']);
});

test('what could not work, or changes nothing that matters, is answered at once', async () => {
  const { developer, vaultAddress, otherVaultAddress } = fixture;
  const call = (method: string, path: string, body?: object) =>
    developer.visitor.call(method, path, { body });
  const before = await fixture.query('select id from approvals');
  assertError(await call('DELETE', `${api}/records/rec_none/data`), 'resource_not_found');
  const file = await fixture.newFile();
  const transfer = (to: string) =>
    call('POST', `${api}/files/${file}/transfer`, { destinationVaultAddress: to });
  assertError(await transfer(vaultAddress), 'conflict', /already belongs/);
  assertError(await transfer(`0x${'0'.repeat(40)}`), 'resource_not_found');
  await fixture.query(`insert into holds (workspace_id, subject_id, reason)
    select workspace_id, id, 'Dispute' from files where id = '${file}'`);
  assertError(await call('DELETE', `${api}/files/${file}/content`), 'on_hold', /Dispute/);
  // Erased before, kept for longer, and a key that only reads.
  const [{ subject_id: erased }] = await fixture.query(
    `select subject_id from erasures where kind = 'record' limit 1`,
  );
  assert.equal((await call('DELETE', `${api}/records/${erased}/data`)).status, 200);
  const retention = `${api}/vaults/${vaultAddress}/retention`;
  assert.equal((await call('PUT', retention, { recordDays: 3651, fileDays: null })).status, 200);
  assert.equal((await call('PUT', retention, { recordDays: null, fileDays: null })).status, 200);
  asked(await call('PUT', retention, { recordDays: null, fileDays: 1 }));
  assert.equal((await makeKey(developer.visitor, ['files:read', 'keys:read'])).status, 201);
  for (const scopes of [undefined, ['files:write'], ['files:read', 'keys:write']])
    asked(await makeKey(developer.visitor, scopes));
  assertError(await makeKey(developer.visitor, ['signoffs:on-behalf']), 'forbidden', /admin or an owner/);
  assert.equal((await fixture.query('select id from approvals')).length, before.length + 4);
  assert.ok(otherVaultAddress);
});

test('an approved key is shown once, to who asked, and never to the second person', async () => {
  const { developer, owner, service } = fixture;
  const id = asked(await makeKey(developer.visitor, ['files:write'], 'Uploader'));
  const collect = (by = developer, headers = {}) =>
    by.visitor.call('POST', `${api}/approvals/${id}/collect`, { headers });
  assertError(await collect(), 'conflict', /not approved/);
  const approved = await fixture.decide(owner, id);
  assert.equal(approved.status, 200, approved.text);
  assert.doesNotMatch(approved.text, /hf_live_\w{30}/);
  assert.equal(approved.json.result.name, 'Uploader');
  assertError(await collect(owner), 'forbidden', /Only who asked/);
  assert.equal((await get(id, developer)).canCollect, true);
  assert.equal((await get(id)).canCollect, false);
  const again = { 'idempotency-key': 'collect-1' };
  const shown = await collect(developer, again);
  assert.equal(shown.status, 200, shown.text);
  assert.equal(shown.json.id, approved.json.result.id);
  assert.deepEqual((await collect(developer, again)).json, shown.json);
  assertError(await collect(), 'conflict', /collected/);
  assert.equal((await get(id, developer)).canCollect, false);
  // It works, and is behind its maker.
  assert.equal((await service.call('GET', `${api}/files`, { key: shown.json.key })).status, 403);
  const [{ made_by }] = await fixture.query('select made_by from api_keys where id = $1', [shown.json.id]);
  assert.equal(made_by, developer.id);
  for (const table of ['audit_entries', 'events', 'approvals']) {
    const found = await fixture.query(`select 1 from ${table} t where strpos(t::text, $1) > 0`, [
      shown.json.key,
    ]);
    assert.deepEqual(found, [], table);
  }
});

test('a request can be refused with a reason, withdrawn by who asked, and is told of both times', async () => {
  const { developer, owner, admin } = fixture;
  const file = await fixture.newFile();
  const ask = () => developer.visitor.call('DELETE', `${api}/files/${file}/content`);
  const id = asked(await ask());
  assert.equal(asked(await ask()), id, 'asking again is the same request');
  assertError(await fixture.decide(owner, id, 'refuse'), 'invalid_request', /reason is required/);
  assertError(await fixture.decide(owner, id, 'refuse', { reason: ' ' }), 'invalid_request');
  assertError(await fixture.decide(owner, id, 'withdraw'), 'forbidden', /Refuse it instead/);
  const refused = await fixture.decide(owner, id, 'refuse', { reason: 'Needed for the audit' });
  assert.equal(refused.status, 200, refused.text);
  assert.equal(refused.json.reason, 'Needed for the audit');
  for (const how of ['approve', 'refuse', 'withdraw'] as const)
    assertError(await fixture.decide(admin, id, how, { reason: 'x' }), 'conflict', /was refused before/);

  const second = asked(await ask());
  assert.notEqual(second, id);
  assert.equal((await fixture.decide(developer, second, 'withdraw')).json.status, 'withdrawn');
  assertError(await fixture.decide(owner, second), 'conflict', /was withdrawn/);
  assert.equal((await developer.visitor.call('GET', `${api}/files/${file}`)).json.erased, false);

  const told = await waitUntil(async () => {
    const { json } = await owner.visitor.call('GET', `${api}/events?limit=1000`);
    const ofThese = json.filter(
      ({ type, data }: { type: string; data: { approval_id: string } }) =>
        type !== 'approval.waiting' && [id, second].includes(data.approval_id),
    );
    return ofThese.length === 4 ? ofThese : null;
  });
  assert.deepEqual(
    told.map(({ type, data }: Record<string, { decision?: string }>) => data?.decision ?? type),
    ['approval.requested', 'refused', 'approval.requested', 'withdrawn'],
  );
});

test('lists have pages and a filter by status, and viewers may look', async () => {
  const viewer = await fixture.member('viewer');
  const list = (query: string) => viewer.visitor.call('GET', `${api}/approvals?${query}`);
  await fixture.require(true);
  const asking: string[] = [];
  for (let n = 0; n < 4; n += 1) asking.push(asked(await makeKey(fixture.developer.visitor)));
  const all = (await list('')).json;
  assert.deepEqual(
    all.slice(0, 4).map(({ id }: { id: string }) => id),
    asking.toReversed(),
  );
  const pages: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Answer = await list(`limit=3${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    pages.push(...page.json.map(({ id }: { id: string }) => id));
    cursor = page.headers.get('x-next-cursor');
  }
  assert.deepEqual(
    pages,
    all.map(({ id }: { id: string }) => id),
  );
  for (const status of ['open', 'approved', 'refused', 'withdrawn', 'expired']) {
    const { json } = await list(`status=${status}`);
    assert.deepEqual(
      json,
      all.filter((one: { status: string }) => one.status === status),
    );
    if (status === 'open') assert.ok(json.length >= asking.length);
  }
  assertError(await list('status=lost'), 'invalid_request');
  assert.ok(all.every(({ canDecide }: { canDecide: boolean }) => !canDecide));
});

test('an Idempotency-Key works on the request and on the approval', async () => {
  const { developer, owner, otherVaultAddress } = fixture;
  const file = await fixture.newFile();
  const headers = { 'idempotency-key': 'once' };
  const body = { destinationVaultAddress: otherVaultAddress };
  const ask = () => developer.visitor.call('POST', `${api}/files/${file}/transfer`, { body, headers });
  const id = asked(await ask());
  assert.equal(asked(await ask()), id);
  const approve = () => owner.visitor.call('POST', `${api}/approvals/${id}/approve`, { body: {}, headers });
  const [one, two] = [await approve(), await approve()];
  assert.equal(one.status, 200, one.text);
  assert.equal(two.headers.get('idempotency-replayed'), 'true');
  assert.equal(two.text, one.text);
  // The request was answered with the approval, and still is.
  assert.equal(asked(await ask()), id);
  assert.equal((await fixture.query('select 1 from transfers where subject_id = $1', [file])).length, 1);
});

test('turning a rule off needs the second person, too; the operator needs none', async () => {
  const { admin, owner, developer } = fixture;
  const id = asked(await fixture.setRules({ transfer: false, expiresAfterHours: 24 }));
  const readRules = async () => (await admin.visitor.call('GET', `${api}/approval-rules`)).json;
  assert.equal((await readRules()).transfer, true);
  assertError(await fixture.decide(developer, id), 'forbidden', /role admin/);
  assertError(await fixture.decide(admin, id), 'second_person_required');
  assert.equal((await get(id)).step, 'approval_rules.change');
  assert.equal((await fixture.decide(owner, id)).status, 200);
  const { transfer, eraseContent, wideKeys, expiresAfterHours } = await readRules();
  assert.deepEqual([transfer, eraseContent, wideKeys, expiresAfterHours], [false, true, true, 24]);
  // The time alone, and turning it on again, need nobody.
  assert.equal((await fixture.setRules({ transfer: true, expiresAfterHours: 72 })).status, 200);
  assertError(await fixture.setRules({ expiresAfterHours: 0 }), 'invalid_request');
});
