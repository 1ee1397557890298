/** A workspace with an owner, for tests that bring more people into it. */
import assert from 'node:assert/strict';
import { argon2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { type Account, becomeOwner, newVisitor, signIn, type Visitor } from './browser-session.ts';
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
  /** Joins with an account of their own, whose password is checked quickly, and signs in. */
  member(role: string): Promise<Person>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into rows of every shape
  query(text: string, values?: unknown[]): Promise<any[]>;
  /**
   * The wait of an account or an address that has just used up its free tries is made longer, so that a slow machine does
   * not outlast it.
   */
  prolongWait(who: string): Promise<void>;
  close(): Promise<void>;
}

/** Behind a proxy, so that each person can come from an address of their own. */
export async function openPeopleStage(): Promise<PeopleStage> {
  const service = await startService({ env: { HOLDFAST_TRUST_PROXY: '1' } });
  const ada = { name: 'Ada', email: 'ada@example.com', password: 'the tide waits for nobody' };
  const owner = await known(await becomeOwner(service, ada), ada);
  const database = new pg.Client({ connectionString: service.databaseUrl });
  await database.connect();
  let people = 0;

  const query: PeopleStage['query'] = async (text, values = []) => (await database.query(text, values)).rows;

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
      const token = tokenOf(await invite(role));
      const accepted = await visitor.call('POST', `${api}/invitations/accept`, {
        body: { token, ...account },
      });
      assert.equal(accepted.status, 200, accepted.text);
      await query(
        `update accounts set password = $2 where user_id = (select id from users where email = $1)`,
        [account.email, quickHash(account.password)],
      );
      await signIn(visitor, account);
      return known(visitor, account);
    },
    query,
    async prolongWait(who) {
      const rows = await query(
        `update sign_in_failures set until = until + interval '1 hour'
         where who = $1 and until = last_at + interval '15 seconds' returning 1`,
        [who],
      );
      assert.equal(rows.length, 1, `${who} has to wait`);
    },
    async close() {
      await database.end();
      await service.close();
    },
  };
}

/** A hash carries the cost at which it was made; at the least, a try takes a tenth of a millisecond instead of fifty. */
function quickHash(password: string): string {
  const nonce = randomBytes(16);
  const cost = { memory: 8, passes: 1, parallelism: 1 };
  const tag = argon2Sync('argon2id', { ...cost, message: Buffer.from(password), nonce, tagLength: 32 });
  const [salt, hash] = [nonce, tag].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${salt}$${hash}`;
}

async function known(visitor: Visitor, account: Account): Promise<Person> {
  const { json } = await visitor.call('GET', `${api}/me`);
  return { visitor, account, id: json.id };
}

export function tokenOf(link: string): string {
  return new URL(link).hash.slice(1);
}
