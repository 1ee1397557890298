/** Puts other ways to sign in than a password into a service that is to be archived, and who wants mail. */
import assert from 'node:assert/strict';
import type { Reached } from '../support/clients/browser-session.ts';
import { newVisitor, type Visitor } from '../support/clients/browser-session.ts';
import type { IdentityProvider } from '../support/clients/identity-provider.ts';
import { registerPasskey, usePasskey } from '../support/clients/person-passkey.ts';
import type { MadePeople } from './people.ts';

const api = '/api-v1/platform';

/** Adds to the people what they sign in with, and what they are asked. */
export async function fillSignIn(
  service: Reached,
  { people, visitors }: Pick<MadePeople, 'people' | 'visitors'>,
  provider: IdentityProvider,
): Promise<void> {
  const [ada, bo, cleo] = people;
  assert.ok(ada && bo && cleo);
  const { answer, passkey } = await registerPasskey(service, visitors.viewer);
  assert.equal(answer.status, 201, answer.text);
  cleo.passkey = passkey.save();
  const unwanted = await visitors.admin.call('PUT', `${api}/notices/mail`, { body: { wanted: false } });
  assert.equal(unwanted.status, 200, unwanted.text);
  await enterThroughProvider(service, provider);
  const read = (path: string) => ({ path: `${api}/${path}`, expected: null });
  ada.reads = ['members', 'sign-in-rules', 'approval-rules'].map(read);
  cleo.reads = ['passkeys', 'me'].map(read);
}

/** Somebody whom the service did not know before. */
async function enterThroughProvider(service: Reached, provider: IdentityProvider): Promise<void> {
  provider.serve(service.url);
  provider.people.set('gro', { email: 'gro@corp.example', name: 'Gro Vang', groups: ['auditors'] });
  provider.present = 'gro';
  const visitor = newVisitor(service);
  const begun = await visitor.call('GET', '/auth/provider/start');
  assert.equal(begun.status, 302, begun.text);
  const { pathname, search } = new URL(await provider.walk(begun.headers.get('location') ?? ''));
  const back = await visitor.call('GET', pathname + search);
  assert.deepEqual([back.status, back.headers.get('location')], [302, '/'], back.text);
}

/** As the sign-in page does it. */
export async function enterWithPasskey(
  service: Reached,
  saved: NonNullable<MadePeople['people'][number]['passkey']>,
): Promise<Visitor> {
  const visitor = newVisitor(service);
  const entered = await usePasskey(service, visitor, saved);
  assert.equal(entered.status, 200, entered.text);
  return visitor;
}
