/** The check of passkeys: silent on sound data, and each rule is reported when a row was changed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { type RawBuilder, sql } from 'kysely';
import { privateKeyToAccount } from 'viem/accounts';
import { type SoftPasskey, softPasskey } from '../../../test/support/clients/soft-passkey.ts';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import type { Database, Db } from '../../db/database.ts';
import { canonicalJson } from '../../proof/canonical.ts';
import { recordDigest } from '../../proof/content.ts';
import type { Caller } from '../../runtime/caller.ts';
import { runEach } from '../../runtime/check.ts';
import { typedDataToSign } from '../signing/typed-data.ts';
import { passkeysCheck } from './passkeys.check.ts';
import { createPasskeys } from './passkeys.ts';
import { createRegistrations } from './registrations.ts';

const origin = 'http://localhost:7000';
/** Holds their own key. */
const account = privateKeyToAccount(`0x${'33'.repeat(32)}`);
const { address } = account;
const person = (userId: string): Caller => ({
  workspaceId: 'ws_1',
  actor: { kind: 'user', id: userId },
  scopes: [],
  requestId: null,
  person: {
    ...{ userId, sessionId: 'ses_1', role: 'admin' },
    ...{ isFresh: true, hasSecondFactor: false, lacksSecondFactor: false },
  },
});
const [inviter, confirmer] = [person('usr_1'), person('usr_2')];
const noKeys = { destroySigningKey: () => assert.fail(), signer: () => assert.fail() };
let database: Database;
/** Ids of a revoked passkey and of an active one. */
let revoked: string;
let active: string;

before(async () => {
  database = await openTestDatabase();
  const { db } = database;
  await sql`insert into workspaces (id, name, slug) values ('ws_1', 'a', 'a')`.execute(db);
  await sql`insert into users (id, name, email) values ('usr_1', 'Ida', 'ida@example.com')`.execute(db);
  await sql`
    insert into vaults (workspace_id, id, name, description, address)
    values ('ws_1', 'vlt_1', '', '', ${`0x${'22'.repeat(20)}`})`.execute(db);
  await sql`
    insert into workers (workspace_id, id, name, address, key_holder, licences)
    values ('ws_1', 'wrk_1', 'Mia', ${address}, 'worker', '[]')`.execute(db);
  const passkeys = createPasskeys({ db, publicUrl: () => origin });
  const registrations = createRegistrations({ db, keyring: noKeys, publicUrl: () => origin });
  async function made(by: SoftPasskey | null): Promise<{ id: string; passkey: SoftPasskey }> {
    const { token } = await passkeys.invite(inviter, address);
    const { options } = await passkeys.options(token);
    const passkey = softPasskey({ origin });
    const response = passkey.register(options as never) as RegistrationResponseJSON;
    const { id, code } = await passkeys.register(token, response, 'test');
    await registrations.confirm(confirmer, { address, id, code });
    const asked = await registrations.prepare({ workspaceId: 'ws_1', address, id });
    const given = by
      ? { assertion: by.sign(asked.passkey ?? assert.fail()) }
      : { signature: await account.signTypedData(typedDataToSign(asked.typedData)) };
    await registrations.sign(inviter, { address, id }, given);
    return { id, passkey };
  }
  const first = await made(null);
  revoked = first.id;
  active = (await made(first.passkey)).id;
  await passkeys.revoke(inviter, { address, id: revoked, reason: 'Lost' });
});
after(() => database?.close());

/** The rules that the check reports after a change, which is then rolled back. */
async function found(...changes: RawBuilder<unknown>[]): Promise<string[]> {
  let rules: string[] = [];
  const undo = new Error('taken back');
  await database.db
    .transaction()
    .execute(async (db: Db) => {
      for (const change of changes) await change.execute(db);
      const [report] = await runEach([passkeysCheck(db)], { settleMs: 0 });
      assert.deepEqual(report?.skipped, []);
      rules = (report?.findings ?? []).map(({ rule }) => rule);
      throw undo;
    })
    .catch((error) => {
      if (error !== undo) throw error;
    });
  return rules;
}

test('passkeys that were registered and revoked as they should be are in order', async () => {
  assert.deepEqual(await found(), []);
});

test('a changed, moved or missing statement is found', async () => {
  assert.deepEqual(
    await found(
      sql`update passkey_statements set document = replace(document, 'localhost', 'localhosu') where number = 2`,
    ),
    ['passkey_statement_changed', 'passkey_changed'],
  );
  assert.deepEqual(await found(sql`update passkey_statements set document = '{' where number = 2`), [
    'passkey_statement_changed',
    'passkey_changed',
  ]);
  assert.deepEqual(await found(sql`delete from passkey_statements where number = 2`), [
    'passkey_statement_gap',
    'passkey_unregistered',
  ]);
  assert.deepEqual(
    await found(sql`update anchor_leaves set digest = ${Buffer.alloc(32)} where version = 1`),
    ['passkey_leaf_differs'],
  );
  assert.deepEqual(
    await found(sql`update anchor_leaves set previous_leaf = ${Buffer.alloc(32)} where version = 2`),
    ['passkey_statement_unchained'],
  );
  assert.deepEqual(
    await found(
      sql`update passkey_statements set worker_id = 'wrk_2'`,
      sql`update anchor_leaves set subject_id = 'wrk_2'`,
      sql`delete from passkey_uses`,
      sql`delete from worker_passkeys`,
    ),
    ['passkey_statement_misplaced', 'passkey_statement_misplaced', 'passkey_statement_misplaced'],
  );
});

test('a statement that the worker did not sign, or that names another vault, is found, although its hash fits', async () => {
  const { rows } = await sql<{ number: number; document: string; salt: Buffer }>`
    select number, document, salt from passkey_statements order by number`.execute(database.db);
  const changed = (number: number, change: object) => {
    const { document = '{}', salt } = rows.find((row) => row.number === number) ?? assert.fail();
    const text = canonicalJson({ ...JSON.parse(document), ...change });
    const hash = Buffer.from(recordDigest(salt, JSON.parse(text)).slice(2), 'hex');
    return found(
      sql`update passkey_statements set document = ${text}, hash = ${hash} where number = ${number}`,
      sql`update anchor_leaves set digest = ${hash} where version = ${number}`,
      sql`update worker_passkeys set hash = ${hash} where number = ${number}`,
    );
  };
  assert.deepEqual(await changed(1, { workerName: 'Mia!' }), [
    'passkey_statement_invalid',
    // The second one names the hash of the first.
    'passkey_statement_invalid',
  ]);
  assert.deepEqual(await changed(2, { confirmedBy: 'usr_1' }), ['passkey_statement_invalid']);
  assert.deepEqual(await changed(3, { vault: `0x${'44'.repeat(20)}` }), ['passkey_statement_invalid']);
  assert.deepEqual(await changed(3, { format: 'holdfast/passkey-revocation@9' }), [
    'passkey_statement_invalid',
    'passkey_state',
  ]);
});

test('a passkey in use that no statement made so is found', async () => {
  const change = (set: RawBuilder<unknown>, id: string) =>
    found(sql`update worker_passkeys set ${set} where id = ${id}`);
  assert.deepEqual(await change(sql`state = 'active'`, revoked), ['passkey_state']);
  assert.deepEqual(await change(sql`state = 'revoked'`, active), ['passkey_state']);
  assert.deepEqual(await change(sql`public_key = ${Buffer.alloc(91, 1)}`, active), ['passkey_changed']);
  assert.deepEqual(await change(sql`rp_id = 'example.com'`, active), ['passkey_changed']);
  assert.deepEqual(await change(sql`number = 7`, active), ['passkey_unregistered']);
});
