/** The keyring: signing, sealing, and the rotation of the master key. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { recoverMessageAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { openTestDatabase } from '../../test/support/service/database.ts';
import type { Database } from '../db/database.ts';
import { violates } from '../db/faults.ts';
import { insertAll } from '../db/writes.ts';
import { OperatorError } from '../runtime/errors.ts';
import { type Keyring, openKeyring } from './keyring.ts';
import { parseMasterKeys } from './master-keys.ts';
import { rotateMasterKey } from './rotation.ts';

let database: Database;
let dir: string;
let file: string;
let keyring: Keyring;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holdfast-keys-'));
  database = await openTestDatabase();
});
after(async () => {
  await database?.close();
  await rm(dir, { recursive: true });
});

beforeEach(async () => {
  await database.pool.query('truncate master_keys, secrets');
  file = join(dir, `${randomBytes(4).toString('hex')}.key`);
  keyring = await openKeyring({ db: database.db, source: { file, generated: true } });
});
afterEach(() => keyring.close());

const owner = { workspaceId: 'ws_1', id: 'vlt_1' };

async function newKey(): Promise<string> {
  const { address, write } = await keyring.newSigningKey(owner);
  await insertAll(database.db, [write]);
  return address;
}

test('the first start creates a key file that only its owner can read', async () => {
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal(parseMasterKeys(await readFile(file, 'utf8'), 'file').current, 1);
});

test('a key signs as the address that it was made for, and never as another', async () => {
  const address = await newKey();
  const signer = await keyring.signer({ ...owner, address });
  const signature = await signer.signMessage({ message: 'hello' });
  assert.equal(await recoverMessageAddress({ message: 'hello', signature }), address);
  assert.equal(
    Object.values(signer).some((value) => typeof value === 'string' && value.length === 66),
    false,
  );
  await assert.rejects(
    keyring.signer({ ...owner, address: '0x0000000000000000000000000000000000000001' }),
    /not the key of its address/,
  );
});

test('opens many keys at once, and one that fails does not affect the others', async () => {
  const owners = Array.from({ length: 450 }, (_, place) => ({ workspaceId: 'ws_1', id: `vlt_${place}` }));
  const made = await Promise.all(owners.map((owner) => keyring.newSigningKey(owner)));
  await insertAll(
    database.db,
    made.map(({ write }) => write),
  );
  await database.pool.query("update secrets set ciphertext = wrapped_data_key where id = 'vlt_3'");
  const asked = [...owners, { workspaceId: 'ws_2', id: 'vlt_5' }];
  const { keys, faults } = await keyring.signingKeys(asked);
  assert.deepEqual([...faults.keys()], [3, 450]);
  assert.match(faults.get(450)?.message ?? '', /vlt_5 has no signing key/);
  for (const place of [0, 199, 200, 449]) {
    const privateKey = Buffer.from(keys.subarray(place * 32, place * 32 + 32)).toString('hex');
    assert.equal(privateKeyToAccount(`0x${privateKey}`).address, made[place]?.address);
  }
  for (const place of [3, 450])
    assert.ok(keys.subarray(place * 32, place * 32 + 32).every((byte) => byte === 0));
  assert.deepEqual(await keyring.signingKeys([]), { keys: new Uint8Array(0), faults: new Map() });
});

test('a sealed row does not open under another workspace, id or purpose', async () => {
  await newKey();
  for (const change of ["workspace_id = 'ws_2'", "id = 'vlt_2'", "purpose = 'other'"]) {
    const [column = '', value = ''] = change.split(' = ').map((part) => part.replaceAll("'", ''));
    const ref = {
      workspaceId: 'ws_1',
      purpose: 'signing-key',
      id: 'vlt_1',
      [column === 'workspace_id' ? 'workspaceId' : column]: value,
    };
    await database.pool.query(`update secrets set ${change} where id = 'vlt_1'`);
    await assert.rejects(keyring.open(ref), /authenticate/);
    await database.pool.query(
      "update secrets set workspace_id = 'ws_1', id = 'vlt_1', purpose = 'signing-key' where id in ('vlt_1', 'vlt_2')",
    );
  }
  assert.ok(await keyring.open({ workspaceId: 'ws_1', purpose: 'signing-key', id: 'vlt_1' }));
});

test('refuses to start with a wrong, missing or unreadable master key, and says what to do', async () => {
  const { db } = database;
  const right = await readFile(file, 'utf8');
  await writeFile(file, randomBytes(32).toString('hex'));
  await assert.rejects(
    openKeyring({ db, source: { file, generated: true } }),
    /is not the one this database was sealed with/,
  );
  await writeFile(file, 'not a key');
  await assert.rejects(openKeyring({ db, source: { file, generated: true } }), /openssl rand -hex 32/);
  await rm(file);
  await assert.rejects(openKeyring({ db, source: { file, generated: true } }), /does not have it/);
  await assert.rejects(stat(file), /ENOENT/, 'no new key is made in place of a lost one');
  await assert.rejects(openKeyring({ db, source: { file, generated: false } }), OperatorError);
  await assert.rejects(
    openKeyring({ db, source: { text: randomBytes(32).toString('base64') } }),
    OperatorError,
  );
  await writeFile(file, right);
  await (await openKeyring({ db, source: { file, generated: true } })).close();
});

test('a rotation rewraps everything while the keyring is in use, and retires the old key', async () => {
  const address = await newKey();
  await insertAll(database.db, [
    keyring.seal({ workspaceId: 'ws_1', purpose: 'note', id: 'n' }, Buffer.from('kept')),
  ]);
  const old = await readFile(file, 'utf8');
  const result = await rotateMasterKey({
    db: database.db,
    source: { file, generated: true },
    noticeMs: 0,
    onProgress() {},
  });
  assert.deepEqual([result.version, result.rewrapped], [2, 2]);

  // This keyring has not noticed the rotation: it can read; what it still seals with the old key is refused, not lost.
  assert.equal((await keyring.open({ workspaceId: 'ws_1', purpose: 'note', id: 'n' }))?.toString(), 'kept');
  const late = await openKeyring({ db: database.db, source: { file, generated: true } });
  await keyring.refresh();
  await (await keyring.signer({ ...owner, address })).signMessage({ message: 'after' });
  await late.close();

  const versions = await database.db.selectFrom('master_keys').select('version').execute();
  assert.deepEqual(versions, [{ version: 2 }]);
  assert.equal(parseMasterKeys(await readFile(file, 'utf8'), 'file').byVersion.size, 1);
  await writeFile(file, old);
  await assert.rejects(openKeyring({ db: database.db, source: { file, generated: true } }), /version 2/);
});

test('the database refuses what a node seals with a retired key', async () => {
  const write = keyring.seal({ workspaceId: 'ws_1', purpose: 'note', id: 'late' }, Buffer.from('x'));
  await rotateMasterKey({ db: database.db, source: { file, generated: true }, noticeMs: 0, onProgress() {} });
  await assert.rejects(insertAll(database.db, [write]), (error) =>
    violates(error, 'secrets_master_version_fkey'),
  );
});

test('the next rotation completes one that was interrupted', async () => {
  const address = await newKey();
  // The state after a kill: the new key is in the file and in the database, but nothing is wrapped with it yet.
  const both = `${await readFile(file, 'utf8')}\n2:${randomBytes(32).toString('base64')}\n`;
  await writeFile(file, both);
  const second = await openKeyring({ db: database.db, source: { file, generated: true } });
  await second.close();
  const result = await rotateMasterKey({
    db: database.db,
    source: { file, generated: true },
    noticeMs: 0,
    onProgress() {},
  });
  assert.equal(result.version, 2);
  await keyring.refresh();
  assert.ok(await keyring.signer({ ...owner, address }));
});

test('keys from the environment are rotated only if the operator provides the next one', async () => {
  const one = `1:${[...parseMasterKeys(await readFile(file, 'utf8'), 'file').byVersion.values()][0]?.toString('base64')}`;
  const options = { db: database.db, noticeMs: 0, onProgress() {} };
  await assert.rejects(rotateMasterKey({ ...options, source: { text: one } }), /on every node/);
  const two = `${one},2:${randomBytes(32).toString('base64')}`;
  assert.equal((await rotateMasterKey({ ...options, source: { text: two } })).version, 2);
});

test('reads master keys as hex or base64, one or several, with comments', () => {
  const key = randomBytes(32);
  assert.deepEqual(parseMasterKeys(key.toString('hex'), 'x').byVersion.get(1), key);
  assert.deepEqual(
    parseMasterKeys(`# old\n1:${key.toString('base64')}\n7:${key.toString('hex')}`, 'x').current,
    7,
  );
  for (const wrong of [
    '',
    '# nothing',
    'ab',
    `1:${key.toString('hex')},1:${key.toString('hex')}`,
    `0:${key.toString('hex')}`,
  ]) {
    assert.throws(() => parseMasterKeys(wrong, 'x'), OperatorError, wrong);
  }
});
