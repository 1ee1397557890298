/** What is claimed of a good token, the forms in which real authorities write one, and which path is taken. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  around,
  ascii,
  boolean,
  element,
  inPlace,
  integer,
  join,
  nothing,
  octets,
  oid,
  sequence,
  set,
} from '../../../test/support/timestamps/der-writer.ts';
import { judgeCase, questionFor } from '../../../test/support/timestamps/fault-case.ts';
import {
  type AuthorityOptions,
  createTestAuthority,
  judgedAt,
  stampedAt,
  type TestAuthority,
  usual,
} from '../../../test/support/timestamps/test-authority.ts';
import {
  basicConstraints,
  directoryName,
  keyUsage,
  makeCertificate,
  nameOf,
  subjectKeyId,
} from '../../../test/support/timestamps/test-certificates.ts';
import { signatureAlgorithm, testKey } from '../../../test/support/timestamps/test-keys.ts';
import {
  accuracy,
  attribute,
  essAttribute,
  type TokenOptions,
} from '../../../test/support/timestamps/test-token.ts';
import type { TimestampAnchor } from './anchor.ts';
import { readTrustAnchor } from './certificates.ts';
import { judgeTimestamp } from './judge.ts';

const day = 86_400_000;

test('everything that is claimed of a token', async () => {
  const authority = createTestAuthority();
  const token = authority.stamp({
    ...{ genTime: stampedAt + 250, accuracy: accuracy(1, 500, 1), serial: 0xff00n, policy: '1.2.3.4' },
  });
  const crls = [authority.crl('root'), authority.crl('intermediate')];
  const question = questionFor(authority, { trust: { roots: [authority.trusted], policies: ['1.2.3.4'] } });
  const { fingerprint } = authority.trusted;
  const all = {
    time: stampedAt + 250,
    accuracyMs: 1501,
    policy: '1.2.3.4',
    serial: '0x00ff00',
    signer: { name: 'CN=Test TSA' },
    validUntil: stampedAt + 10 * 365 * day,
    root: { name: 'CN=Test Root', fingerprint },
    revocation: 'checked',
  };
  const anchor = authority.anchor(token, { crls });
  assert.deepEqual(await judgeTimestamp(anchor, question), { status: 'pass', ...all });
  const { validUntil: notAfter } = all;
  assert.equal((await judgeTimestamp(anchor, { ...question, at: notAfter })).status, 'pass');
  const late = await judgeTimestamp(anchor, { ...question, at: notAfter + 1 });
  const ended = new Date(notAfter).toISOString();
  assert.deepEqual(late, {
    status: 'expired',
    reason: `The certificate of CN=Test TSA ended on ${ended}.`,
    ...all,
  });
  const { root: _, revocation: __, ...known } = all;
  assert.deepEqual(await judgeTimestamp(anchor, { ...question, trust: { roots: [], policies: [] } }), {
    status: 'untrusted',
    reason: 'No path of certificates leads from CN=Test TSA to a trusted root: CN=Test TSA CA is the last.',
    ...known,
  });
});

const rsa = { kind: 'rsa' } as const;
const explicitFalse = sequence(oid('1.2.3.4'), boolean(false), octets(nothing));

/** Forms that are not the tests' usual one. */
const accepted: [
  string,
  { token?: (authority: TestAuthority) => Partial<TokenOptions>; authority?: AuthorityOptions },
][] = [
  [
    'signed attributes in an order that is not that of DER, as DigiCert writes them',
    {
      token: () => ({
        editAttributes: ({ contentType, messageDigest, ess }) => [...ess, messageDigest, contentType],
      }),
    },
  ],
  [
    'certificates in any order, some of them twice, and the root among them',
    {
      token: ({ signer, intermediate, root }) => ({
        certificates: [root, intermediate, signer, root, signer].map(({ certificate }) => certificate),
      }),
    },
  ],
  [
    'hashes without parameters',
    { token: () => ({ digestAlgorithms: set(sequence(oid('2.16.840.1.101.3.4.2.1'))) }) },
  ],
  [
    'an algorithm that names its hash',
    { authority: rsa, token: () => ({ signatureAlgorithm: signatureAlgorithm(rsa, { hash: 'sha256' }) }) },
  ],
  [
    'RSA without parameters',
    { authority: rsa, token: () => ({ signatureAlgorithm: sequence(oid('1.2.840.113549.1.1.1')) }) },
  ],
  [
    'a signer named by the identifier of the key',
    { token: ({ signer }) => ({ signerVersion: 3, signerId: inPlace(0, subjectKeyId(signer.key)) }) },
  ],
  [
    'the authority named as in its certificate',
    { token: () => ({ authority: directoryName(nameOf('Test TSA')) }) },
  ],
  ['an ordering that is false, and written', { token: () => ({ ordering: boolean(false) }) }],
  [
    'an extension that is not critical, and says so',
    {
      authority: {
        signer: { extensions: [...Object.values(usual.signer(testKey('p256', 'signer'))), explicitFalse] },
      },
    },
  ],
  [
    'ESS that lists the path',
    {
      token: ({ signer, intermediate }) => ({
        editAttributes: ({ contentType, messageDigest }) => [
          contentType,
          messageDigest,
          essAttribute('v1', [signer.certificate, intermediate.certificate]),
          essAttribute('v2', [signer.certificate, intermediate.certificate]),
        ],
      }),
    },
  ],
  [
    'attributes that nobody knows, signed and unsigned',
    {
      token: () => ({
        editAttributes: ({ contentType, messageDigest, ess }) => [
          ...[contentType, messageDigest, ...ess],
          attribute('1.2.3', octets(ascii('x')), octets(ascii('y'))),
        ],
        unsignedAttributes: [attribute('1.2.4', octets(ascii('z')))],
      }),
    },
  ],
  [
    'a genTime with nanoseconds',
    { token: () => ({ encodedTime: element(0x18, ascii('20250615120000.000000001Z')) }) },
  ],
  [
    'certificates of the first two versions beside those of the path',
    {
      token: ({ signer, intermediate }) => ({
        certificates: [
          oldCertificate(nothing),
          oldCertificate(around(0, integer(1))),
          signer.certificate,
          intermediate.certificate,
        ],
      }),
    },
  ],
  ['a serial number of 20 bytes', { token: () => ({ serial: 2n ** 159n - 1n }) }],
  [
    'one signature by RSA under authorities by P-256',
    { authority: { signer: { key: testKey('rsa', 'signer') } } },
  ],
];

function oldCertificate(version: Uint8Array): Uint8Array {
  const key = testKey('p256', 'old');
  const name = nameOf('Old');
  return makeCertificate({
    subject: name,
    issuer: name,
    key,
    signedBy: key,
    version,
    notBefore: 0,
    notAfter: 0,
  });
}

for (const [name, { token, authority: options }] of accepted) {
  test(`passes: ${name}`, async () => {
    const authority = createTestAuthority(options);
    const anchor = authority.anchor(authority.stamp(token?.(authority)));
    const judgement = await judgeCase({ anchor, question: questionFor(authority) });
    assert.equal(judgement.status, 'pass', JSON.stringify(judgement));
  });
}

test('a token without any certificate passes with those beside it, in any order', async () => {
  const authority = createTestAuthority();
  const { signer, intermediate, root } = authority;
  const certificates = [root, intermediate, signer].map(({ certificate }) => certificate);
  for (const token of [
    authority.stamp({ certificates: [] }),
    without(authority.stamp({ certificates: [] })),
  ]) {
    const judgement = await judgeCase({
      anchor: authority.anchor(token, { certificates }),
      question: questionFor(authority),
    });
    assert.equal(judgement.status, 'pass', JSON.stringify(judgement));
  }
});

test('of several paths the shortest one that holds is taken, and of several roots the first', async () => {
  const authority = createTestAuthority();
  const { intermediate, signer, trusted } = authority;
  const newKey = testKey('p256', 'new root');
  const newName = nameOf('New Root');
  const times = { notBefore: stampedAt - day, notAfter: stampedAt + 10 * 365 * day };
  const authorityOf = { extensions: [basicConstraints(true), keyUsage('certSign', 'crlSign')] };
  const self = { subject: newName, issuer: newName, key: newKey, signedBy: newKey };
  const newRoot = readTrustAnchor(makeCertificate({ ...self, ...times, ...authorityOf }));
  const oldCross = { issuer: authority.root.name, signedBy: authority.root.key };
  // The new root, certified by the old one; and the same intermediate, certified by the new root.
  const cross = makeCertificate({ ...self, ...oldCross, ...times, ...authorityOf });
  const byNew = { subject: intermediate.name, issuer: newName, key: intermediate.key, signedBy: newKey };
  const other = makeCertificate({ ...byNew, ...times, ...authorityOf });
  const token = authority.stamp({
    certificates: [signer.certificate, other, cross, intermediate.certificate],
  });
  const taken = async (roots: (typeof trusted)[], more = token) => {
    const question = questionFor(authority, { trust: { roots, policies: [] } });
    const judgement = await judgeCase({ anchor: authority.anchor(more), question });
    return judgement.status === 'pass' ? judgement.root.name : `${judgement.status}: ${judgement.reason}`;
  };
  assert.equal(await taken([trusted]), 'CN=Test Root');
  assert.equal(await taken([newRoot]), 'CN=New Root');
  // Both are two steps away: the certificate that comes first decides, then the order of the roots.
  assert.equal(await taken([trusted, newRoot]), 'CN=New Root');
  const onlyCross = authority.stamp({ certificates: [signer.certificate, other, cross] });
  assert.equal(await taken([trusted], onlyCross), 'CN=Test Root');
  assert.equal(await taken([trusted, newRoot], onlyCross), 'CN=New Root');
  const ended = { ...newRoot, notAfter: stampedAt - 1 };
  assert.equal(await taken([ended, trusted]), 'CN=Test Root');
  assert.match(await taken([ended]), /^fail: The genTime is outside the validity of CN=New Root/);
  const broken = makeCertificate({ ...byNew, ...times, extensions: [basicConstraints(false)] });
  const both = authority.stamp({ certificates: [signer.certificate, broken, intermediate.certificate] });
  assert.equal(await taken([newRoot, trusted], both), 'CN=Test Root');
});

test('paths have at most eight certificates below the root', async () => {
  for (const [length, expected] of [
    [8, 'pass'],
    [9, 'untrusted'],
  ] as const) {
    const above = Array.from({ length: length - 1 }, (_, at) => ({
      name: nameOf(`CA ${at}`),
      key: testKey('p256', `${at}`),
    }));
    const authority = createTestAuthority({
      signer: { issuer: nameOf('CA 0'), signedBy: testKey('p256', '0') },
    });
    const certificates = above.map(({ name, key }, at) => {
      const issuer = above[at + 1] ?? authority.root;
      const times = { notBefore: stampedAt, notAfter: stampedAt + 10 * 365 * day };
      return makeCertificate({
        ...{ subject: name, key, issuer: issuer.name, signedBy: issuer.key, ...times, serial: 50 + at },
        extensions: [basicConstraints(true)],
      });
    });
    const token = authority.stamp({ certificates: [authority.signer.certificate] });
    const judgement = await judgeCase({
      anchor: authority.anchor(token, { certificates }),
      question: questionFor(authority),
    });
    assert.equal(judgement.status, expected, JSON.stringify(judgement));
  }
});

test('an anchor of another shape fails, and says where', async () => {
  const authority = createTestAuthority();
  const good = authority.anchor();
  const misshapen: [unknown, RegExp][] = [
    [null, /^The anchor is not an object\.$/],
    [{ ...good, token: 7 }, /^token is not 1 to 65536 bytes in base64\.$/],
    [{ ...good, certificates: 'x' }, /^certificates is not a list\.$/],
    [{ ...good, crls: [null] }, /^crls\[0\] is not 1 to 1048576 bytes in base64\.$/],
    [{ ...good, time: 1 }, /^time is not a field of this format\.$/],
    [{ type: 'rfc3161', token: good.token }, /^certificates is missing\.$/],
  ];
  for (const [anchor, reason] of misshapen) {
    const judgement = await judgeTimestamp(anchor as TimestampAnchor, questionFor(authority));
    assert.equal(judgement.status, 'fail');
    assert.match('reason' in judgement ? judgement.reason : '', reason);
  }
});

test('where there is no WebCrypto, nothing is claimed', async (t) => {
  const authority = createTestAuthority();
  const anchor = authority.anchor();
  t.mock.getter(globalThis, 'crypto', () => undefined as unknown as typeof crypto);
  const judgement = await judgeTimestamp(anchor, questionFor(authority));
  assert.equal(judgement.status, 'untrusted');
  assert.match('reason' in judgement ? judgement.reason : '', /no WebCrypto/);
});

test('a judgement takes less than 15 ms of CPU time', async () => {
  for (const kind of ['rsa', 'p384'] as const) {
    const authority = createTestAuthority({ kind });
    const crls = [authority.crl('root'), authority.crl('intermediate')];
    const made = { anchor: authority.anchor(undefined, { crls }), question: questionFor(authority) };
    for (let warm = 0; warm < 20; warm += 1) await judgeCase(made);
    // The cheapest of them: compilers, the collector and a busy machine only add to what the work takes.
    let cheapest = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 20; round += 1) {
      const before = process.cpuUsage();
      await judgeCase(made);
      const { user, system } = process.cpuUsage(before);
      cheapest = Math.min(cheapest, user + system);
    }
    assert.ok(cheapest > 0 && cheapest < 15_000, `${kind}: ${cheapest / 1_000} ms`);
  }
});

test('the time of judgement may be the genTime itself', async () => {
  const authority = createTestAuthority();
  const question = questionFor(authority, { at: stampedAt });
  assert.equal((await judgeCase({ anchor: authority.anchor(), question })).status, 'pass');
  assert.ok(judgedAt > stampedAt);
});

/** Without the empty list of certificates. */
function without(token: Uint8Array): Uint8Array {
  const at = Buffer.from(token).lastIndexOf(Buffer.from([0xa0, 0x00]));
  assert.ok(at > 0);
  const rest = join(token.subarray(0, at), token.subarray(at + 2));
  // The three lengths around it.
  for (const place of [2, 17, 21]) {
    const length = ((rest[place] ?? 0) << 8) + (rest[place + 1] ?? 0) - 2;
    rest.set([length >> 8, length & 255], place);
  }
  return rest;
}
