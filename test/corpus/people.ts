/** Puts people, workspaces, invitations, sessions and API keys into a service that is to be archived. */
import assert from 'node:assert/strict';
import { join, newVisitor, signIn, type Visitor } from '../support/clients/browser-session.ts';
import { codeOf } from '../support/clients/totp.ts';
import { waitUntil } from '../support/service/process.ts';
import type { Client, Json } from './client.ts';
import type { Person, Summary } from './summary.ts';

const api = '/api-v1/platform';

export interface MadePeople {
  people: Person[];
  /** Signed in. */
  visitors: Record<'owner' | 'admin' | 'developer' | 'viewer', Visitor>;
  keys: Summary['keys'];
  refusedKeys: Summary['refusedKeys'];
}

export async function fillPeople(client: Client, ownerLink: string): Promise<MadePeople> {
  const workspaceId = (await client.get('/platform/audit-log?limit=1'))[0].workspaceId as string;
  const ada = person('Ada Lund', 'the tide waits for nobody', { [workspaceId]: 'owner' });
  const owner = await join(client, ownerLink, accountOf(ada));

  const bo = person('Bo Dahl', 'rain falls on the harbour', { [workspaceId]: 'admin' });
  const admin = await join(client, await invite(owner, 'admin'), accountOf(bo));
  bo.totpSecret = await addSecondFactor(client, admin, bo);
  const cleo = person('Cleo Moe', 'seven gulls over the pier', { [workspaceId]: 'viewer' });
  const viewer = await join(client, await invite(admin, 'viewer'), accountOf(cleo));
  const dag = person('Dag Ness', 'no wind and a calm sea', { [workspaceId]: 'developer' });
  const developer = await join(client, await invite(admin, 'viewer', dag.email), accountOf(dag));
  await changeRole(owner, developer, 'developer');

  // One that is still open and one that was withdrawn.
  await invite(admin, 'developer', 'eva@example.com');
  await invite(admin, 'viewer', 'finn@example.com');
  const open = (await owner.call('GET', `${api}/invitations`)).json as Json[];
  const { id } = open.find(({ email }) => email === 'finn@example.com');
  assert.equal((await owner.call('DELETE', `${api}/invitations/${id}`)).status, 204);

  // A password that was wrong, and a sign-in that never came to its second step.
  const stranger = newVisitor(client);
  const wrong = { email: cleo.email, password: 'a guess that is wrong' };
  assert.equal((await stranger.call('POST', '/auth/sign-in/email', { body: wrong })).status, 401);
  const half = { email: bo.email, password: bo.password };
  assert.equal((await stranger.call('POST', '/auth/sign-in/email', { body: half })).status, 200);

  const second = await made(owner, `${api}/workspaces`, { name: 'Second workspace' });
  ada.roles[second.id] = 'owner';
  const inSecond = await made(owner, `${api}/api-keys`, { name: 'of the second' }, second.id);
  return {
    people: [ada, bo, cleo, dag],
    visitors: { owner, admin, developer, viewer },
    ...(await fillKeys(client, inSecond.key)),
  };
}

function person(name: string, password: string, roles: Person['roles']): Person {
  const email = `${name.split(' ')[0]?.toLowerCase()}@example.com`;
  return { name, email, password, totpSecret: null, roles };
}

const accountOf = ({ name, email, password }: Person) => ({ name, email, password });

async function made(by: Visitor, path: string, body: object, workspace?: string): Promise<Json> {
  const headers = workspace === undefined ? {} : { 'x-workspace-id': workspace };
  const answer = await by.call('POST', path, { body, headers });
  assert.equal(answer.status, 201, answer.text);
  return answer.json;
}

async function invite(by: Visitor, role: string, email?: string): Promise<string> {
  return (await made(by, `${api}/invitations`, { role, ...(email && { email }) })).link;
}

async function changeRole(by: Visitor, whom: Visitor, role: string): Promise<void> {
  const { json: me } = await whom.call('GET', `${api}/me`);
  const answer = await by.call('PATCH', `${api}/members/${me.id}`, { body: { role } });
  assert.equal(answer.status, 200, answer.text);
}

async function addSecondFactor(client: Client, visitor: Visitor, account: Person): Promise<string> {
  const { password } = account;
  const enabled = await visitor.call('POST', '/auth/two-factor/enable', { body: { password } });
  assert.equal(enabled.status, 200, enabled.text);
  const secret = new URL(enabled.json.totpURI).searchParams.get('secret') ?? '';
  const code = codeOf(secret, Date.now());
  const verified = await visitor.call('POST', '/auth/two-factor/verify-totp', { body: { code } });
  assert.equal(verified.status, 200, verified.text);
  // The password alone is not enough from now on.
  await signIn(newVisitor(client), account);
  return secret;
}

async function fillKeys(client: Client, second: string): Promise<Pick<Summary, 'keys' | 'refusedKeys'>> {
  const make = (body: object, headers = {}) => client.post('/platform/api-keys', body, headers);
  const reader = await make({
    name: 'reads records',
    scopes: ['records:read'],
    expiresAt: '2199-01-01T00:00:00Z',
  });
  const revoked = await make({ name: 'revoked' }, { 'idempotency-key': 'a-key-that-is-revoked' });
  await client.send('DELETE', `/platform/api-keys/${revoked.id}`);
  const soon = new Date(Date.now() + 1_500).toISOString();
  const expired = await make({ name: 'expired', expiresAt: soon });
  await waitUntil(async () => {
    const { status } = await client.call('GET', `${api}/vaults`, { key: expired.key });
    return status === 401;
  });
  return {
    keys: { all: client.key, recordsOnly: reader.key, second },
    refusedKeys: { revoked: revoked.key, expired: expired.key },
  };
}
