/** The shipped roots against the files of Debian's ca-certificates, where they are present. */
import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { needs, pathOf } from '../../../test/support/programs/needs.ts';
import { keyOf } from './algorithms.ts';
import { readTrustAnchor } from './certificates.ts';
import { shippedRoots } from './shipped-roots.ts';

const files = [
  'DigiCert_Trusted_Root_G4',
  'USERTrust_RSA_Certification_Authority',
  'GlobalSign_Root_CA_-_R6',
  'SSL.com_Root_Certification_Authority_RSA',
  'Certum_Trusted_Network_CA_2',
];

needs('ca-certificates').test('each shipped root is the one of Debian, byte by byte', () => {
  assert.equal(shippedRoots.length, files.length);
  for (const [place, file] of files.entries()) {
    const pem = readFileSync(`${pathOf('ca-certificates')}/${file}.crt`, 'utf8');
    assert.deepEqual(shippedRoots[place], readTrustAnchor(pem), file);
    // And what Node.js reads in the same file.
    const certificate = new X509Certificate(pem);
    const fingerprint = createHash('sha256').update(certificate.raw).digest('hex');
    assert.equal(shippedRoots[place]?.fingerprint, `0x${fingerprint}`);
    assert.equal(certificate.fingerprint256.replaceAll(':', '').toLowerCase(), fingerprint);
    const spki = certificate.publicKey.export({ type: 'spki', format: 'der' });
    assert.deepEqual(Buffer.from(shippedRoots[place]?.spki ?? []), spki);
    assert.equal(shippedRoots[place]?.notAfter, Date.parse(certificate.validTo));
    assert.ok(certificate.ca && certificate.verify(certificate.publicKey), 'it issued itself');
  }
});

test('the shipped roots can be used as they are', async () => {
  const names = shippedRoots.map(({ name }) => name);
  assert.equal(names[0], 'C=US, O=DigiCert Inc, OU=www.digicert.com, CN=DigiCert Trusted Root G4');
  assert.equal(new Set(names).size, names.length);
  for (const { spki, notBefore, notAfter, name } of shippedRoots) {
    assert.equal(keyOf(spki), 'RSA', name);
    assert.ok(notBefore < Date.parse('2017-01-01') && notAfter > Date.parse('2034-01-01'), name);
    const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('spki', new Uint8Array(spki), algorithm, true, ['verify']);
    assert.equal(Reflect.get(key.algorithm, 'modulusLength'), 4096);
  }
});
