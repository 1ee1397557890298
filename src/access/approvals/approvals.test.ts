/** When a request ends: to the millisecond, whoever notes it first; and how long what was decided is kept. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import type { Caller } from '../../runtime/caller.ts';
import { runEach } from '../../runtime/check.ts';
import { AppError } from '../../runtime/errors.ts';
import { createWorkspace } from '../workspaces/workspaces.ts';
import { approvalsCheck } from './approvals.check.ts';
import { createApprovals } from './approvals.ts';
import { tidyApprovals } from './decisions.ts';

const hourMs = 60 * 60 * 1000;
const start = new Date('2026-03-29T00:30:00.000Z');

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let workspaceId: string;
let now = start;
before(async () => {
  database = await openTestDatabase();
  workspaceId = (await createWorkspace(database.db, { name: 'Clock' })).id;
  for (const id of ['usr_asks', 'usr_decides']) {
    await database.pool.query(
      `insert into users (id, name, email, created_at, updated_at) values ($1, $1, $1, now(), now())`,
      [id],
    );
    await database.pool.query(`insert into members (workspace_id, user_id, role) values ($1, $2, 'admin')`, [
      workspaceId,
      id,
    ]);
  }
  await database.pool.query('insert into approval_rules (workspace_id, transfer) values ($1, true)', [
    workspaceId,
  ]);
});
after(() => database.close());

const callerOf = (userId: string): Caller => ({
  workspaceId,
  actor: { kind: 'user', id: userId },
  scopes: [],
  requestId: null,
  person: {
    ...{ userId, sessionId: 'ses_1', role: 'admin' },
    ...{ isFresh: true, hasSecondFactor: true, lacksSecondFactor: false },
  },
});

/** A step that counts how often it was taken, in the database. */
function openApprovals() {
  const approvals = createApprovals({
    db: database.db,
    keyring: {
      seal: () => assert.fail('there is no secret'),
      open: () => assert.fail('there is no secret'),
    },
    findActor: async (_db, _workspaceId, { id }) => callerOf(id),
    findMaker: async () => null,
    now: () => now,
  });
  const take = approvals.define<{ what: string }, null>('file.transfer', async (db, caller, { what }) => {
    await db
      .insertInto('holds')
      .values({ workspace_id: caller.workspaceId, subject_id: what, reason: 'taken' })
      .execute();
    return { result: null, subjectId: what, effect: { what }, answer: {} };
  });
  const ask = async (what: string) => {
    const { asked } = await take(callerOf('usr_asks'), { what });
    assert.ok(asked);
    return asked;
  };
  const approve = (id: string) => approvals.approve(callerOf('usr_decides'), { id, also: () => [] });
  return { approvals, ask, approve };
}

const taken = async (what: string) =>
  (await database.pool.query('select 1 from holds where subject_id = $1', [what])).rows.length;
const isConflict = (error: unknown) => error instanceof AppError && error.code === 'conflict';

test('it can be approved up to its last millisecond, and no later', async () => {
  const { ask, approve, approvals } = openApprovals();
  now = start;
  const [early, late] = [await ask('early'), await ask('late')];
  assert.equal(early.expiresAt.getTime(), start.getTime() + 72 * hourMs);
  now = new Date(early.expiresAt.getTime() - 1);
  assert.equal((await approve(early.id)).status, 'approved');
  assert.equal(await taken('early'), 1);
  now = late.expiresAt;
  await assert.rejects(approve(late.id), isConflict);
  assert.equal(await taken('late'), 0);
  const shown = await approvals.get(workspaceId, late.id);
  assert.deepEqual([shown.status, shown.decidedAt], ['expired', late.expiresAt]);
});

test('a loop notes what has expired, once, and forgets what was decided a year ago', async () => {
  const { ask, approvals } = openApprovals();
  now = start;
  const [first, second] = [await ask('first'), await ask('second')];
  await approvals.refuse(callerOf('usr_decides'), { id: second.id, reason: 'no', also: () => [] });
  await tidyApprovals(database.db, new Date(first.expiresAt.getTime() - 1));
  assert.equal((await approvals.get(workspaceId, first.id)).status, 'open');
  await Promise.all([1, 2].map(() => tidyApprovals(database.db, first.expiresAt)));
  await tidyApprovals(database.db, first.expiresAt);
  const { rows } = await database.pool.query(
    `select action, actor_kind from audit_entries where target_id = $1 order by id`,
    [first.id],
  );
  assert.deepEqual(
    rows.map(({ action, actor_kind }) => `${action} ${actor_kind}`),
    ['approval.request user', 'approval.expire system'],
  );
  const decidedAt = (await approvals.get(workspaceId, second.id)).decidedAt ?? start;
  const isKept = async () =>
    (await database.pool.query('select 1 from approvals where id = $1', [second.id])).rows.length === 1;
  await tidyApprovals(database.db, new Date(decidedAt.getTime() + 365 * 24 * hourMs));
  assert.equal(await isKept(), true);
  await tidyApprovals(database.db, new Date(decidedAt.getTime() + 365 * 24 * hourMs + 1));
  assert.equal(await isKept(), false);
});

test('the check is silent on sound rows, and reports a decision that the log does not have', async () => {
  const { ask, approve } = openApprovals();
  now = start;
  const [approved, open] = [await ask('checked'), await ask('waiting')];
  await approve(approved.id);
  const rulesOf = async (change?: string) => {
    if (change) await database.pool.query(change);
    const reports = await runEach([approvalsCheck(database.db)], { settleMs: 0 });
    return reports.flatMap(({ findings }) => findings.map(({ rule, ids }) => `${rule} ${ids.approval}`));
  };
  assert.deepEqual(await rulesOf(), []);
  const change = (values: string, id: string) => `update approvals set ${values} where id = '${id}'`;
  assert.deepEqual(await rulesOf(change(`requested_by = 'usr_other'`, open.id)), [
    `approval_unasked ${open.id}`,
  ]);
  assert.deepEqual(await rulesOf(change(`requested_by = 'usr_asks'`, open.id)), []);
  const decision = `status = 'approved', decided_kind = 'user', decided_by = 'usr_decides', decided_at = now(), result = '{}'`;
  assert.deepEqual(await rulesOf(change(decision, open.id)), [`approval_undecided ${open.id}`]);
  await database.pool.query('delete from approvals where id = $1', [open.id]);
  const alone = `decided_by = 'usr_asks', requested_person = null`;
  assert.deepEqual(await rulesOf(change(alone, approved.id)), [
    `approval_undecided ${approved.id}`,
    `approval_alone ${approved.id}`,
  ]);
  await database.pool.query('delete from approvals where id = $1', [approved.id]);
});
