/** The table of accounts in docs/security.md, row by row: after each event, who gets in by what, and which invitations stay. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { resetPassword } from '../../src/access/people/reset-password.ts';
import { openDatabase } from '../../src/db/database.ts';
import { addMails } from '../../src/notices/mail.store.ts';
import { newVisitor, type Visitor } from '../support/clients/browser-session.ts';
import { registerPasskey, usePasskey } from '../support/clients/person-passkey.ts';
import type { SoftPasskey } from '../support/clients/soft-passkey.ts';
import { api, type Person, tokenOf } from '../support/fixtures/people-fixture.ts';
import {
  openSingleSignOnFixture,
  type SingleSignOnFixture,
} from '../support/fixtures/single-sign-on-fixture.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';

let fixture: SingleSignOnFixture;
before(async () => {
  fixture = await openSingleSignOnFixture({ env: { HOLDFAST_WORKSPACE_CREATION: 'everyone' } });
});
after(() => fixture?.close());

interface Account extends Person {
  /** What the provider calls the person who has the same email there. */
  subject: string;
  passkey: SoftPasskey;
  /** An open invitation as admin. */
  link: string;
}

const me = (visitor: Visitor) => visitor.call('GET', `${api}/me`);

let accounts = 0;
async function newAccount(role: string, groups: string[], isLinked: boolean): Promise<Account> {
  accounts += 1;
  const email = `account${accounts}@corp.example`;
  const person = await fixture.member(role, { email });
  const subject = fixture.newPerson(groups, { email });
  if (isLinked) assert.equal(await fixture.linkThere(person.visitor), '/settings');
  const { answer, passkey } = await registerPasskey(fixture.service, person.visitor);
  assert.equal(answer.status, 201, answer.text);
  assert.equal((await usePasskey(fixture.service, person.visitor, passkey)).status, 200);
  return { ...person, subject, passkey, link: await fixture.invite('admin', person.visitor) };
}

const states: Record<string, () => Promise<Account>> = {
  local: () => newAccount('admin', ['leads'], false),
  linked: () => newAccount('admin', ['leads'], true),
  async 'owner elsewhere'() {
    const account = await newAccount('admin', ['leads'], true);
    const made = await account.visitor.call('POST', `${api}/workspaces`, { body: { name: 'Own' } });
    assert.equal(made.status, 201, made.text);
    return account;
  },
  'owner of the first': () => newAccount('owner', ['board'], true),
};

/** With the next request of the person. */
async function asked({ subject, visitor }: Account): Promise<void> {
  await fixture.grow(subject, 51);
  await me(visitor);
}

function regroup({ subject, account: { email } }: Account, groups: string[]): void {
  fixture.provider.people.set(subject, { email, groups });
}

async function remove(account: Account): Promise<void> {
  fixture.provider.people.delete(account.subject);
  await asked(account);
}

const events: Record<string, (account: Account) => Promise<unknown>> = {
  nothing: async () => {},
  'the provider verifies the email for somebody': (account) => signInThere(account),
  'linked by its holder': ({ visitor }) => fixture.linkThere(visitor),
  async 'password reset by the operator'({ account: { email } }) {
    const connection = () => ({ connectionString: fixture.service.databaseUrl });
    const { db, close } = openDatabase({ connection, onError() {} });
    const { issuer } = fixture.provider;
    await resetPassword(db, { email, password: 'chosen by the operator', disableTwoFactor: false, issuer });
    await close();
  },
  async 'the groups give a lower role'(account) {
    regroup(account, ['engineers']);
    await asked(account);
  },
  async 'another owner gives a lower role'({ id }) {
    const body = { role: 'developer' };
    const answer = await fixture.owner.visitor.call('PATCH', `${api}/members/${id}`, { body });
    assert.equal(answer.status, 200, answer.text);
  },
  async 'in no group any more'(account) {
    regroup(account, ['chess club']);
    await asked(account);
  },
  'removed at the provider': remove,
  async 'removed at the provider, and back'(account) {
    const { subject } = account;
    const before = fixture.provider.people.get(subject);
    await remove(account);
    if (before) fixture.provider.people.set(subject, before);
    await signInThere(account);
  },
  async 'the provider is replaced by another'(account) {
    // As if it had been another one until now.
    for (const table of ['identities', 'provider_sessions']) {
      await fixture.query(`update ${table} set issuer = 'https://former.example' where subject = $1`, [
        account.subject,
      ]);
    }
    await asked(account);
  },
};

/** The page on which the browser ends up. */
async function signInThere({ subject }: Account): Promise<string> {
  fixture.provider.present = subject;
  return (await fixture.signInThere()).to;
}

/** In the words of the table; in this order, since to sign in at the provider again changes what counts. */
const columns: Record<string, (account: Account) => Promise<string>> = {
  sessions: async ({ visitor }) => ((await me(visitor)).status === 200 ? 'go on' : 'end'),
  async password({ account: { email, password } }) {
    const body = { email, password };
    const answer = await newVisitor(fixture.service).call('POST', '/auth/sign-in/email', { body });
    return answer.status === 200 ? 'signs in' : 'refused';
  },
  async passkey({ passkey }) {
    const answer = await usePasskey(fixture.service, newVisitor(fixture.service), passkey);
    return answer.status === 200 ? 'signs in' : 'refused';
  },
  'open invitations': async ({ link }) => {
    const body = { token: tokenOf(link) };
    const answer = await newVisitor(fixture.service).call('POST', `${api}/invitations/look`, { body });
    return answer.status === 200 ? 'stay' : 'withdrawn';
  },
  async provider(account) {
    // Whom the provider has removed, it does not even send back.
    const isThere = fixture.provider.people.has(account.subject);
    return isThere && (await signInThere(account)) === '/' ? 'signs in' : 'refused';
  },
};

const text = readFileSync(join(import.meta.dirname, '../../docs/security.md'), 'utf8');
const [, head = '', body = ''] = /\n(\| account +\| what happens .*)\n\| -.*\n((?:\|.*\n)+)/.exec(text) ?? [];
const cellsOf = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
const [, , ...names] = cellsOf(head);
const rows = body.trimEnd().split('\n').map(cellsOf);

test('the table has every state, every event and every way to get in', () => {
  assert.ok(rows.length >= 15);
  assert.deepEqual(new Set(rows.map(([state]) => state)), new Set(Object.keys(states)));
  assert.deepEqual(new Set(rows.map(([, event]) => event)), new Set(Object.keys(events)));
  assert.deepEqual(names.toSorted(), Object.keys(columns).toSorted());
});

for (const [state = '', event = '', ...expected] of rows) {
  test(`${state}: ${event}`, async () => {
    const account = await states[state]?.();
    assert.ok(account);
    // A link, or coming back, begins another session in the same browser: what counts is what became of this one.
    const cookie = account.visitor.cookies();
    const visitor: Visitor = {
      cookies: () => cookie,
      call: (method, path) => fixture.service.call(method, path, { key: null, headers: { cookie } }),
    };
    await events[event]?.(account);
    const found: Record<string, string> = {};
    for (const [name, find] of Object.entries(columns)) found[name] = await find({ ...account, visitor });
    assert.deepEqual(found, Object.fromEntries(names.map((name, place) => [name, expected[place]])));
  });
}

test('nobody whom the provider removed gets mail about the workspace any more', async () => {
  const [stays, leaves] = [fixture.newPerson(['leads']), fixture.newPerson(['leads'])];
  fixture.provider.present = stays;
  await fixture.signInThere();
  fixture.provider.present = leaves;
  const { visitor } = await fixture.signInThere();
  fixture.provider.people.delete(leaves);
  await fixture.grow(leaves, 51);
  assertError(await me(visitor), 'unauthorized');
  const [{ id: workspaceId }] = await fixture.query(`select id from workspaces where slug = 'default'`);
  await fixture.query(
    `insert into notices (workspace_id, id, type, thing, subject, data, since, raised_at)
     values ($1, 'ntc_1', 'api_key.expiring', 'key_1', '', '{}', now(), now())`,
    [workspaceId],
  );
  const connection = () => ({ connectionString: fixture.service.databaseUrl });
  const { db, close } = openDatabase({ connection, onError() {} });
  const notice = { workspaceId, id: 'ntc_1', type: 'api_key.expiring' };
  await addMails(db, { raised: [notice as never], cleared: [] });
  await close();
  const mailed = await fixture.query(
    `select i.subject from notice_mails m join identities i on i.user_id = m.user_id
     where m.notice_id = 'ntc_1' and i.subject in ($1, $2)`,
    [stays, leaves],
  );
  assert.deepEqual(mailed, [{ subject: stays }]);
});
