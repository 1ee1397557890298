/** The master keys in a file of their own, encrypted under a passphrase: a backup is useless without them. */
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { type MasterKeys, masterKeyText, parseMasterKeys } from '../keys/master-keys.ts';
import { OperatorError } from '../runtime/errors.ts';

export const keyFileFormat = 'holdfast/backup-key@1';

/** scrypt with 128 MiB, as OWASP recommends; it takes some tenths of a second. */
const usual = { logN: 17, r: 8, p: 1 };
const maxMemoryBytes = 2 ** 30;
const saltBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;

const base64 = Type.String({ pattern: '^[A-Za-z0-9+/]+=*$' });
const keyFile = Type.Object({
  format: Type.Literal(keyFileFormat),
  kdf: Type.Object({
    name: Type.Literal('scrypt'),
    // Limits the cost that a file can demand: 1 GiB, and some seconds.
    logN: Type.Integer({ minimum: 14, maximum: 20 }),
    r: Type.Integer({ minimum: 1, maximum: 8 }),
    p: Type.Integer({ minimum: 1, maximum: 4 }),
    salt: base64,
  }),
  cipher: Type.Literal('aes-256-gcm'),
  nonce: base64,
  sealed: base64,
});
type KeyFile = Static<typeof keyFile>;

type DeriveKey = (
  passphrase: string,
  salt: Buffer,
  bytes: number,
  options: { N: number; r: number; p: number; maxmem: number },
) => Promise<Buffer>;
const deriveKey = promisify(scrypt) as DeriveKey;

export async function sealKeyFile(keys: MasterKeys, passphrase: string): Promise<string> {
  const kdf = { name: 'scrypt', ...usual, salt: randomBytes(saltBytes).toString('base64') } as const;
  const key = await keyOf(passphrase, kdf);
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(contextOf(kdf));
  const sealed = Buffer.concat([cipher.update(masterKeyText(keys)), cipher.final(), cipher.getAuthTag()]);
  const file: KeyFile = {
    format: keyFileFormat,
    kdf,
    cipher: 'aes-256-gcm',
    nonce: nonce.toString('base64'),
    sealed: sealed.toString('base64'),
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** Whether it is an encrypted key file, as opposed to plain keys. */
export function isSealedKeyFile(text: string): boolean {
  return text.trimStart().startsWith('{');
}

export async function openKeyFile(
  text: string,
  { passphrase, origin }: { passphrase: string; origin: string },
): Promise<MasterKeys> {
  const file = parseKeyFile(text, origin);
  const key = await keyOf(passphrase, file.kdf);
  const sealed = Buffer.from(file.sealed, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(file.nonce, 'base64'), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(contextOf(file.kdf));
  try {
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    const opened = Buffer.concat([decipher.update(sealed.subarray(0, -tagBytes)), decipher.final()]);
    return parseMasterKeys(opened.toString('utf8'), origin);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`The passphrase does not open ${origin}, or the file is damaged.`, {
      cause: error,
    });
  }
}

function parseKeyFile(text: string, origin: string): KeyFile {
  try {
    const value: unknown = JSON.parse(text);
    if (Value.Check(keyFile, value)) return value;
  } catch {}
  throw new OperatorError(
    `${origin} is not a key file that this version can read. Give one in the format ${keyFileFormat}, or a master key file.`,
  );
}

async function keyOf(passphrase: string, { logN, r, p, salt }: KeyFile['kdf']) {
  const options = { N: 2 ** logN, r, p, maxmem: maxMemoryBytes + 2 ** 20 };
  // Normalised, because keyboards and editors encode the same characters differently.
  return createSecretKey(
    await deriveKey(passphrase.normalize('NFC'), Buffer.from(salt, 'base64'), 32, options),
  );
}

function contextOf({ name, logN, r, p, salt }: KeyFile['kdf']): Buffer {
  return Buffer.from(JSON.stringify([keyFileFormat, name, logN, r, p, salt]));
}
