/** The check of passkeys: silent on sound data, and each rule is reported when a row was changed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { type RawBuilder, sql } from 'kysely';
import { softPasskey } from '../../../test/support/clients/soft-passkey.ts';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import type { Database, Db } from '../../db/database.ts';
import type { Caller } from '../../runtime/caller.ts';
import { runEach } from '../../runtime/check.ts';
import { passkeysCheck } from './passkeys.check.ts';
import { createPasskeys } from './passkeys.ts';

const origin = 'http://localhost:7000';
const address = `0x${'33'.repeat(20)}`;
const inviter: Caller = {
  workspaceId: 'ws_1',
  actor: { kind: 'api_key', id: 'test' },
  scopes: [],
  requestId: null,
};
const confirmer: Caller = {
  ...inviter,
  actor: { kind: 'user', id: 'usr_2' },
  person: {
    ...{ userId: 'usr_2', sessionId: 'ses_1', role: 'admin' },
    ...{ isFresh: true, hasSecondFactor: false, lacksSecondFactor: false },
  },
};
let database: Database;
/** Ids of a revoked passkey and of an active one. */
let revoked: string;
let active: string;

before(async () => {
  database = await openTestDatabase();
  const { db } = database;
  await sql`insert into workspaces (id, name, slug) values ('ws_1', 'a', 'a')`.execute(db);
  await sql`
    insert into vaults (workspace_id, id, name, description, address)
    values ('ws_1', 'vlt_1', '', '', ${`0x${'22'.repeat(20)}`})`.execute(db);
  await sql`
    insert into workers (workspace_id, id, name, address, key_holder, licences)
    values ('ws_1', 'wrk_1', 'Mia', ${address}, 'worker', '[]')`.execute(db);
  const passkeys = createPasskeys({
    db,
    keyring: { destroySigningKey: async () => {} },
    publicUrl: () => origin,
  });
  async function made(): Promise<string> {
    const { token } = await passkeys.invite(inviter, address);
    const { options } = await passkeys.options(token);
    const response = softPasskey({ origin }).register(options as never) as RegistrationResponseJSON;
    const { id, code } = await passkeys.register(token, response, 'test');
    await passkeys.confirm(confirmer, { address, id, code });
    return id;
  }
  revoked = await made();
  active = await made();
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
      sql`delete from worker_passkeys`,
    ),
    ['passkey_statement_misplaced', 'passkey_statement_misplaced', 'passkey_statement_misplaced'],
  );
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
