/** What somebody tries who wants a sign-off of a worker with a passkey, without the worker: each attempt is refused. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ErrorCode } from '../../src/runtime/errors.ts';
import { type SoftPasskey, softPasskey, type Wrong } from '../support/clients/soft-passkey.ts';
import { openPasskeyFixture, type PasskeyFixture } from '../support/fixtures/passkey-fixture.ts';
import { makePerson } from '../support/openapi/openapi-things.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

let service: Service;
let fixture: PasskeyFixture;
/** The worker under attack, with a passkey that counts. */
let victim: { worker: string; passkey: SoftPasskey; id: string };

before(async () => {
  service = await startService({ runLoops: false });
  fixture = await openPasskeyFixture(service);
  victim = await fixture.passkeyWorker({ counts: true });
});
after(() => service.close());

const role = 'performed';

/** An assertion that is wrong in one way, for this entry. */
async function wrongly(id: string, wrong: Wrong, passkey = victim.passkey): Promise<Answer> {
  const { json } = await fixture.request(id, victim.worker, role);
  const assertion = passkey.sign(json.passkey, wrong);
  return fixture.sign(id, victim.worker, role, { signedAt: json.signedAt, assertion });
}

interface Attack {
  name: string;
  code: ErrorCode;
  /** `id`: an entry that nobody has signed. */
  attempt(id: string): Promise<Answer>;
}

const attacks: Attack[] = [
  {
    name: 'an API key with every scope, alone',
    code: 'passkey_required',
    attempt: (id) => fixture.sign(id, victim.worker, role),
  },
  {
    name: 'a developer of the workspace who is signed in',
    code: 'not_the_signer',
    async attempt(id) {
      const developer = await makePerson(service, 'developer');
      const body = { workerAddress: victim.worker, role };
      return developer.call('POST', fixture.url(`${id}/signoffs/`), { body });
    },
  },
  {
    name: 'the cookie of the worker, stolen from a session of yesterday',
    code: 'step_up_required',
    async attempt(id) {
      const person = await makePerson(service, 'developer', 'Victim');
      const { id: userId } = (await person.call('GET', '/api-v1/platform/me')).json;
      await service.sql('update workers set user_id = $1 where address = $2', [userId, victim.worker]);
      await service.sql(
        "update sessions set confirmed_at = confirmed_at - interval '1 day' where user_id = $1",
        [userId],
      );
      const body = { workerAddress: victim.worker, role };
      return person.call('POST', fixture.url(`${id}/signoffs/`), { body });
    },
  },
  {
    name: 'the cookie of the worker, stolen minutes after they signed in',
    code: 'passkey_required',
    async attempt(id) {
      const person = await makePerson(service, 'developer', 'Fresh');
      const { id: userId } = (await person.call('GET', '/api-v1/platform/me')).json;
      await service.sql('update workers set user_id = $1 where address = $2', [userId, victim.worker]);
      const body = { workerAddress: victim.worker, role };
      return person.call('POST', fixture.url(`${id}/signoffs/`), { body });
    },
  },
  {
    name: 'an assertion that was used before, sent again',
    code: 'assertion_replayed',
    async attempt() {
      const { maintenanceId: id } = await fixture.made();
      const signed = await fixture.signed(id, victim.worker, { role, passkey: victim.passkey });
      const first = await fixture.sign(id, victim.worker, role, signed);
      assert.equal(first.status, 201, first.text);
      honest.push(id);
      counted = await count();
      return fixture.sign(id, victim.worker, role, signed);
    },
  },
  {
    name: 'an assertion for another sign-off',
    code: 'assertion_mismatch',
    async attempt(id) {
      const { maintenanceId: other } = await fixture.made();
      const signed = await fixture.signed(other, victim.worker, { role, passkey: victim.passkey });
      return fixture.sign(id, victim.worker, role, signed);
    },
  },
  {
    name: 'an assertion made on the page of another origin',
    code: 'assertion_origin',
    attempt: (id) => wrongly(id, { origin: 'https://holdfast.example.net' }),
  },
  {
    name: 'an assertion made on another port of the same host',
    code: 'assertion_origin',
    attempt: (id) => wrongly(id, { origin: 'http://localhost:1' }),
  },
  {
    name: 'an assertion for another host name',
    code: 'assertion_origin',
    attempt: (id) => wrongly(id, { rpId: 'example.net' }),
  },
  {
    name: 'an assertion made inside a page of another site',
    code: 'assertion_origin',
    attempt: (id) => wrongly(id, { crossOrigin: true }),
  },
  {
    name: 'the passkey of another worker',
    code: 'passkey_unknown',
    async attempt(id) {
      const { passkey } = await fixture.passkeyWorker();
      return wrongly(id, {}, passkey);
    },
  },
  {
    name: 'a passkey that nobody has confirmed yet',
    code: 'passkey_unconfirmed',
    async attempt(id) {
      const { passkey } = await fixture.register(await fixture.invite(victim.worker));
      return wrongly(id, {}, passkey);
    },
  },
  {
    name: 'an assertion without user verification',
    code: 'user_verification_missing',
    attempt: (id) => wrongly(id, { flags: 0x01 }),
  },
  {
    name: 'a counter that went back',
    code: 'passkey_counter',
    attempt: (id) => wrongly(id, { counter: 1 }),
  },
  {
    name: 'a counter that fell to zero',
    code: 'passkey_counter',
    attempt: (id) => wrongly(id, { counter: 0 }),
  },
  {
    name: 'a registration passed off as an assertion',
    code: 'assertion_invalid',
    attempt: (id) => wrongly(id, { type: 'webauthn.create' }),
  },
  {
    name: 'the signature of another key under the name of the passkey',
    code: 'assertion_invalid',
    async attempt(id) {
      const { json } = await fixture.request(id, victim.worker, role);
      const forged = softPasskey({ origin: fixture.origin }).sign(json.passkey, { counter: 1_000 });
      const assertion = { ...forged, credentialId: victim.passkey.credentialId };
      return fixture.sign(id, victim.worker, role, { signedAt: json.signedAt, assertion });
    },
  },
  {
    name: 'a signature by a key, as if the worker held one',
    code: 'invalid_request',
    attempt: (id) =>
      fixture.sign(id, victim.worker, role, {
        signature: `0x${'11'.repeat(64)}1b`,
        signedAt: new Date().toISOString(),
      }),
  },
  {
    name: 'the passkey, after it was revoked',
    code: 'passkey_revoked',
    async attempt(id) {
      // Signed before, handed in afterwards.
      const other = await fixture.passkeyWorker();
      const signed = await fixture.signed(id, other.worker, { role, passkey: other.passkey });
      assert.equal((await fixture.revoke(other.worker, other.id)).json.state, 'revoked');
      return fixture.sign(id, other.worker, role, signed);
    },
  },
];

/** Entries that the worker signed, for an attack to begin with. */
const honest: string[] = [];
let counted: number;
async function count(): Promise<number> {
  return (await service.sql('select count(*)::int as count from signoffs')).rows[0].count;
}

for (const { name, code, attempt } of attacks) {
  test(`${name}: ${code}`, async () => {
    const { maintenanceId } = await fixture.made();
    counted = await count();
    const answer = await attempt(maintenanceId);
    assert.equal(answer.json.errorCode, code, answer.text);
    assert.equal(await count(), counted, 'nothing is signed');
  });
}

test('all attacks together have made no sign-off', async () => {
  const { rows } = await service.sql('select maintenance_id as id from signoffs');
  assert.deepEqual(
    rows.map(({ id }) => id),
    honest,
  );
});

test('the table in docs/security.md has these attacks, with what refuses them', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/security.md'), 'utf8');
  const [, table = ''] = /\n\| attempt .*\n\| -.*\n((?:\|.*\n)+)/.exec(text) ?? [];
  const rows = table
    .trimEnd()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  assert.deepEqual(
    rows.map(([, name, code]) => [name, code]),
    attacks.map(({ name, code }) => [name, `\`${code}\``]),
  );
});

test('after all of that, the worker signs', async () => {
  const { maintenanceId: id } = await fixture.made();
  const signed = await fixture.signed(id, victim.worker, { role, passkey: victim.passkey });
  const answer = await fixture.sign(id, victim.worker, role, signed);
  assert.equal(answer.status, 201, answer.text);
});

test('nobody registers the public key of another worker, which every verifier would hold against both', async () => {
  const worker = await fixture.newWorker({ name: 'Eve' });
  for (const credentialId of [victim.passkey.credentialId, randomBytes(16).toString('base64url')]) {
    const saved = { ...victim.passkey.save(), credentialId };
    const copy = softPasskey({ origin: fixture.origin, saved });
    const { answer } = await fixture.register(await fixture.invite(worker), copy);
    assert.equal(answer.json.errorCode, 'conflict', answer.text);
    assert.match(answer.json.message, /registered already/);
  }
});
