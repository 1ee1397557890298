/** A browser from the service's point of view: keeps cookies, and states the origin of its requests. */
import assert from 'node:assert/strict';
import type { Answer, Service } from '../service/service.ts';

/** A service that a browser can reach. */
export type Reached = Pick<Service, 'url' | 'call'>;

export interface Visitor {
  call(
    method: string,
    path: string,
    options?: { body?: unknown; headers?: Record<string, string> },
  ): Promise<Answer>;
  /** In the form of the Cookie header. */
  cookies(): string;
}

export interface Account {
  name: string;
  email: string;
  password: string;
}

/** `always`: headers for every request. */
export function newVisitor(service: Reached, always: Record<string, string> = {}): Visitor {
  const jar = new Map<string, string>();
  const cookies = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  return {
    cookies,
    async call(method, path, { body, headers = {} } = {}) {
      const answer = await service.call(method, path, {
        key: null,
        body,
        headers: { origin: service.url, ...always, ...(jar.size > 0 && { cookie: cookies() }), ...headers },
      });
      for (const cookie of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        if (value === '' || /max-age=0/i.test(cookie)) jar.delete(name);
        else jar.set(name, value);
      }
      return answer;
    },
  };
}

/** The first owner, signed in through the link that a start prints. */
export async function becomeOwner(service: Service, account: Account): Promise<Visitor> {
  const link = await service.app.makeOwnerLink();
  assert.ok(link, 'there is an owner already');
  return join(service, link, account);
}

/** Accepts an invitation with a new account, and signs in. */
export async function join(
  service: Reached,
  link: string,
  account: Account,
  visitor = newVisitor(service),
): Promise<Visitor> {
  const token = new URL(link).hash.slice(1);
  const accepted = await visitor.call('POST', '/api-v1/platform/invitations/accept', {
    body: { token, ...account },
  });
  assert.equal(accepted.status, 200, accepted.text);
  await signIn(visitor, account);
  return visitor;
}

export async function signIn(visitor: Visitor, { email, password }: Omit<Account, 'name'>): Promise<void> {
  const answer = await visitor.call('POST', '/auth/sign-in/email', { body: { email, password } });
  assert.equal(answer.status, 200, answer.text);
}
