import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, test } from 'node:test';
import type { MasterKeys } from '../keys/master-keys.ts';
import { isSealedKeyFile, openKeyFile, sealKeyFile } from './key-file.ts';

const keys: MasterKeys = {
  current: 2,
  byVersion: new Map([
    [1, randomBytes(32)],
    [2, randomBytes(32)],
  ]),
};
const origin = 'backup.tar.key';
let sealed: string;
before(async () => {
  sealed = await sealKeyFile(keys, 'Zwölf Boxkämpfer');
});

test('the passphrase opens the keys, however its letters are composed', async () => {
  assert.deepEqual(await openKeyFile(sealed, { passphrase: 'Zwölf Boxkämpfer', origin }), keys);
  assert.deepEqual(
    await openKeyFile(sealed, { passphrase: 'Zwölf Boxkämpfer'.normalize('NFD'), origin }),
    keys,
  );
  assert.ok(isSealedKeyFile(sealed));
  assert.ok(!isSealedKeyFile('# a comment\n1:abc'));
});

test('nothing of the keys is in the file, and two of the same keys have nothing in common', async () => {
  const other = await sealKeyFile(keys, 'Zwölf Boxkämpfer');
  for (const key of keys.byVersion.values()) {
    assert.ok(!sealed.includes(key.toString('base64')) && !sealed.includes(key.toString('hex')));
  }
  const [a, b] = [JSON.parse(sealed), JSON.parse(other)];
  assert.notEqual(a.kdf.salt, b.kdf.salt);
  assert.notEqual(a.sealed, b.sealed);
});

test('another passphrase, a changed file and one that asks for too much are refused', async () => {
  const open = (text: string, passphrase = 'Zwölf Boxkämpfer') => openKeyFile(text, { passphrase, origin });
  await assert.rejects(open(sealed, 'zwölf Boxkämpfer'), /The passphrase does not open backup\.tar\.key/);
  const file = JSON.parse(sealed);
  const cheaper = { ...file, kdf: { ...file.kdf, logN: 14 } };
  await assert.rejects(open(JSON.stringify(cheaper)), /does not open/);
  const bytes = Buffer.from(file.sealed, 'base64');
  bytes[3] = (bytes[3] ?? 0) ^ 1;
  await assert.rejects(open(JSON.stringify({ ...file, sealed: bytes.toString('base64') })), /does not open/);
  for (const kdf of [{ ...file.kdf, logN: 30 }, { ...file.kdf, p: 1000 }, { name: 'md5' }]) {
    await assert.rejects(open(JSON.stringify({ ...file, kdf })), /is no key file that this version can read/);
  }
  await assert.rejects(open('{'), /is no key file/);
});
