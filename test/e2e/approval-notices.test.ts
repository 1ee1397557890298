/** People are told of a step that waits for a second person, and once more when that is over. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApprovalsFixture, asked, openApprovalsFixture } from '../support/fixtures/approvals-fixture.ts';
import { api } from '../support/fixtures/people-fixture.ts';
import { waitUntil } from '../support/service/process.ts';

let fixture: ApprovalsFixture;
before(async () => {
  fixture = await openApprovalsFixture();
  await fixture.require(true);
});
after(() => fixture.close());

test('a notice is raised while a step waits, and cleared when it is decided or expires', async () => {
  const { developer, owner } = fixture;
  const notices = async (state: string) =>
    (await owner.visitor.call('GET', `${api}/notices?state=${state}`)).json.filter(
      ({ type }: { type: string }) => type === 'approval.waiting',
    );
  const ask = async () => {
    const file = await fixture.newFile();
    return asked(await developer.visitor.call('DELETE', `${api}/files/${file}/content`));
  };
  const [decided, expired] = [await ask(), await ask()];
  const raised = await waitUntil(async () => {
    const all = await notices('raised');
    return all.length === 2 ? all : null;
  });
  assert.equal(raised[0].path, '/approvals');
  assert.match(raised[0].title, /second person/);
  assert.equal((await fixture.decide(owner, decided)).status, 200);
  await fixture.query(
    `update approvals set status = 'expired', decided_at = now(), requested_at = now() - interval '1 day' where id = $1`,
    [expired],
  );
  const cleared = await waitUntil(async () => {
    const all = await notices('cleared');
    return all.length === 2 ? all : null;
  });
  assert.deepEqual(
    cleared.map(({ data }: { data: { approval_id: string } }) => data.approval_id).sort(),
    [decided, expired].sort(),
  );
});
