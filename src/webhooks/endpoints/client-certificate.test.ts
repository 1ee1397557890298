/** Which client certificates an endpoint may have: those whose keys sign quickly, whatever somebody writes into a key. */
import assert from 'node:assert/strict';
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  X509Certificate,
} from 'node:crypto';
import { test } from 'node:test';
import { threadCpuMs } from '../../../test/support/service/cpu-time.ts';
import {
  basicConstraints,
  makeCertificate,
  nameOf,
} from '../../../test/support/timestamps/test-certificates.ts';
import { type TestKey, testKey } from '../../../test/support/timestamps/test-keys.ts';
import { type ClientCertificate, readCertificate } from './client-certificate.ts';

const day = 86_400_000;

function certificateOf(privateKey: KeyObject): string {
  const spki = new Uint8Array(createPublicKey(privateKey).export({ type: 'spki', format: 'der' }));
  const key: TestKey = { kind: 'p256', privateKey, spki };
  const now = performance.timeOrigin + performance.now();
  const certificate = makeCertificate({
    ...{ subject: nameOf('client'), issuer: nameOf('authority'), key, signedBy: testKey('p256'), serial: 7 },
    ...{ notBefore: now - day, notAfter: now + day, extensions: [basicConstraints(true)] },
  });
  return new X509Certificate(certificate).toString();
}

function withKey(privateKey: KeyObject): ClientCertificate {
  return {
    certificate: certificateOf(privateKey),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Numbers of these lengths, without any meaning; nothing looks at it before a signature. */
function rsaOf(bits: number, longer: { dp?: number } = {}): KeyObject {
  const number = (length: number) => {
    const bytes = randomBytes(length / 8);
    bytes[0] = (bytes[0] as number) | 0x80;
    bytes[bytes.length - 1] = (bytes.at(-1) as number) | 1;
    return bytes.toString('base64url');
  };
  const half = number(bits / 2);
  const numbers = { n: number(bits), d: number(bits), dp: number(longer.dp ?? bits / 2) };
  return createPrivateKey({
    format: 'jwk',
    key: { kty: 'RSA', e: 'AQAB', p: half, q: half, dq: half, qi: half, ...numbers },
  });
}

const kinds = /must be RSA with at most 4096 bits, P-256, P-384 or Ed25519/;

test('keys of the usual kinds are taken', async () => {
  for (const { privateKey } of [
    generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    generateKeyPairSync('ed25519'),
    generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ]) {
    assert.equal((await readCertificate(withKey(privateKey))).subject, 'CN=client');
  }
});

test('keys whose signatures take long are refused, without one being made', async () => {
  const before = threadCpuMs();
  for (const privateKey of [
    rsaOf(8192),
    rsaOf(4096, { dp: 4096 }),
    generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey,
    generateKeyPairSync('ed448').privateKey,
  ]) {
    await assert.rejects(readCertificate(withKey(privateKey)), kinds);
  }
  assert.ok(threadCpuMs() - before < 250);
});

test('so are those of an authority in the chain', async () => {
  const client = withKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
  const authority = certificateOf(rsaOf(8192));
  for (const certificate of [client.certificate + authority, `${client.certificate}text\n${authority}`]) {
    await assert.rejects(readCertificate({ ...client, certificate }), kinds);
  }
  const usual = certificateOf(testKey('p384').privateKey);
  assert.ok(await readCertificate({ ...client, certificate: client.certificate + usual }));
});

test('a key that has the right public numbers but signs wrongly is refused', async () => {
  await assert.rejects(readCertificate(withKey(rsaOf(2048))), /does not belong/);
});
