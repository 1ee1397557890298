/** A workspace with an owner, for tests that bring more people into it. */
import assert from 'node:assert/strict';
import { type Account, becomeOwner, join, newVisitor, type Visitor } from './browser-session.ts';
import { withClient } from './database.ts';
import { type Service, startService } from './service.ts';

export const api = '/api-v1/platform';

export interface Person {
  visitor: Visitor;
  account: Account;
  id: string;
}

export interface PeopleStage {
  service: Service;
  owner: Person;
  invite(role: string, by?: Visitor): Promise<string>;
  /** Joins with an account of their own, and signs in. */
  member(role: string): Promise<Person>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into rows of every shape
  query(text: string, values?: unknown[]): Promise<any[]>;
  close(): Promise<void>;
}

/** Behind a proxy, so that each person can come from an address of their own. */
export async function openPeopleStage(): Promise<PeopleStage> {
  const service = await startService({ env: { HOLDFAST_TRUST_PROXY: '1' } });
  const ada = { name: 'Ada', email: 'ada@example.com', password: 'the tide waits for nobody' };
  const owner = await known(await becomeOwner(service, ada), ada);
  let people = 0;

  async function invite(role: string, by = owner.visitor): Promise<string> {
    const answer = await by.call('POST', `${api}/invitations`, { body: { role } });
    assert.equal(answer.status, 201, answer.text);
    return answer.json.link;
  }

  return {
    service,
    owner,
    invite,
    async member(role) {
      people += 1;
      const account = {
        name: `Person ${people}`,
        email: `p${people}@example.com`,
        password: 'rain falls on the harbour',
      };
      const visitor = newVisitor(service, { 'x-forwarded-for': `203.0.113.${people}` });
      return known(await join(service, await invite(role), account, visitor), account);
    },
    query: (text, values = []) =>
      withClient({ connectionString: service.databaseUrl }, async (client) => {
        return (await client.query(text, values)).rows;
      }),
    close: () => service.close(),
  };
}

async function known(visitor: Visitor, account: Account): Promise<Person> {
  const { json } = await visitor.call('GET', `${api}/me`);
  return { visitor, account, id: json.id };
}

export function tokenOf(link: string): string {
  return new URL(link).hash.slice(1);
}
