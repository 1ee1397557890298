/** Reading certificates and roots: PEM, DER, several in one file, names for people, and what cannot be a root. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import {
  around,
  element,
  nothing,
  oid,
  sequence,
  set,
  utf8,
} from '../../../test/support/timestamps/der-writer.ts';
import { createTestAuthority, pem, usual } from '../../../test/support/timestamps/test-authority.ts';
import {
  basicConstraints,
  keyUsage,
  makeCertificate,
  nameOf,
} from '../../../test/support/timestamps/test-certificates.ts';
import { type KeyKind, testKey } from '../../../test/support/timestamps/test-keys.ts';
import { nameText, readTrustAnchor, readTrustAnchors } from './certificates.ts';

const { root, intermediate, signer } = createTestAuthority();

function rootWith(changes: { kind?: KeyKind; extensions?: Uint8Array[]; version?: Uint8Array }): Uint8Array {
  const { kind = 'p256', ...rest } = changes;
  const key = testKey(kind, 'lone');
  const name = nameOf('Lone Root');
  const extensions = [basicConstraints(true)];
  const times = { notBefore: Date.UTC(2020, 0), notAfter: Date.UTC(2060, 0) };
  return makeCertificate({ subject: name, issuer: name, key, signedBy: key, ...times, extensions, ...rest });
}

test('a root is read from PEM, from PEM in bytes, and from DER', () => {
  const expected = {
    ...{ subject: root.name, spki: root.key.spki, name: 'CN=Test Root' },
    fingerprint: `0x${createHash('sha256').update(root.certificate).digest('hex')}`,
    notBefore: Date.parse('2015-06-18T12:00:00Z'),
    notAfter: Date.parse('2055-06-08T12:00:00Z'),
  };
  const text = pem(root.certificate);
  for (const given of [
    text,
    text.replaceAll('\n', '\r\n'),
    new TextEncoder().encode(text),
    root.certificate,
  ]) {
    assert.deepEqual(readTrustAnchor(given), expected);
  }
  assert.equal(readTrustAnchor(`subject=CN=Test Root\n${text}\nAnd text after it.\n`).name, 'CN=Test Root');
});

test('a file may contain several roots', () => {
  const file = [root.certificate, intermediate.certificate].map(pem).join('# the next\n');
  assert.deepEqual(
    readTrustAnchors(file).map(({ name }) => name),
    ['CN=Test Root', 'CN=Test TSA CA'],
  );
  assert.throws(() => readTrustAnchor(file), /^Error: There is more than one certificate\.$/);
});

test('what cannot be a root is refused with the reason', () => {
  const refused: [string | Uint8Array, RegExp][] = [
    ['', /There is no certificate in PEM or DER/],
    [pem(root.certificate).replace('BEGIN', 'START'), /There is no certificate in PEM or DER/],
    [pem(root.certificate).replace('MII', 'M*I'), /Certificate 1 is not in base64/],
    [pem(root.certificate.subarray(0, 100)), /Certificate 1 is not valid DER/],
    [pem(root.certificate) + pem(nothing), /Certificate 2 is not/],
    [signer.certificate, /CN=Test TSA is not an authority/],
    [rootWith({ extensions: [basicConstraints(false)] }), /CN=Lone Root is not an authority/],
    [
      rootWith({ extensions: [basicConstraints(true), keyUsage('crlSign')] }),
      /CN=Lone Root is not an authority/,
    ],
    [
      rootWith({ kind: 'p521' }),
      /key of CN=Lone Root is neither RSA of 2,048 to 8,192 bits nor on P-256 or P-384/,
    ],
    [rootWith({ kind: 'rsa1024' }), /key of CN=Lone Root is neither/],
    [rootWith({ extensions: Object.values(usual.signer(testKey('p256', 'x'))) }), /is not an authority/],
    [rootWith({ version: around(0, element(2, Uint8Array.of(0))) }), /unknown version/],
    [new Uint8Array(20_000).fill(0x30), /larger than 16384 bytes/],
  ];
  for (const [given, reason] of refused) assert.throws(() => readTrustAnchor(given), reason);
});

test('a root from the time before extensions is one', () => {
  assert.equal(readTrustAnchor(rootWith({ version: nothing, extensions: [] })).name, 'CN=Lone Root');
  for (const kind of ['rsa', 'p384'] as const) assert.ok(readTrustAnchor(rootWith({ kind })));
});

test('names are told in their order, and cannot pass for others', () => {
  const part = (id: string, value: Uint8Array) => sequence(oid(id), value);
  const name = sequence(
    set(part('2.5.4.6', element(0x13, new TextEncoder().encode('AT')))),
    set(part('2.5.4.10', utf8('Example, CN=Trusted Root')), part('2.5.4.11', utf8('back\\slash'))),
    set(part('2.5.4.3', utf8('Zeit\u202estempel\n'))),
    set(part('2.5.4.3', element(0x1e, Buffer.from('00c4007a', 'hex')))),
    set(part('1.2.3.4', utf8('ü'))),
  );
  const expected =
    'C=AT, O=Example\\, CN=Trusted Root, OU=back\\\\slash, CN=Zeit\ufffdstempel\ufffd, CN=Äz, 1.2.3.4=ü';
  assert.equal(nameText(name), expected);
  assert.equal(nameText(sequence()), 'an authority without a name');
  assert.equal(nameText(sequence(sequence())), 'an authority without a name');
  assert.equal(nameText(nameOf('x'.repeat(400))).length, 301);
});
