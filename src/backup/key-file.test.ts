/** The key file of a backup: what opens it, what it hides, and what is refused. */
import assert from 'node:assert/strict';
import { createCipheriv, randomBytes, scryptSync } from 'node:crypto';
import { before, test } from 'node:test';
import { type MasterKeys, masterKeyText } from '../keys/master-keys.ts';
import { isSealedKeyFile, openKeyFile, sealKeyFile } from './key-file.ts';

const keys: MasterKeys = {
  current: 2,
  byVersion: new Map([
    [1, randomBytes(32)],
    [2, randomBytes(32)],
  ]),
};
const passphrase = 'Zwölf Boxkämpfer';
const origin = 'backup.tar.key';
let sealed: string;
before(async () => {
  sealed = await sealKeyFile(keys, passphrase.normalize('NFD'));
});

/** Follows the format's specification without its code, at the lowest accepted cost: a fraction of the usual one. */
function sealCheaply(): string {
  const kdf = { name: 'scrypt', logN: 14, r: 8, p: 1, salt: randomBytes(16).toString('base64') };
  const salt = Buffer.from(kdf.salt, 'base64');
  const key = scryptSync(passphrase.normalize('NFC'), salt, 32, { N: 2 ** 14, r: 8, p: 1 });
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(JSON.stringify(['holdfast/backup-key@1', 'scrypt', 14, 8, 1, kdf.salt])));
  const bytes = Buffer.concat([cipher.update(masterKeyText(keys)), cipher.final(), cipher.getAuthTag()]);
  return JSON.stringify({
    format: 'holdfast/backup-key@1',
    kdf,
    cipher: 'aes-256-gcm',
    nonce: nonce.toString('base64'),
    sealed: bytes.toString('base64'),
  });
}

test('the passphrase opens the keys in any Unicode normalization', async () => {
  assert.deepEqual(await openKeyFile(sealed, { passphrase: passphrase.normalize('NFC'), origin }), keys);
  for (const form of ['NFC', 'NFD']) {
    const typed = { passphrase: passphrase.normalize(form), origin };
    assert.deepEqual(await openKeyFile(sealCheaply(), typed), keys, form);
  }
  assert.ok(isSealedKeyFile(sealed));
  assert.ok(!isSealedKeyFile('# a comment\n1:abc'));
});

test('the file contains no key, and two files of the same keys have nothing in common', async () => {
  const other = await sealKeyFile(keys, passphrase);
  for (const key of keys.byVersion.values()) {
    assert.ok(!sealed.includes(key.toString('base64')) && !sealed.includes(key.toString('hex')));
  }
  const [a, b] = [JSON.parse(sealed), JSON.parse(other)];
  assert.notEqual(a.kdf.salt, b.kdf.salt);
  assert.notEqual(a.sealed, b.sealed);
});

test('refuses a wrong passphrase, a changed file, and one with excessive parameters', async () => {
  const open = (text: string, typed = passphrase) => openKeyFile(text, { passphrase: typed, origin });
  const cheap = sealCheaply();
  await assert.rejects(open(cheap, 'zwölf Boxkämpfer'), /The passphrase does not open backup\.tar\.key/);
  const file = JSON.parse(sealed);
  const cheaper = { ...file, kdf: { ...file.kdf, logN: 14 } };
  await assert.rejects(open(JSON.stringify(cheaper)), /does not open/);
  const bytes = Buffer.from(JSON.parse(cheap).sealed, 'base64');
  bytes[3] = (bytes[3] ?? 0) ^ 1;
  const changed = { ...JSON.parse(cheap), sealed: bytes.toString('base64') };
  await assert.rejects(open(JSON.stringify(changed)), /does not open/);
  for (const kdf of [{ ...file.kdf, logN: 30 }, { ...file.kdf, p: 1000 }, { name: 'md5' }]) {
    await assert.rejects(
      open(JSON.stringify({ ...file, kdf })),
      /is not a key file that this version can read/,
    );
  }
  await assert.rejects(open('{'), /is not a key file/);
});
